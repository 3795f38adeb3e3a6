import { assert, describe, it, layer } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { TestClock } from "effect/testing"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import {
  AccountStatus,
  deriveStatus,
  endedByTime,
  reachedByTime,
  statusAt,
  type StatusFacts,
  type StatusPeriod,
  statusPeriods
} from "../../src/domain/accounts/ProtectionStatus.ts"
import { type Caller, OrganizationId } from "../../src/domain/people/Access.ts"
import * as AccountStatuses from "../../src/layers/sql/accounts/AccountStatuses.ts"
import * as Provisioning from "../../src/layers/sql/Provisioning.ts"
import { Accounts } from "../../src/ports/accounts/Accounts.ts"
import { drawn, drawnOn } from "../support/drawn.ts"
import * as Fixtures from "../support/fixtures.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import { between, pickOf } from "../support/random.ts"
import { at, day, hour, now } from "../support/stored.ts"
import * as World from "../support/world.ts"

/** Moments around those at which a status changes: some to the millisecond, others anywhere within four days. */
const Offset = Arbitrary.flatMap(
  pickOf(0, 0, 1),
  (anywhere) =>
    anywhere === 1
      ? between(-4 * day, 4 * day)
      : Arbitrary.map(
        Arbitrary.all([pickOf(-2 * day, -day, -hour, 0, hour, day, 2 * day), pickOf(-1, 0, 0, 1)]),
        ([about, off]) => about + off
      )
)

const Moment = Arbitrary.map(Offset, at)

/** Null three times of four: a rule that comes first would hide the later ones. */
const Rare: Arbitrary.Arbitrary<Date | null> = Arbitrary.flatMap(
  pickOf(0, 0, 0, 1),
  (set) => set === 1 ? Moment : Arbitrary.Constant(null)
)

const Usual: Arbitrary.Arbitrary<Date | null> = Arbitrary.flatMap(
  pickOf(0, 1, 1, 1),
  (set) => set === 1 ? Moment : Arbitrary.Constant(null)
)

const Session = Arbitrary.all({
  service: pickOf(false, false, true),
  baseline: pickOf(false, true),
  approved_at: Rare,
  review_deadline: Usual,
  queued_at: Rare
})

const Independent = Arbitrary.all({
  offboarded_at: Arbitrary.flatMap(pickOf(0, 0, 1), (rare) => rare === 1 ? Rare : Arbitrary.Constant(null)),
  paused_at: Arbitrary.flatMap(pickOf(0, 0, 1), (rare) => rare === 1 ? Rare : Arbitrary.Constant(null)),
  stopped_at: Rare,
  resumed_at: Rare,
  monitoring_state: pickOf<StatusFacts["monitoring_state"]>("active", "active", "active", "stopped", "unknown"),
  takeover_stopped_at: Rare,
  connected_at: Usual,
  enforcement_active_at: Usual,
  sessions: Arbitrary.array(Session, { maxLength: 2 })
})

/** Often the resume is of the very moment of the takeover or the connection, or a millisecond beside it. */
const Drawn = Arbitrary.map(
  Arbitrary.all([
    Independent,
    pickOf<"takeover_stopped_at" | "connected_at" | null>(
      null,
      "takeover_stopped_at",
      "connected_at"
    ),
    pickOf(-1, 0, 0, 1)
  ]),
  ([drawn, field, off]) => {
    const moment = field === null ? null : drawn[field]
    return moment === null ? drawn : { ...drawn, resumed_at: new Date(moment.getTime() + off) }
  }
)

type Drawn = typeof Drawn extends Arbitrary.Arbitrary<infer A> ? A : never

/** The facts that the status of what was drawn is derived from. */
const factsOf = ({ sessions, ...facts }: Drawn): StatusFacts => ({
  ...facts,
  review_pending: sessions.some(({ approved_at, review_deadline, service }) =>
    !service && approved_at === null && review_deadline !== null
  )
})

const caller = (organizationId: OrganizationId): Caller["Service"] => ({
  organizationId,
  organizationClosed: false,
  adminId: "00000000-0000-4000-8000-000000000000",
  adminName: null,
  role: "owner",
  readsArchive: true,
  scopes: [],
  limit: null,
  credential: { kind: "api_key", id: "", label: "" },
  via: "embedded",
  ip: null,
  requestId: null
})

/** What pausing and resuming make of the facts. */
const changes = {
  pause: (facts: StatusFacts, now: Date): StatusFacts => ({
    ...facts,
    paused_at: now,
    monitoring_state: "stopped",
    review_pending: false
  }),
  resume: (facts: StatusFacts, now: Date): StatusFacts => ({
    ...facts,
    paused_at: null,
    resumed_at: now,
    stopped_at: null,
    monitoring_state: "active"
  })
}

/** Makes accounts with what was drawn, and answers their facts by their ids. */
const make = Effect.fnUntraced(function*(organizationId: OrganizationId, drawn: ReadonlyArray<Drawn>) {
  yield* Provisioning.organization({ id: organizationId, name: "Organization" })
  const facts = new Map<string, StatusFacts>()
  for (const one of drawn) {
    const { sessions, ...columns } = one
    const id = yield* Provisioning.account(organizationId, { phone: "+1", facts: columns })
    yield* Provisioning.rows(
      "session",
      organizationId,
      sessions.map((session, index) => ({ account_id: id, id: String(index), seen_at: now, ...session }))
    )
    facts.set(id, factsOf(one))
  }
  return facts
})

