import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { AccountStatus, deriveStatus, type StatusFacts } from "../../src/domain/accounts/ProtectionStatus.ts"
import * as LicenceStops from "../../src/jobs/organization/LicenceStops.ts"
import { expireTakeoverLocks } from "../../src/jobs/protection/expire_takeover_locks.ts"
import { noticeSilence } from "../../src/jobs/protection/notice_silence.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { Engine } from "../../src/protection/PollLoop.ts"
import * as Logins from "../support/logins/logins.ts"
import { postgres } from "../support/postgres/database.ts"
import { established, fresh, makeWatched, start } from "../support/protection/watched.ts"
import { advance, forgetOthers } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"
import { type Cast, end, hour, kinds, stories } from "./stories.ts"

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
          const jobs = Effect.all([
            LicenceStops.applyLicences,
            noticeSilence.run,
            expireTakeoverLocks.run,
            closeUnwatched
          ])
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
            journaled: journals.flat().flatMap(({ account_id, action, actor_type, outcome }) =>
              account_id === cast.account && outcome === "done" && actor_type !== "admin" ? [action] : []
            )
          }))
          assert.deepStrictEqual(found, stories.map(({ name, seen, journaled }) => ({ name, seen, journaled })))
          assert.isAbove(changes, 20)
        }),
      120_000
    )
  })
})
