import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AccountStatus } from "../../src/domain/accounts/ProtectionStatus.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { forSpecification } from "../support/postgres/database.ts"
import { at, day, hour, now } from "../support/stored.ts"
import * as World from "../support/world.ts"

const waiting = { id: "2", review_deadline: at(hour) }

/** What is stored of an account in each status, with a session that waits for its review where that is part of it. */
const stored: Readonly<Record<AccountStatus, readonly [facts: object, sessions?: ReadonlyArray<object>]>> = {
  protected: [{}],
  new_sign_in: [{}, [waiting]],
  recently_connected: [{ connected_at: at(-hour), enforcement_active_at: at(23 * hour) }],
  hijack_blocked: [{ takeover_stopped_at: at(-hour) }],
  status_unknown: [{ monitoring_state: "unknown" }],
  protection_stopped: [{ stopped_at: at(-hour), stop_reason: "session_lost", monitoring_state: "stopped" }],
  paused: [{ paused_at: at(-hour), monitoring_state: "stopped" }],
  available: [{ offboarded_at: at(-hour), monitoring_state: "stopped" }]
}

/** An organization with one account of a live session in every status, which the role admin can access too. */
const arrange = Effect.gen(function*() {
  yield* TestClock.setTime(now.getTime())
  const organization = yield* World.makeOrganization()
  const { admins, id } = organization
  const accounts = new Map<AccountStatus, string>()
  for (const status of AccountStatus.literals) {
    const [facts, sessions = []] = stored[status]
    const { id: account } = yield* World.makeLiveAccount(id, {}, { facts: { ...facts } })
    yield* World.grant(id, admins.admin.id, { accounts: [account] })
    yield* World.addRows(
      "session",
      id,
      sessions.map((session) => ({ account_id: account, seen_at: at(-1), ...session }))
    )
    accounts.set(status, account)
  }
  const of = (status: AccountStatus) => accounts.get(status)!
  const statusOf = (account: string) =>
    Effect.map(World.get(`/v1/accounts/${account}`, admins.owner.key), ({ body }) => body.status)
  const act = (what: "pause" | "resume", account: string, role: keyof typeof admins = "owner") =>
    World.post(`/v1/accounts/${account}/${what}`, admins[role].key)
  const row = (account: string) =>
    World.query<Record<string, unknown>>(
      id,
      (sql) =>
        sql`select account.*, (select json_agg(session order by session.id) from session where account_id = account.id)
        as sessions from account where id = ${account}`
    )
  return { ...organization, of, statusOf, act, row }
})

const active = AccountStatus.literals.filter((status) => status !== "paused" && status !== "available")
const filter = (status: string) => `/v1/accounts?status=${status}`
const ids = (answer: World.Answer): ReadonlyArray<string> => answer.body.data.map(({ id }: { id: string }) => id)

