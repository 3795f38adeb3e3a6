import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { AccountStatus, deriveStatus, type StatusFacts } from "../../src/domain/Status.ts"
import { Engine } from "../../src/engine/Engine.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/SimulatedPlatform.ts"
import * as LicenceStops from "../../src/layers/sql/LicenceStops.ts"
import * as Silence from "../../src/layers/sql/Silence.ts"
import * as TakeoverLocks from "../../src/layers/sql/TakeoverLocks.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { postgres } from "../support/database.ts"
import * as Logins from "../support/logins.ts"
import { established, fresh, makeWatched, start } from "../support/watched.ts"
import { advance, forgetOthers } from "../support/watching.ts"
import * as World from "../support/world.ts"

const hour = 3_600_000
/** The first takeover is over by then. */
const end = 49

type Watched = Effect.Success<ReturnType<typeof makeWatched>>

/** What somebody does, whatever comes of it. */
type Act = Effect.Effect<
  unknown,
  unknown,
  Effect.Services<ReturnType<typeof World.get>> | Effect.Services<ReturnType<typeof World.set>>
>

/** Who acts in a story: its account, and an admin of its organization. */
interface Cast extends Watched {
  readonly platform: SimulatedPlatform["Service"]
  readonly pause: Act
  readonly resume: Act
  /** What an admin does with the one session that waits for its review. */
  readonly review: (what: "approve" | "sign-out") => Act
  /** Nobody looks at the account for so many hours. */
  readonly leave: (hours: number) => Act
  readonly offboard: Act
  /** An admin signs in to the account, for the first time or anew. */
  readonly signIn: (how: "connect" | "relogin") => Act
  /** The service loses the key of its session. */
  readonly loseKey: Act
  /** The organization's subscription becomes this. */
  readonly licence: (state: "active" | "lapsed") => Act
  /** An operator suspends the organization, or activates it. */
  readonly stand: (status: "active" | "suspended") => Act
}

/**
 * What happens to one account, at which hours, and what that makes of its status: a row of the table of transitions.
 */
interface Story {
  readonly name: string
  /** Connected as the two days begin. */
  readonly fresh?: boolean
  /**
   * Of which organization: one that does not want accounts locked, whose licence ends, or that is suspended; another
   * one by default.
   */
  readonly of?: keyof typeof kinds
  readonly acts?: ReadonlyArray<readonly [at: number, act: (cast: Cast) => Act]>
  readonly seen: ReadonlyArray<AccountStatus>
  /** What the journal tells of it, besides what admins did. */
  readonly told: ReadonlyArray<string>
}

const kinds = { locked: {}, open: { tamper_lockdown_enabled: false }, licensed: {}, suspended: {} }

const comes = ({ stranger }: Cast) => stranger
const thief = ({ platform, userId }: Cast) =>
  platform.changeSecurity(userId, { two_fa_password: Redacted.make("the thief's") })
const revoked = ({ revoke, sessionRef }: Cast) => revoke(sessionRef)
const pauses = ({ pause }: Cast) => pause
const resumes = ({ resume }: Cast) => resume

/** A takeover ends the thief's session and the holder's. */
const ended = ["session.signed_out", "session.signed_out"]