/** The list finds by each status exactly the accounts that have it at the moment. */
const found = Effect.fnUntraced(
  function*(organizationId: OrganizationId, facts: ReadonlyMap<string, StatusFacts>, moment: Date) {
    const accounts = yield* Accounts
    for (const status of AccountStatus.literals) {
      const found = yield* accounts.list(
        caller(organizationId),
        { status, departmentId: undefined, after: undefined, limit: 100 },
        moment
      )
      const expected = [...facts].flatMap(([id, one]) => deriveStatus(one, moment) === status ? [id] : [])
      assert.deepStrictEqual((found ?? []).map(({ id }) => String(id)).toSorted(), expected.toSorted())
      for (const row of found ?? []) assert.strictEqual(deriveStatus(row, moment), status)
    }
  }
)

/** What the rows keep is the status at the moment, and until when it holds. */
const kept = Effect.fnUntraced(
  function*(organizationId: OrganizationId, facts: ReadonlyMap<string, StatusFacts>, moment: Date) {
    const rows = yield* World.query<StatusPeriod & { readonly id: string }>(
      organizationId,
      (sql) => sql`select id, status, status_until as until from account where organization_id = ${organizationId}`
    )
    const expected = [...facts].map(([id, one]) => ({ id, ...statusAt(one, moment) }))
    const byId = (one: { readonly id: string }, other: { readonly id: string }) => one.id < other.id ? -1 : 1
    assert.deepStrictEqual(rows.toSorted(byId), expected.toSorted(byId))
  }
)

describe("3.1 the list's filter and the status", () => {
  forEachDatabase((name, database) => {
    layer(World.world(database))((it) => {
      it.effect.prop(
        "S3.1-07: the filter by status finds exactly the accounts whose status it is, at every moment, refreshed or not",
        {
          drawn: Arbitrary.array(Drawn, { minLength: 12, maxLength: 24 }),
          moments: Arbitrary.array(Arbitrary.all({ moment: Moment, changed: between(0, 11) }), {
            minLength: 1,
            maxLength: 3
          })
        },
        ({ drawn, moments }) =>
          Effect.gen(function*() {
            const accounts = yield* Accounts
            const organizationId = OrganizationId.make(World.freshId())
            const within = <A, E, R>(effect: Effect.Effect<A, E, R>) => Fixtures.within(organizationId, effect)
            yield* TestClock.setTime(at(-5 * day).getTime())
            const facts = yield* within(make(organizationId, drawn))
            yield* kept(organizationId, facts, at(-5 * day))
            for (const { changed, moment } of moments.toSorted((one, other) => +one.moment - +other.moment)) {
              yield* within(found(organizationId, facts, moment))
              yield* TestClock.setTime(moment.getTime() + 60_000)
              yield* AccountStatuses.refresh
              yield* kept(organizationId, facts, moment)
              const [id = "", before] = [...facts][changed] ?? []
              if (before === undefined) continue
              const change = before.paused_at === null ? "pause" : "resume"
              yield* within(Effect.gen(function*() {
                const account = yield* accounts.find(caller(organizationId), AccountId.make(id), true)
                if (account !== null) yield* accounts[change](organizationId, account, moment)
              }))
              facts.set(id, changes[change](before, moment))
              yield* kept(organizationId, facts, moment)
            }
            yield* within(found(organizationId, facts, at(5 * day)))
          }),
        drawnOn(name, 15)
      )
    })
  })

  it.effect("are compared for every status often enough", () =>
    Effect.gen(function*() {
      const drawn = yield* Arbitrary.sampleEffect(Drawn, { count: 1000, seed: 1 })
      for (const status of AccountStatus.literals) {
        assert.isAtLeast(drawn.filter((one) => deriveStatus(factsOf(one), now) === status).length, 20, status)
      }
    }))

  it.effect.prop(
    "a status holds until its end and not a millisecond longer, and only what time ends has one",
    { drawn: Drawn, moment: Moment, offsets: Arbitrary.array(Offset, { minLength: 1, maxLength: 8 }) },
    ({ drawn, moment, offsets }) =>
      Effect.sync(() => {
        const facts = factsOf(drawn)
        const periods = statusPeriods(facts, moment)
        assert.isNull(periods.at(-1)?.until)
        let from = moment.getTime()
        for (const [place, { status, until }] of periods.entries()) {
          const end = until?.getTime() ?? from + 30 * day
          assert.isAbove(end, from)
          assert.strictEqual(endedByTime.includes(status), until !== null)
          if (place > 0) assert.include(reachedByTime, status)
          const inside = offsets.map((offset) => from + (Math.abs(offset) % (end - from)))
          for (const instant of [from, end - 1, ...inside]) {
            assert.deepStrictEqual(statusAt(facts, new Date(instant)), { status, until })
          }
          from = end
        }
      }),
    drawn(2000)
  )
})
