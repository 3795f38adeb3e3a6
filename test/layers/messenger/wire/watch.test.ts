import { describe, expect, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import * as Randomness from "../../../../src/layers/crypto/Randomness.ts"
import { Vault } from "../../../../src/layers/crypto/Vault.ts"
import { SimulatedPlatform } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Tenant from "../../../../src/layers/postgres/Tenant.ts"
import * as KeysSql from "../../../../src/layers/sql/messenger/MessengerKeys.ts"
import * as Worker from "../../../../src/layers/Worker.ts"
import { MessengerKeys } from "../../../../src/ports/messenger/MessengerKeys.ts"
import { MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import * as DataCentre from "../../../support/dataCentre/index.ts"
import { meet, staged, start } from "../../../support/logins/logins.ts"
import { waiting } from "../../../support/mail/outbox.ts"
import { pglite } from "../../../support/postgres/database.ts"
import { jump } from "../../../support/protection/watching.ts"
import * as World from "../../../support/world.ts"

const messenger = DataCentre.layerOver.pipe(
  Layer.provide(KeysSql.layer),
  Layer.provide(Layer.merge(Vault.layer, Randomness.layer)),
  Layer.orDie
)

/** A look at what was pushed meanwhile too: pushes come in their own time. */
const look = Effect.andThen(jump("75 seconds"), jump("10 seconds"))

/** An account that is connected, and watched since yesterday. */
const watched = Effect.gen(function*() {
  const stage = yield* staged()
  const centre = DataCentre.centreOf(stage.platform)
  const person = yield* meet()
  const { account_id: id } = (yield* stage.connected(person)).body
  yield* jump("25 hours")
  const key = [...centre.keys.values()].find(({ of }) => of["userId"] === person.userId)!
  const [own] = yield* World.query<{ ref: SessionRef }>(
    stage.id,
    (sql) => sql`select session_ref as ref from service_session where account_id = ${id}`
  )
  const keptKeys = MessengerKeys.use((keys) => keys.load(own!.ref)).pipe(
    Effect.map((kept) => [...kept?.values.keys() ?? []].filter((name) => name.startsWith("key:"))),
    Effect.provide(KeysSql.layer)
  )
  const mails = Effect.map(waiting(stage.id), (all) => all.map(({ kind, text }) => [kind, text]))
  const before = (yield* stage.actions).length
  const since = Effect.map(stage.actions, (all) => all.slice(before))
  return { account: stage.account(id), centre, id, key, keptKeys, person, since, stage, mails }
})

describe("the service over the messenger's own protocol", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(pglite, undefined, messenger))))((it) => {
    it.effect("connects an account, detects a stranger and signs it out at its deadline, over connections that are lost", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const centre = DataCentre.centreOf(stage.platform)
        const person = yield* meet({ security: { two_fa_password: Redacted.make("horse staple") } })
        yield* stage.platform.logIn(person.userId, { device_model: "Phone", created_at: new Date(start - 86_400_000) })
        const { body: login } = yield* stage.connect(person.phone)
        expect(login).toMatchObject({ state: "code_sent", code_length: 5 })
        const { body: next } = yield* stage.code(login.id, yield* person.code)
        expect(next).toMatchObject({ state: "password_needed" })
        centre.cut()
        const { body: done } = yield* stage.password(login.id, "horse staple")
        expect(done).toMatchObject({ state: "completed" })
        yield* jump("25 hours")
        const account = stage.account(done.account_id)
        expect((yield* account).status).toBe("protected")
        centre.cut()
        yield* stage.platform.logIn(person.userId, { device_model: "Thief" })
        yield* look
        const { sessions, status } = yield* account
        expect(status).toBe("new_sign_in")
        const thief = sessions.find((one: any) => one.device_model === "Thief")
        yield* jump(Date.parse(thief.review_deadline) - (yield* Clock.currentTimeMillis))
        yield* look
        const after = yield* account
        expect(after.status).toBe("protected")
        expect(after.terminations.map(({ actor, reason }: any) => [actor, reason])).toEqual([["service", "autokill"]])
        expect((yield* stage.actions).filter((action: string) => action.startsWith("session."))).toEqual([
          "session.detected",
          "session.autokilled pending",
          "session.autokilled"
        ])
      }))

    it.effect("erases the key of a session that was signed out, while the login that made it is still known", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const sql = yield* SqlClient.SqlClient
        const kept = Effect.fnUntraced(function*(sessionRef: string) {
          yield* KeysSql.sweep
          const rows = yield* Tenant.directory(sql)(sql`
            select session_ref from messenger_session where session_ref = ${sessionRef}
            union all select session_ref from messenger_key where session_ref = ${sessionRef}`)
          return rows.length > 0
        })
        const refOf = Effect.fnUntraced(function*(login: string) {
          const [row] = yield* World.query<{ session_ref: string }>(
            stage.id,
            (sql) => sql`select session_ref from login where organization_id = ${stage.id} and id = ${login}`
          )
          return row?.session_ref ?? ""
        })
        const person = yield* meet()
        const { body: begun } = yield* stage.connect(person.phone)
        const ref = yield* refOf(begun.id)
        expect(yield* kept(ref)).toBe(true)
        const { body: done } = yield* stage.code(begun.id, yield* person.code)
        expect(done).toMatchObject({ state: "completed" })
        yield* look
        expect(yield* kept(ref)).toBe(true)
        yield* stage.platform.revokeService(person.userId)
        yield* look
        expect((yield* stage.account(done.account_id)).status).toBe("protection_stopped")
        expect(yield* refOf(begun.id)).toBe(ref)
        expect(yield* kept(ref)).toBe(false)
        const other = yield* meet()
        const { body: left } = yield* stage.connect(other.phone)
        const unused = yield* refOf(left.id)
        expect(yield* kept(unused)).toBe(true)
        expect((yield* stage.cancel(left.id)).body).toMatchObject({ state: "cancelled" })
        expect(yield* kept(unused)).toBe(false)
      }))

    it.effect("says of a key that was used twice that an admin has to log in again, and keeps it", () =>
      Effect.gen(function*() {
        const { account, id, key, keptKeys, person, since, stage, mails } = yield* watched
        // The messenger takes the key as stolen, and ends its session.
        key.of["duplicated"] = true
        yield* stage.platform.logOut(person.userId, yield* stage.platform.authorizationId(key.of["ref"]))
        yield* look
        expect(yield* account).toMatchObject({
          status: "status_unknown",
          monitoring: { state: "unknown", last_poll_error: "key_duplicated" }
        })
        expect(yield* since).toEqual(["monitoring.lost"])
        expect(yield* mails).toEqual([["monitoring_lost", expect.stringContaining("Log in to the account again.")]])
        expect(yield* keptKeys).toEqual(["key:1"])
        // A login makes a key of its own.
        const { body } = yield* stage.relogin(id)
        expect((yield* stage.code(body.id, yield* person.code)).body).toMatchObject({ state: "completed" })
        yield* look
        expect(yield* account).toMatchObject({ status: "recently_connected", monitoring: { state: "active" } })
      }))

    it.effect("keeps a key that the messenger does not know for a while, and stops where it never does again", () =>
      Effect.gen(function*() {
        const { account, centre, key, keptKeys, since, mails } = yield* watched
        const unknown = Effect.suspend(() => {
          centre.forget(key)
          centre.cut(key)
          return look
        })
        yield* unknown
        expect((yield* account).monitoring).toMatchObject({ state: "active", last_poll_error: "unavailable" })
        centre.remember(key)
        yield* look
        expect(yield* account).toMatchObject({ status: "protected", monitoring: { last_poll_error: null } })
        expect([yield* since, yield* mails, yield* keptKeys]).toEqual([[], [], ["key:1"]])
        yield* unknown
        yield* look
        expect(yield* account).toMatchObject({
          status: "protection_stopped",
          monitoring: { state: "stopped", last_poll_error: "session_lost" }
        })
        expect(yield* since).toEqual(["protection.stopped", "outside_change.detected"])
        expect((yield* mails).map(([kind]) => kind)).toEqual(["protection_stopped", "outside_change_detected"])
      }))

    it.effect("logs out when an account is offboarded, and forgets the key", () =>
      Effect.gen(function*() {
        const { account, id, keptKeys, person, stage } = yield* watched
        const { body } = yield* World.post(`/v1/accounts/${id}/offboard`, stage.key)
        expect(body).toMatchObject({ action: "offboarded" })
        expect(yield* keptKeys).toEqual([])
        expect((yield* account).status).toBe("available")
        const onlooker = yield* (yield* MessengerSession).open(yield* stage.platform.connect(person.userId))
        expect((yield* onlooker.authorizations).map(({ current }) => current)).toEqual([true])
      }).pipe(Effect.scoped))

    it.effect("keeps keys that open under their session alone, and never one in the clear", () =>
      Effect.gen(function*() {
        const centre = DataCentre.centreOf(yield* SimulatedPlatform)
        const sql = yield* SqlClient.SqlClient
        const rows = yield* Tenant.directory(sql)(sql<{ sealed: string; session_ref: string }>`
          select session_ref, sealed from messenger_key where name like 'key:%'`)
        expect(rows.length).toBeGreaterThan(0)
        for (const { secret } of centre.keys.values()) {
          for (const { sealed } of rows) {
            expect(Buffer.from(sealed, "base64url").includes(secret.subarray(0, 16))).toBe(false)
          }
        }
        const keys = yield* MessengerKeys
        const [one] = rows
        yield* Tenant.directory(sql)(sql`
          insert into messenger_session (session_ref, sealed) select 'other', sealed from messenger_session limit 1`)
        yield* Tenant.directory(sql)(sql`
          insert into messenger_key (session_ref, name, sealed, version) values ('other', 'key:1', ${one!.sealed}, 1)`)
        const moved = yield* Effect.exit(keys.load(SessionRef.make("other")))
        expect(moved._tag).toBe("Failure")
        // No account and no login has it, and those of the others stay.
        yield* KeysSql.sweep
        expect(yield* keys.load(SessionRef.make("other"))).toBe(null)
        expect((yield* keys.load(SessionRef.make(one!.session_ref)))?.values.size).toBeGreaterThan(0)
      }).pipe(Effect.provide(KeysSql.layer)))
  })
})
