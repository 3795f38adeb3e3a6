import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Worker from "../../src/layers/Worker.ts"
import { LoginStarts } from "../../src/ports/logins/Logins.ts"
import { LoginEndings } from "../../src/protection/LoginEndings.ts"
import { meet, staged, start, summaryOf } from "../support/logins/logins.ts"
import * as Limited from "../support/people/limited.ts"
import { pglite } from "../support/postgres/database.ts"
import { jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

const twoFa = { two_fa_password: Redacted.make("horse staple"), two_fa_hint: "animal" }

const day = 86_400_000

describe("4.16 connecting accounts", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(pglite))))((it) => {
    it.effect("S1-17: an account is connected by its holder's code, holds a seat from then on, and its other sessions are its baseline", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const person = yield* meet()
        yield* stage.platform.logIn(person.userId, { device_model: "Phone", created_at: new Date(start - day) })
        const { body: login } = yield* stage.connect(person.phone, { role_label: "Board" })
        expect(login).toMatchObject({
          object: "login",
          kind: "connect",
          account_id: null,
          state: "code_sent",
          code_delivery: "app",
          code_length: 5,
          attempts_left: 5,
          error: null
        })
        expect((yield* stage.seats).used).toBe(0)
        const { body: done } = yield* stage.code(login.id, yield* person.code)
        expect(done).toMatchObject({ state: "completed", attempts_left: 5 })
        expect((yield* stage.read(login.id)).body).toEqual(done)
        expect(yield* stage.account(done.account_id)).toMatchObject({
          name: "Ada Lovelace",
          phone_number: person.phone,
          role_label: "Board",
          messenger_user_id: person.userId,
          status: "recently_connected",
          licence_tier: "governance",
          monitoring: { state: "active", enforcement_active_at: new Date(start + day).toISOString() }
        })
        expect((yield* stage.seats).used).toBe(1)
        expect(yield* stage.actions).toEqual(["login.started", "login.completed", "account.connected"])
        yield* jump("1 second")
        const { sessions } = yield* stage.account(done.account_id)
        expect(sessions.map((one: any) => [one.service_session, one.review_deadline])).toEqual([[true, null], [
          false,
          null
        ]])
        yield* stage.platform.logIn(person.userId, { device_model: "Thief" })
        yield* jump("75 seconds")
        expect((yield* stage.account(done.account_id)).status).toBe("new_sign_in")
      }))

    it.effect("S1-17: the 2FA password is asked for where there is one, with the holder's hint", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const person = yield* meet({ security: twoFa })
        const { body: login } = yield* stage.connect(person.phone)
        const early = yield* stage.password(login.id, "horse staple")
        expect(summaryOf(early)).toBe("409 login_step")
        const { body: next } = yield* stage.code(login.id, yield* person.code)
        expect(next).toMatchObject({ state: "password_needed", password_hint: "animal", account_id: null })
        expect(summaryOf(yield* stage.code(login.id, "12345"))).toBe("409 login_step")
        expect(summaryOf(yield* stage.resend(login.id))).toBe("409 login_step")
        const wrong = yield* stage.password(login.id, "battery")
        expect([summaryOf(wrong), wrong.body.error.param]).toEqual(["400 password_invalid", "password"])
        expect((yield* stage.read(login.id)).body.attempts_left).toBe(4)
        expect(summaryOf(yield* stage.password(login.id, "horse staple"))).toBe("200 completed")
      }))

    it.effect("five wrong entries end a login, codes and passwords together, and leave nothing on the messenger", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const person = yield* meet({ security: twoFa })
        const { body: login } = yield* stage.connect(person.phone)
        for (let entry = 0; entry < 2; entry++) {
          expect(summaryOf(yield* stage.code(login.id, "not-it"))).toBe("400 code_invalid")
        }
        yield* stage.code(login.id, yield* person.code)
        for (let entry = 0; entry < 3; entry++) {
          expect(summaryOf(yield* stage.password(login.id, "battery"))).toBe("400 password_invalid")
        }
        expect((yield* stage.read(login.id)).body).toMatchObject({
          state: "failed",
          error: "password_invalid",
          attempts_left: 0
        })
        expect(summaryOf(yield* stage.password(login.id, "horse staple"))).toBe("409 login_step")
        expect(yield* stage.sessions).toBe(0)
        expect(yield* stage.actions).toEqual(["login.started", "login.failed failed"])
      }))

    it.effect("numbers that no country has or the messenger refuses, unnamed refusals and floods get different failures", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        for (const bad of ["4915550100", "+0155", "+12", "+49 155", 5, "+1202555014", "+999123456789"]) {
          const { body, status } = yield* World.send("POST", "/v1/logins", {
            key: stage.key,
            body: { phone_number: bad }
          })
          expect([bad, status, body.error.code, body.error.param]).toEqual([
            bad,
            400,
            "parameter_invalid",
            "phone_number"
          ])
        }
        const refused = yield* stage.connect("+4915559999999")
        expect([summaryOf(refused), refused.body.error.param]).toEqual(["400 phone_refused", "phone_number"])
        const person = yield* meet()
        const answer = (operation: "begin" | "submit_code", what: any) =>
          stage.platform.script({ userId: person.userId, operation, answer: what })
        yield* answer("begin", { _tag: "Refused", reason: "FROZEN" })
        expect(summaryOf(yield* stage.connect(person.phone))).toBe("409 messenger_refused")
        yield* answer("begin", { _tag: "Busy", seconds: 42 })
        const busy = yield* stage.connect(person.phone)
        expect([summaryOf(busy), busy.headers.get("retry-after")]).toEqual(["503 messenger_unavailable", "42"])
        const { body: login } = yield* stage.connect(person.phone)
        yield* answer("submit_code", { _tag: "Busy", seconds: 7 })
        expect(summaryOf(yield* stage.code(login.id, yield* person.code))).toBe("503 messenger_unavailable")
        yield* answer("submit_code", { _tag: "Unavailable" })
        expect(summaryOf(yield* stage.code(login.id, yield* person.code))).toBe("503 messenger_unavailable")
        expect((yield* stage.read(login.id)).body.attempts_left).toBe(5)
        expect(summaryOf(yield* stage.code(login.id, yield* person.code))).toBe("200 completed")
      }))

    it.effect("one admin has a number at a time, others are told by whom they may be let in, and a cancelled login is gone", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const person = yield* meet()
        const admin = stage.as(stage.admins.admin)
        const { body: login } = yield* admin.connect(person.phone)
        expect((yield* admin.connect(person.phone)).body).toEqual(login)
        const seen = yield* stage.connect(person.phone)
        expect([summaryOf(seen), seen.body.error.message.includes(login.id)]).toEqual(["409 login_in_progress", true])
        const other = yield* World.makePerson(stage.id, "admin")
        const blind = yield* stage.as(other).connect(person.phone)
        expect([summaryOf(blind), blind.body.error.message.includes(login.id)]).toEqual([
          "409 login_in_progress",
          false
        ])
        for (const refused of [yield* stage.as(other).read(login.id), yield* stage.as(other).cancel(login.id)]) {
          expect(summaryOf(refused)).toBe("404 resource_missing")
        }
        const code = yield* person.code
        expect(summaryOf(yield* stage.cancel(login.id))).toBe("200 cancelled")
        expect(summaryOf(yield* stage.cancel(login.id))).toBe("200 cancelled")
        expect(summaryOf(yield* admin.code(login.id, code))).toBe("409 login_step")
        expect(summaryOf(yield* stage.as(other).connect(person.phone))).toBe("200 code_sent")
        yield* World.send("DELETE", `/v1/admins/${other.id}`, { key: stage.key })
        expect((yield* stage.actions).filter((action) => /admin|cancel/.test(action))).toEqual([
          "login.cancelled",
          "admin.removed",
          "login.cancelled"
        ])
      }))

    it.effect("codes are sent again when the messenger says so and three times, and a login runs out ten minutes after its last step", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const person = yield* meet()
        const { body: login } = yield* stage.connect(person.phone)
        expect(summaryOf(yield* stage.resend(login.id))).toBe("409 resend_too_early")
        const before = yield* person.code
        for (let time = 0; time < 3; time++) {
          yield* TestClock.adjust("60 seconds")
          expect((yield* stage.resend(login.id)).body.code_delivery).toBe("call")
        }
        yield* TestClock.adjust("60 seconds")
        const spent = yield* stage.resend(login.id)
        expect([summaryOf(spent), spent.headers.get("retry-after")]).toEqual(["429 too_many_attempts", "540"])
        if (before !== (yield* person.code)) {
          expect(summaryOf(yield* stage.code(login.id, before))).toBe("400 code_invalid")
        }
        yield* TestClock.adjust("5 minutes")
        expect(summaryOf(yield* stage.code(login.id, yield* person.code))).toBe("409 login_expired")
        const second = yield* stage.connect(person.phone)
        yield* TestClock.adjust("10 minutes")
        expect((yield* stage.read(second.body.id)).body.state).toBe("expired")
        expect(summaryOf(yield* stage.code(second.body.id, "12345"))).toBe("409 login_expired")
        expect(summaryOf(yield* stage.cancel(second.body.id))).toBe("409 login_step")
        yield* (yield* LoginEndings).end
        yield* (yield* LoginEndings).end
        expect((yield* stage.actions).filter((action) => action === "login.expired")).toHaveLength(2)
        const kept = yield* World.query<{ state_sealed: string | null }>(
          stage.id,
          (sql) => sql`select state_sealed from login where organization_id = ${stage.id}`
        )
        expect(kept.map(({ state_sealed }) => state_sealed)).toEqual([null, null])
      }))

    it.effect("starts are counted before the messenger is asked: three a day with a number, ten an hour of an organization", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const unknown = "+4915551111111"
        for (let time = 0; time < 3; time++) expect(summaryOf(yield* stage.connect(unknown))).toBe("400 phone_refused")
        const calls = (yield* stage.platform.calls).length
        const refused = yield* stage.connect(unknown)
        expect([summaryOf(refused), refused.headers.get("retry-after")]).toEqual([
          "429 too_many_attempts",
          String(day / 1000)
        ])
        for (let number = 0; number < 7; number++) yield* stage.connect(`+491555222000${number}`)
        expect(summaryOf(yield* stage.connect("+4915552220009"))).toBe("429 too_many_attempts")
        expect((yield* stage.platform.calls).length).toBe(calls + 7)
        const more = stage.connect("+4915552220009").pipe(Effect.provideService(LoginStarts, 11))
        expect(summaryOf(yield* more)).toBe("400 phone_refused")
        yield* TestClock.adjust("1 hour")
        expect(summaryOf(yield* stage.connect("+4915552220009"))).toBe("400 phone_refused")
      }))

    it.effect("neither a licence nor a seat nor another person's claim is passed, at the start or at the end", () =>
      Effect.gen(function*() {
        const full = yield* staged({ seat_limit: 1 })
        const [one, two] = [yield* meet({ security: twoFa }), yield* meet()]
        const first = (yield* full.connect(one.phone)).body
        const second = (yield* full.connect(two.phone)).body
        yield* full.code(first.id, yield* one.code)
        expect(summaryOf(yield* full.code(second.id, yield* two.code))).toBe("200 completed")
        expect(summaryOf(yield* full.password(first.id, "horse staple"))).toBe("409 no_free_seat")
        expect((yield* full.read(first.id)).body).toMatchObject({ state: "failed", error: "no_free_seat" })
        expect([yield* full.sessions, (yield* full.seats).used]).toEqual([1, 1])
        expect(summaryOf(yield* full.connect((yield* meet()).phone))).toBe("409 no_free_seat")
        const suspended = yield* staged({ status: "suspended" })
        expect(summaryOf(yield* suspended.connect(one.phone))).toBe("409 not_licensed")
        const elsewhere = yield* staged()
        expect(summaryOf(yield* elsewhere.connected(two))).toBe("409 already_connected")
        expect(yield* elsewhere.sessions).toBe(0)
        expect(summaryOf(yield* full.connect(two.phone))).toBe("409 no_free_seat")
      }))

    it.effect("an admin whose login is refused as already connected reads which case it is", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const person = yield* meet()
        const { body: { account_id: account } } = yield* stage.connected(person)
        const messageOf = ({ body: { error } }: World.Answer) => `${error.code}: ${error.message}`
        expect(messageOf(yield* stage.connect(person.phone))).toBe(
          "already_connected: This organization protects this account already."
        )
        yield* jump("1 second")
        expect(messageOf(yield* stage.relogin(account))).toBe(
          "already_connected: The service is signed in to this account already."
        )
        const elsewhere = yield* staged()
        expect(messageOf(yield* elsewhere.connected(person))).toBe(
          "already_connected: Another organization of this service protects this account: it has to offboard it first."
        )
        const kept = yield* meet()
        yield* World.makeAccount(stage.id, {
          phone: "+492",
          messengerUserId: kept.userId,
          facts: { offboarded_at: new Date(start - day) }
        })
        const blind = stage.as(stage.admins.admin)
        const { body: begun } = yield* blind.connect(kept.phone)
        expect(messageOf(yield* blind.code(begun.id, yield* kept.code))).toBe(
          "already_connected: This organization had this account before, and you do not have access to it: " +
            "an admin who has can connect it."
        )
      }))

    it.effect("an offboarded account comes back with its id, where the caller can access it, and otherwise not at all", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const person = yield* meet()
        const account = yield* World.makeAccount(stage.id, {
          phone: "+491",
          messengerUserId: person.userId,
          facts: { offboarded_at: new Date(start - day), role_label: "Kept", joined_at: new Date(start - 9 * day) }
        })
        const blind = stage.as(stage.admins.admin)
        const { body: begun } = yield* blind.connect(person.phone)
        expect(summaryOf(yield* blind.code(begun.id, yield* person.code))).toBe("409 already_connected")
        const { body } = yield* stage.connected(person)
        expect(body).toMatchObject({ state: "completed", account_id: account })
        expect(yield* stage.account(account)).toMatchObject({
          role_label: "Kept",
          phone_number: person.phone,
          offboarded_at: null,
          joined_at: new Date(start - 9 * day).toISOString(),
          status: "recently_connected"
        })
      }))

    it.effect("an admin who can access only some accounts is granted what they connect, and files it where they may", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const { admin, archive, billing } = stage.admins
        const [granted, other] = [yield* World.makeDepartment(stage.id), yield* World.makeDepartment(stage.id)]
        yield* World.grant(stage.id, admin.id, { departments: [granted] })
        for (const who of [archive, billing]) {
          expect(summaryOf(yield* stage.as(who).connect((yield* meet()).phone))).toBe("403 role_forbidden")
        }
        const mine = stage.as(admin)
        const person = yield* meet()
        expect(summaryOf(yield* mine.connect(person.phone, { department_id: other }))).toBe("404 resource_missing")
        const filed = yield* mine.connect(person.phone, { department_id: granted })
        const { body } = yield* mine.code(filed.body.id, yield* person.code)
        expect((yield* World.get(`/v1/accounts/${body.account_id}`, admin.key)).body.department_id).toBe(granted)
        const second = yield* meet()
        const { body: begun } = yield* mine.connect(second.phone)
        const { body: done } = yield* mine.code(begun.id, yield* second.code)
        expect((yield* World.get(`/v1/accounts/${done.account_id}`, admin.key)).status).toBe(200)
        const byAccounts = yield* Limited.connect(stage.id, stage.admins.owner, { accounts: [done.account_id] })
        const byDepartments = yield* Limited.connect(stage.id, stage.admins.owner, { departments: [granted] })
        const third = { phone_number: (yield* meet()).phone }
        expect((yield* byAccounts.call("start_account_connect", third)).code).toBe("role_forbidden")
        expect(yield* byDepartments.call("start_account_connect", third))
          .toMatchObject({ code: "parameter_invalid", param: "department_id" })
        const { body: limited } = yield* byDepartments.call("start_account_connect", {
          ...third,
          department_id: granted
        })
        expect((yield* byDepartments.call("get_login", { login_id: limited.id })).code).toBe("done")
        expect((yield* byAccounts.call("get_login", { login_id: limited.id })).code).toBe("resource_missing")
        expect((yield* byAccounts.call("get_login", { login_id: begun.id })).code).toBe("done")
        expect((yield* byDepartments.call("get_login", { login_id: begun.id })).code).toBe("resource_missing")
      }))

    it.effect("S1-17: a lost account is signed in to again by the same person, also under a new number, with its approvals kept", () =>
      Effect.gen(function*() {
        const stage = yield* staged()
        const person = yield* meet()
        yield* stage.platform.logIn(person.userId, { device_model: "Phone", created_at: new Date(start - day) })
        const { body: { account_id: account } } = yield* stage.connected(person)
        yield* jump("1 second")
        expect(summaryOf(yield* stage.relogin(account))).toBe("409 already_connected")
        yield* stage.platform.revokeService(person.userId)
        yield* jump("75 seconds")
        expect((yield* stage.account(account)).status).toBe("protection_stopped")
        const stranger = yield* meet()
        const { body: wrong } = yield* stage.relogin(account, { phone_number: stranger.phone })
        const beside = yield* stage.relogin(account)
        expect(summaryOf(beside)).toBe("409 login_in_progress")
        expect(beside.body.error.message).toMatch(new RegExp(`^A login .* is open already: login ${wrong.id}`))
        expect(summaryOf(yield* stage.code(wrong.id, yield* stranger.code))).toBe("409 wrong_account")
        expect((yield* stage.account(account)).phone_number).toBe(person.phone)
        yield* World.post(`/v1/accounts/${account}/pause`, stage.key)
        const { body: login } = yield* stage.relogin(account)
        expect(login).toMatchObject({ kind: "relogin", account_id: account, phone_number: person.phone })
        expect(summaryOf(yield* stage.code(login.id, yield* person.code))).toBe("200 completed")
        expect((yield* stage.account(account)).status).toBe("paused")
        yield* World.post(`/v1/accounts/${account}/resume`, stage.key)
        yield* jump("1 second")
        const { sessions, status } = yield* stage.account(account)
        expect(status).toBe("protected")
        expect(sessions.map((one: any) => [one.service_session, one.review_deadline])).toEqual([[true, null], [
          false,
          null
        ]])
        expect((yield* stage.actions).slice(-2)).not.toContain("session.detected")
        const gone = yield* World.makeAccount(stage.id, { facts: { offboarded_at: new Date(0) } })
        expect(summaryOf(yield* stage.relogin(gone))).toBe("409 not_active")
      }))
  })
})