const stories: ReadonlyArray<Story> = [
  { name: "24 hours pass", fresh: true, seen: ["recently_connected", "protected"], told: [] },
  {
    name: "a session is seen and approved",
    acts: [[1, comes], [3, ({ review }) => review("approve")]],
    seen: ["protected", "new_sign_in", "protected"],
    told: ["session.detected"]
  },
  {
    name: "a session comes to its deadline",
    acts: [[1, comes]],
    seen: ["protected", "new_sign_in", "protected"],
    told: ["session.detected", "session.autokilled"]
  },
  {
    name: "a session is signed out by an admin",
    acts: [[1, comes], [2, ({ review }) => review("sign-out")]],
    seen: ["protected", "new_sign_in", "protected"],
    told: ["session.detected"]
  },
  {
    name: "a session is signed out by an admin before the platform lets the service",
    fresh: true,
    acts: [[1, comes], [2, ({ review }) => review("sign-out")]],
    seen: ["recently_connected", "new_sign_in", "protected"],
    told: ["session.detected", "session.signed_out"]
  },
  {
    name: "a takeover is stopped, and 48 hours pass",
    acts: [[0, comes], [0.05, thief]],
    seen: ["protected", "new_sign_in", "hijack_blocked", "protected"],
    told: ["session.detected", "takeover.detected", ...ended, "takeover.stopped", "takeover.lock_expired"]
  },
  {
    name: "a takeover is detected before the platform lets the service sign anybody out",
    fresh: true,
    acts: [[1, comes], [2, thief]],
    seen: ["recently_connected", "new_sign_in", "hijack_blocked"],
    told: ["session.detected", "takeover.detected", ...ended, "takeover.stopped"]
  },
  {
    name: "a takeover is detected where nobody wants accounts locked",
    of: "open",
    acts: [[1, comes], [2, thief]],
    seen: ["protected", "new_sign_in", "protected"],
    told: ["session.detected", "takeover.detected", "session.autokilled"]
  },
  {
    name: "a takeover is stopped, and the account paused and resumed",
    acts: [[1, comes], [2, thief], [4, pauses], [5, resumes]],
    seen: ["protected", "new_sign_in", "hijack_blocked", "paused", "protected"],
    told: ["session.detected", "takeover.detected", ...ended, "takeover.stopped"]
  },
  {
    name: "polls fail, and one is good",
    acts: [[
      5,
      ({ platform, userId }) =>
        platform.script({ answer: { _tag: "Unavailable" }, operation: "authorizations", userId, times: 3 })
    ]],
    seen: ["protected", "status_unknown", "protected"],
    told: ["monitoring.lost", "monitoring.restored"]
  },
  {
    name: "nobody looks for ten minutes",
    acts: [[5, ({ leave }) => leave(3)]],
    seen: ["protected", "status_unknown", "protected"],
    told: ["monitoring.lost", "monitoring.restored"]
  },
  {
    name: "the service's key was used twice, and the account paused and resumed",
    acts: [[4, ({ platform, userId }) => platform.revokeService(userId, "key_duplicated")], [6, pauses], [8, resumes]],
    seen: ["protected", "status_unknown", "paused", "protected", "status_unknown"],
    told: ["monitoring.lost", "monitoring.lost"]
  },
  {
    name: "the service has lost its key, and an admin signs in anew",
    acts: [[4, ({ loseKey }) => loseKey], [8, ({ signIn }) => signIn("relogin")]],
    seen: ["protected", "status_unknown", "recently_connected", "protected"],
    told: ["monitoring.lost", "session.logged_out"]
  },
  {
    name: "the session is revoked where there is a second one",
    acts: [[0, ({ pair }) => pair], [4, revoked]],
    seen: ["protected"],
    told: ["monitoring.failed_over", "outside_change.detected", "paired_session.created"]
  },
  {
    name: "the session is revoked where there is none, and the account paused and resumed",
    acts: [[4, revoked], [20, pauses], [21, resumes]],
    seen: ["protected", "protection_stopped", "paused", "protected", "protection_stopped"],
    told: ["protection.stopped", "outside_change.detected", "protection.stopped"]
  },
  {
    name: "the session is revoked while a stranger is there",
    acts: [[1, comes], [4, revoked]],
    seen: ["protected", "new_sign_in", "protection_stopped"],
    told: ["session.detected", "protection.stopped", "takeover.detected"]
  },
  {
    name: "the platform deletes the account",
    fresh: true,
    acts: [[4, ({ platform, userId }) => platform.revokeService(userId, "deleted")]],
    seen: ["recently_connected", "protection_stopped"],
    told: ["protection.stopped"]
  },
  {
    name: "a pause withholds a deadline, and a resume gives a new one",
    acts: [[1, comes], [2, pauses], [20, resumes]],
    seen: ["protected", "new_sign_in", "paused", "protected", "new_sign_in", "protected"],
    told: ["session.detected", "session.autokilled"]
  },
  {
    name: "an account that was just connected is paused and resumed",
    fresh: true,
    acts: [[4, pauses], [5, resumes]],
    seen: ["recently_connected", "paused", "protected"],
    told: []
  },
  {
    name: "the account is offboarded and connected again",
    acts: [[1, ({ offboard }) => offboard], [2, ({ signIn }) => signIn("connect")]],
    seen: ["protected", "available", "recently_connected", "protected"],
    told: []
  },
  {
    name: "the session is revoked where there is none, and an admin signs in anew",
    acts: [[4, revoked], [6, ({ signIn }) => signIn("relogin")]],
    seen: ["protected", "protection_stopped", "recently_connected", "protected"],
    told: ["protection.stopped", "outside_change.detected"]
  },
  {
    name: "an admin signs in anew while the account is paused",
    acts: [[2, pauses], [4, ({ signIn }) => signIn("relogin")], [6, resumes]],
    seen: ["protected", "paused", "protected"],
    told: ["session.logged_out"]
  },
  {
    name: "a stranger is there when the licence ends, and still when it is back",
    of: "licensed",
    acts: [[1, comes], [3, ({ licence }) => licence("lapsed")], [20, ({ licence }) => licence("active")]],
    seen: ["protected", "new_sign_in", "protection_stopped", "new_sign_in", "protected"],
    told: ["session.detected", "protection.stopped", "protection.restored", "session.autokilled"]
  },
  {
    name: "a stranger is there when the organization is suspended, and still when it is active again",
    of: "suspended",
    acts: [[1, comes], [3, ({ stand }) => stand("suspended")], [20, ({ stand }) => stand("active")]],
    seen: ["protected", "new_sign_in", "protection_stopped", "new_sign_in", "protected"],
    told: ["session.detected", "protection.stopped", "protection.restored", "session.autokilled"]
  },
  {
    name: "the account is paused when the licence ends, and resumed when it is back",
    of: "licensed",
    acts: [[2, pauses], [30, resumes]],
    seen: ["protected", "paused", "protected"],
    told: ["protection.stopped", "protection.restored"]
  },
  {
    name: "the account is resumed while there is no licence",
    of: "licensed",
    acts: [[2, pauses], [5, resumes]],
    seen: ["protected", "paused", "protected", "protection_stopped", "protected"],
    told: ["protection.stopped", "protection.stopped", "protection.restored"]
  }
]

