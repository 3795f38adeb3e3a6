import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { forSpecification } from "../support/postgres/database.ts"
import { at, day, hour, now } from "../support/stored.ts"
import * as World from "../support/world.ts"

const arrange = Effect.fnUntraced(function*(facts: Record<string, unknown> = {}) {
  yield* TestClock.setTime(now.getTime())
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id, { facts })
  const read = Effect.map(World.get(`/v1/accounts/${account}`, admins.owner.key), ({ body }) => body)
  const addSessions = (...sessions: ReadonlyArray<object>) =>
    World.addRows("session", id, sessions.map((session) => ({ account_id: account, seen_at: at(-hour), ...session })))
  const addTerminations = (...ended: ReadonlyArray<object>) =>
    World.addRows("termination", id, ended.map((one) => ({ account_id: account, ...one })))
  return { id, account, read, addSessions, addTerminations }
})

const unknownDevice = {
  device_model: null,
  platform: null,
  app_name: null,
  app_version: null,
  ip: null,
  country: null,
  last_active_at: null,
  created_at: null
}

describe("2.4 session", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S2.4-01, S2.4-04, S2.4-06, S2.4-07: shows what is known of each, and null for what is not", () =>
        Effect.gen(function*() {
          const { addSessions, read } = yield* arrange({ enforcement_active_at: at(-day) })
          const device = {
            device_model: "Phone 12",
            platform: "iOS",
            app_name: "App",
            app_version: "1.2.3",
            ip: "203.0.113.7",
            country: "Germany",
            last_active_at: at(-hour),
            created_at: at(-3 * day)
          }
          const deadline = { review_deadline: at(hour), queued_at: at(-1) }
          yield* addSessions(
            { id: "9223372036854775807", service: true, current: true },
            { id: "-1", ...device, ...deadline },
            { id: "0", approved_at: at(-day), seen_at: at(-2 * hour) }
          )
          assert.deepStrictEqual((yield* read).sessions, [
            {
              object: "session",
              id: "9223372036854775807",
              current: true,
              service_session: true,
              ...unknownDevice,
              approved: false,
              review_deadline: null,
              sign_out_queued: false,
              can_sign_out: true
            },
            {
              object: "session",
              id: "-1",
              current: false,
              service_session: false,
              ...device,
              last_active_at: at(-hour).toISOString(),
              created_at: at(-3 * day).toISOString(),
              approved: false,
              review_deadline: at(hour).toISOString(),
              sign_out_queued: true,
              can_sign_out: true
            },
            {
              object: "session",
              id: "0",
              current: false,
              service_session: false,
              ...unknownDevice,
              approved: true,
              review_deadline: null,
              sign_out_queued: false,
              can_sign_out: true
            }
          ])
        }))

      it.effect("S2.4-03: current is the session that the service monitors through, and no account has two", () =>
        Effect.gen(function*() {
          const { account, addSessions, id, read } = yield* arrange()
          yield* addSessions(
            { id: "1", service: true },
            { id: "2", service: true, current: true },
            { id: "3" }
          )
          const current = Effect.map(
            read,
            (body) =>
              body.sessions.flatMap((session: { current: boolean; id: string }) => session.current ? [session.id] : [])
          )
          assert.deepStrictEqual(yield* current, ["2"])
          assert.strictEqual((yield* Effect.exit(addSessions({ id: "4", current: true })))._tag, "Failure")
          yield* World.query(id, (sql) => sql`update session set current = false where account_id = ${account}`)
          yield* World.query(
            id,
            (sql) => sql`update session set current = true where account_id = ${account} and id = '1'`
          )
          assert.deepStrictEqual(yield* current, ["1"])
        }))

      it.effect("S2.4-08: approved is true exactly for a session that an admin approved", () =>
        Effect.gen(function*() {
          const { addSessions, read } = yield* arrange()
          yield* addSessions(
            { id: "1", service: true, current: true },
            { id: "2", baseline: true },
            { id: "3", review_deadline: at(hour) },
            { id: "4", approved_at: at(-1) },
            { id: "5", queued_at: at(-1) }
          )
          const { sessions } = yield* read
          const ids = (field: string) =>
            sessions.flatMap((session: Record<string, unknown>) => session[field] === true ? [session["id"]] : [])
          assert.deepStrictEqual(ids("approved"), ["4"])
          assert.deepStrictEqual(ids("sign_out_queued"), ["5"])
        }))

      it.effect("S2.4-10: can_sign_out is false until 24 hours after connecting, and true from then on", () =>
        Effect.gen(function*() {
          const { addSessions, read } = yield* arrange({ connected_at: at(0), enforcement_active_at: at(day) })
          yield* addSessions({ id: "1", service: true, current: true }, { id: "2" })
          const allowed = Effect.map(
            read,
            (body) => body.sessions.map((session: { can_sign_out: boolean }) => session.can_sign_out)
          )
          assert.deepStrictEqual(yield* allowed, [false, false])
          yield* TestClock.setTime(now.getTime() + day - 1)
          assert.deepStrictEqual(yield* allowed, [false, false])
          yield* TestClock.setTime(now.getTime() + day)
          assert.deepStrictEqual(yield* allowed, [true, true])
        }))

      it.effect("shows the sessions of this account alone", () =>
        Effect.gen(function*() {
          const { addSessions, addTerminations, id, read } = yield* arrange()
          yield* addSessions({ id: "1" })
          yield* addTerminations({ session_id: "1", detected_at: at(0), actor: "unknown" })
          const other = yield* World.makeAccount(id)
          yield* addSessions({ id: "2", account_id: other })
          yield* addTerminations({ session_id: "2", account_id: other, detected_at: at(0), actor: "unknown" })
          const { sessions, terminations } = yield* read
          assert.deepStrictEqual(sessions.map((session: { id: string }) => session.id), ["1"])
          assert.deepStrictEqual(terminations.map((ended: { session_id: string }) => ended.session_id), ["1"])
        }))
    })
  })
})