describe("3.1 account protection status", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S2.3-08, S3.1-01, S3.1-02, S3.1-05, S3.1-06: each of the eight is reached by what is stored, read and filtered", () =>
        Effect.gen(function*() {
          const { admins, of, statusOf } = yield* arrange
          for (const status of AccountStatus.literals) {
            assert.strictEqual(yield* statusOf(of(status)), status)
            const { body, status: code } = yield* World.get(filter(status), admins.owner.key)
            assert.strictEqual(code, 200)
            assert.deepStrictEqual(
              body.data.map((item: { id: string; status: string }) => [item.id, item.status]),
              [[of(status), status]]
            )
          }
        }))

      it.effect("S3.1-06: the seat of an offboarded account is free", () =>
        Effect.gen(function*() {
          const { admins } = yield* arrange
          const { seats } = (yield* World.get("/v1/organization", admins.owner.key)).body
          assert.deepStrictEqual(seats, { limit: 100, used: 7, reserved: 0, free: 93 })
        }))

      it.effect("S3.1-02: a session waits for approval while it has a deadline, is not approved and not the service's own", () =>
        Effect.gen(function*() {
          const { id, of, statusOf } = yield* arrange
          const account = of("new_sign_in")
          const changes: ReadonlyArray<readonly [Record<string, unknown>, string]> = [
            [{ approved_at: at(-1) }, "protected"],
            [{ approved_at: null, service: true }, "protected"],
            [{ service: false, review_deadline: null }, "protected"],
            [{ review_deadline: at(-hour) }, "new_sign_in"]
          ]
          for (const [columns, expected] of changes) {
            yield* World.set(id, "session", "2", columns)
            assert.strictEqual(yield* statusOf(account), expected)
          }
        }))

      it.effect("S3.1-03, S3.1-04: connecting is over at 24 hours and a takeover at 48, for reads and filters alike", () =>
        Effect.gen(function*() {
          const { admins, of, statusOf } = yield* arrange
          for (
            const [status, after] of [["recently_connected", 23 * hour], ["hijack_blocked", 47 * hour]] as const
          ) {
            const account = of(status)
            yield* TestClock.setTime(now.getTime() + after - 1)
            assert.strictEqual(yield* statusOf(account), status)
            assert.include(ids(yield* World.get(filter(status), admins.owner.key)), account)
            yield* TestClock.setTime(now.getTime() + after)
            assert.strictEqual(yield* statusOf(account), "protected")
            assert.notInclude(ids(yield* World.get(filter(status), admins.owner.key)), account)
            assert.include(ids(yield* World.get(filter("protected"), admins.owner.key)), account)
          }
        }))

      it.effect("S3.1-08, S3.1-16, S2.7-01, S2.7-02: pausing takes every active account to paused, and leaves the others", () =>
        Effect.gen(function*() {
          const { act, of, row, statusOf } = yield* arrange
          for (const status of ["paused", "available"] as const) {
            const before = yield* row(of(status))
            const { body, status: code } = yield* act("pause", of(status))
            assert.deepStrictEqual([code, body.error.code], [409, "not_active"])
            assert.deepStrictEqual(yield* row(of(status)), before)
          }
          for (const [index, status] of active.entries()) {
            const role = (["owner", "superadmin", "admin"] as const)[index % 3]
            const { body, status: code } = yield* act("pause", of(status), role)
            assert.strictEqual(code, 200)
            assert.deepStrictEqual(body, {
              object: "account_action",
              account_id: of(status),
              action: "paused",
              status: "paused"
            })
            assert.strictEqual(yield* statusOf(of(status)), "paused")
          }
        }))

      it.effect("S3.1-12, S3.1-13, S2.7-01, S2.7-02: resuming takes a paused account to protected, whatever it was before", () =>
        Effect.gen(function*() {
          const { act, admins, of, statusOf } = yield* arrange
          for (const [index, status] of active.entries()) {
            const account = of(status)
            const role = (["owner", "superadmin", "admin"] as const)[index % 3]
            yield* act("pause", account)
            const { body, status: code } = yield* act("resume", account, role)
            assert.strictEqual(code, 200)
            assert.deepStrictEqual(body, {
              object: "account_action",
              account_id: account,
              action: "resumed",
              status: "protected"
            })
            assert.strictEqual(yield* statusOf(account), "protected")
            assert.include(ids(yield* World.get(filter("protected"), admins.owner.key)), account)
          }
        }))

      it.effect("S3.1-17: resuming in any of the seven other states is refused, and the account is unchanged", () =>
        Effect.gen(function*() {
          const { act, of, row } = yield* arrange
          for (const status of AccountStatus.literals.filter((one) => one !== "paused")) {
            const before = yield* row(of(status))
            const { body, status: code } = yield* act("resume", of(status))
            assert.deepStrictEqual([code, body.error.code], [409, "not_paused"])
            assert.deepStrictEqual(yield* row(of(status)), before)
          }
        }))

      it.effect("S3.1-10, S3.1-14: neither asks anything of the messenger, and the session that was kept serves again", () =>
        Effect.gen(function*() {
          const { act, admins, id, of, row } = yield* arrange
          const platform = yield* SimulatedPlatform
          const account = of("protected")
          const kept = Effect.map(row(account), ([stored]) => stored?.["session_ref"])
          const before = yield* kept
          const calls = yield* platform.calls
          yield* World.set(id, "monitor", account, { last_poll_error: "timeout" })
          yield* act("pause", account)
          assert.strictEqual(yield* kept, before)
          yield* act("resume", account)
          assert.strictEqual(yield* kept, before)
          assert.deepStrictEqual(yield* platform.calls, calls)
          const { body } = yield* World.get(`/v1/accounts/${account}`, admins.owner.key)
          assert.strictEqual(body.monitoring.state, "active")
          assert.isNull(body.monitoring.last_poll_error)
          const profile = yield* World.get(`/v1/accounts/${account}/messenger-profile`, admins.owner.key)
          assert.strictEqual(profile.status, 200)
          assert.lengthOf(
            yield* World.query(id, (sql) => sql`select 1 from account where session_ref = ${String(before)}`),
            1
          )
        }))

      it.effect("S3.1-11, S3.1-14: pausing and resuming change no seat", () =>
        Effect.gen(function*() {
          const { act, admins, of } = yield* arrange
          const seats = Effect.map(World.get("/v1/organization", admins.owner.key), ({ body }) => body.seats)
          const before = yield* seats
          yield* act("pause", of("protected"))
          assert.deepStrictEqual(yield* seats, before)
          yield* act("resume", of("protected"))
          assert.deepStrictEqual(yield* seats, before)
        }))

      it.effect("S3.1-15: each writes one journal entry, and a refused one writes none", () =>
        Effect.gen(function*() {
          const { act, admins, id, of } = yield* arrange
          const account = of("protected")
          yield* act("pause", account)
          yield* act("pause", account)
          yield* act("resume", account, "admin")
          yield* act("resume", account)
          const entries = yield* World.journal(id)
          assert.deepStrictEqual(
            entries.map(({ account_id, action, actor_admin_id, credential_id, outcome }) => ({
              account_id,
              action,
              actor_admin_id,
              credential_id,
              outcome
            })),
            (["owner", "admin"] as const).map((role) => ({
              account_id: account,
              action: role === "owner" ? "account.paused" : "account.resumed",
              actor_admin_id: admins[role].id,
              credential_id: admins[role].keyId,
              outcome: "done"
            }))
          )
        }))

      it.effect("pausing stops monitoring, and withdraws every deadline and queued sign-out of this account alone", () =>
        Effect.gen(function*() {
          const { act, admins, id, of, statusOf } = yield* arrange
          const account = of("new_sign_in")
          const other = yield* World.makeAccount(id)
          yield* World.addRows("session", id, [
            { account_id: account, id: "3", queued_at: at(-1), seen_at: at(-1) },
            { account_id: account, id: "4", approved_at: at(-1), seen_at: at(-1) },
            { account_id: other, id: "2", review_deadline: at(day), queued_at: at(-1), seen_at: at(-1) }
          ])
          yield* act("pause", account)
          const { body } = yield* World.get(`/v1/accounts/${account}`, admins.owner.key)
          assert.strictEqual(body.monitoring.state, "stopped")
          for (const session of body.sessions) {
            assert.isNull(session.review_deadline)
            assert.isFalse(session.sign_out_queued)
            assert.strictEqual(session.approved, session.id === "4")
          }
          assert.strictEqual(body.sessions.length, 3)
          assert.strictEqual(yield* statusOf(other), "new_sign_in")
        }))
    })
  })
})