describe("12.3 two days of an organization", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect(
      "every transition is seen, and everybody tells of the same status at every moment",
      () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          yield* forgetOthers
          const platform = yield* SimulatedPlatform
          const made = {
            locked: yield* World.makeOrganization(kinds.locked),
            open: yield* World.makeOrganization(kinds.open),
            licensed: yield* World.makeOrganization(kinds.licensed),
            suspended: yield* World.makeOrganization(kinds.suspended)
          }
          const organizations = Object.values(made)
          const plays = yield* Effect.forEach(stories, (story) =>
            Effect.gen(function*() {
              const organization = made[story.of ?? "locked"]
              const { admins, id } = organization
              const watched = yield* makeWatched(organization, story.fresh === true ? fresh : established)
              const path = `/v1/accounts/${watched.account}`
              const post = (what: string) => World.post(`${path}/${what}`, admins.owner.key)
              const owner = Logins.actor(admins.owner.key)
              const cast: Cast = {
                ...watched,
                platform,
                pause: post("pause"),
                resume: post("resume"),
                review: (what) =>
                  Effect.flatMap(watched.read, ({ sessions }) => {
                    const pending = sessions.find((one: { review_deadline: string | null }) =>
                      one.review_deadline !== null
                    )
                    return post(`sessions/${pending.id}/${what}`)
                  }),
                leave: (hours) =>
                  Effect.flatMap(
                    Clock.currentTimeMillis,
                    (now) => World.set(id, "monitor", watched.account, { flood_until: new Date(now + hours * hour) })
                  ),
                offboard: post("offboard"),
                signIn: Effect.fnUntraced(function*(how) {
                  const { body } = yield* how === "connect"
                    ? owner.connect(`+${watched.phone}`)
                    : owner.relogin(watched.account)
                  const code = (yield* platform.codes).findLast(({ phone }) => phone === watched.phone)?.code
                  yield* owner.code(body.id, code === undefined ? "none" : Redacted.value(code))
                }),
                loseKey: World.query(id, (sql) =>
                  sql`
                    update service_session set session_ref = 'lost' where account_id = ${watched.account}
                    returning id`),
                stand: (status) => World.set(id, "organization", id, { status }),
                licence: (state) => World.set(id, "organization", id, { billing_state: state })
              }
              return { story, cast, organization, trace: new Array<AccountStatus>() }
            }))
          const derived = Effect.fnUntraced(function*({ id }: World.Organization, now: Date) {
            const rows = yield* World.query<StatusFacts & { readonly id: string }>(id, (sql) =>
              sql`select id, offboarded_at, paused_at, stopped_at, monitoring_state, takeover_stopped_at, resumed_at,
              connected_at, enforcement_active_at, exists (
                select 1 from session
                where session.organization_id = account.organization_id and session.account_id = account.id
                  and not service and approved_at is null and review_deadline is not null) as review_pending
              from account where organization_id = ${id}`)
            return rows.map((row) =>
              [row.id, deriveStatus(row, now)] as const
            )
          })
          const listed = ({ admins }: World.Organization, query: string) =>
            Effect.map(World.get(`/v1/accounts?limit=100${query}`, admins.owner.key), ({ body }) =>
              body.data.map((account: { id: string; status: AccountStatus }) =>
                [account.id, account.status] as const
              ))
          let changes = 0
          const look = Effect.gen(function*() {
            const now = new Date(yield* Clock.currentTimeMillis)
            const statuses = new Map((yield* Effect.forEach(organizations, (each) =>
              derived(each, now))).flat())
            let changed = false
            for (const { cast, trace } of plays) {
              const status = statuses.get(cast.account)
              if (status === undefined || trace.at(-1) === status) {
                continue
              }
              trace.push(status)
              changed = true
            }
            if (!changed) {
              return
            }
            changes += 1
            const facts = Object.fromEntries(statuses)
            const all = yield* Effect.forEach(organizations, (each) => listed(each, ""))
            assert.deepStrictEqual(Object.fromEntries(all.flat()), facts)
            const found = yield* Effect.forEach(organizations, (each) =>
              Effect.forEach(AccountStatus.literals, (status) =>
                Effect.map(listed(each, `&status=${status}`), (rows) =>
                  rows.map(([id]: readonly [string, AccountStatus]) =>
                    [id, status] as const
                  ))))
            assert.deepStrictEqual(Object.fromEntries(found.flat(2)), facts)
          })
          const { closeUnwatched } = yield* Engine
          const jobs = Effect.all([LicenceStops.applyLicences, Silence.notice, TakeoverLocks.expire, closeUnwatched])
          const seen = Effect.orDie(Effect.andThen(jobs, look))
          const moments = plays.flatMap(({ cast, story }) =>
            (story.acts ?? []).map(([at, act]) => ({ at, act: Effect.orDie(act(cast)) }))
          )
          const hours = [
            ...new Set([
              0,
              ...moments.map(({ at }) =>
                at
              ),
              end
            ])
          ].sort((one, other) =>
            one - other
          )
          for (const [place, at] of hours.entries()) {
            for (const moment of moments) if (moment.at === at) yield* moment.act
            yield* look
            yield* advance(((hours[place + 1] ?? end) - at) * hour, seen)
          }
          const journals = yield* Effect.forEach(organizations, ({ id }) => World.journal(id))
          const found = plays.map(({ cast, story, trace }) => ({
            name: story.name,
            seen: trace,
            told: journals.flat().flatMap(({ account_id, action, actor_type, outcome }) =>
              account_id === cast.account && outcome === "done" && actor_type !== "admin" ? [action] : []
            )
          }))
          assert.deepStrictEqual(found, stories.map(({ name, seen, told }) => ({ name, seen, told })))
          assert.isAbove(changes, 20)
        }),
      120_000
    )
  })
})