describe("2.5 termination", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S2.3-31: shows the 20 latest, newest first: of 21 the oldest is missing", () =>
        Effect.gen(function*() {
          const { addTerminations, read } = yield* arrange()
          // In an order of their own, so that neither the order of rows nor their ids is the order of time.
          const minutes = Array.from({ length: 21 }, (_, index) => (index * 8) % 21)
          yield* addTerminations(
            ...minutes.map((ago) => ({
              session_id: String(ago),
              detected_at: at(-ago * 60_000),
              actor: "external"
            }))
          )
          const { terminations } = yield* read
          assert.deepStrictEqual(
            terminations.map((ended: { session_id: string }) => ended.session_id),
            Array.from({ length: 20 }, (_, index) => String(index))
          )
        }))

      it.effect("S2.5-01, S2.5-02, S2.5-03, S2.5-04: shows actor and reason, and no reason where another ended it", () =>
        Effect.gen(function*() {
          const { addTerminations, read } = yield* arrange()
          const ended = [
            ["1", "Phone 12", "service", "rejected"],
            ["2", null, "service", "autokill"],
            ["3", null, "service", "hijacked"],
            ["4", null, "external", null],
            ["5", null, "unknown", null]
          ] as const
          yield* addTerminations(
            ...ended.map(([session_id, device_label, actor, reason], index) => ({
              session_id,
              device_label,
              actor,
              reason,
              detected_at: at(-index)
            }))
          )
          assert.deepStrictEqual(
            (yield* read).terminations,
            ended.map(([session_id, device_label, actor, reason], index) => ({
              session_id,
              device_label,
              detected_at: at(-index).toISOString(),
              actor,
              reason
            }))
          )
        }))

      it.effect("S2.5-02, S2.5-03, S2.5-04: only the service has a reason, and it always has one", () =>
        Effect.gen(function*() {
          const { addTerminations } = yield* arrange()
          const stored = (actor: string, reason: string | null) =>
            Effect.map(
              Effect.exit(addTerminations({ session_id: "1", detected_at: at(0), actor, reason })),
              ({ _tag }) => _tag
            )
          for (const reason of ["rejected", "autokill", "hijacked"]) {
            assert.strictEqual(yield* stored("service", reason), "Success")
            assert.strictEqual(yield* stored("external", reason), "Failure")
            assert.strictEqual(yield* stored("unknown", reason), "Failure")
          }
          assert.strictEqual(yield* stored("service", null), "Failure")
          assert.strictEqual(yield* stored("service", "other"), "Failure")
          assert.strictEqual(yield* stored("holder", null), "Failure")
        }))
    })
  })
})
