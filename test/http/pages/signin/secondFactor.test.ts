import { describe, expect, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Role } from "../../../../src/domain/people/Access.ts"
import * as Pages from "../../../support/http/pages.ts"
import { act } from "../../../support/operator/operator.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as Factors from "../../../support/signin/factors.ts"
import * as World from "../../../support/world.ts"

const developer = "/console/developer"
/** The page after a sign-in, by default. */
const home = "/console"

const isSignedIn = (cookie: string) =>
  Effect.map(Pages.visit("GET", developer, { cookie }), ({ status }) => status === 200)

/** An admin with a password and an authenticator app. */
const stage = Effect.fnUntraced(function*(role: Role = "owner") {
  const { admins, id } = yield* World.makeOrganization()
  const { id: adminId } = admins[role]
  yield* Pages.givePassword(id, adminId)
  yield* Factors.giveTotp(id, adminId)
  return { id, admins, adminId, email: yield* Pages.emailOf(id, adminId) }
})

const rows = (id: string, table: string) =>
  World.query(id, (sql) => sql`select * from ${sql(table)} where organization_id = ${id}`)

const wrong = "000000"

describe("the second factor at sign-in", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is asked for after the password, and only then there is a console session", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const pending = yield* Factors.begin(id, email)
        expect(pending).toMatch(/^console-sign-in=[A-Za-z0-9_-]{43}$/)
        expect([yield* isSignedIn(pending), yield* rows(id, "console_session")]).toEqual([false, []])
        const done = yield* Factors.answer(pending, yield* Factors.code())
        expect([done.status, done.location]).toEqual([303, home])
        const set = done.headers.getSetCookie().map((cookie) => cookie.split("=", 1)[0])
        expect(set).toEqual(["console", "console-browser", "console-sign-in"])
        expect(yield* isSignedIn(Pages.cookiesOf(done))).toBe(true)
        expect(yield* rows(id, "pending_sign_in")).toEqual([])
        expect(yield* World.journal(id)).toMatchObject([
          { action: "console.signed_in", details: { second_factor: "totp" } }
        ])
        // Neither the pending sign-in nor its code works again.
        expect((yield* Factors.answer(pending, yield* Factors.code())).location).toMatch(/^\/console\/sign-in\?/)
        const again = yield* Factors.answer(yield* Factors.begin(id, email), yield* Factors.code())
        expect([again.status, again.text.includes("or was used before")]).toEqual([403, true])
      }))

    it.effect("takes a code of the time step before and after, each once, and no older one after a newer", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        yield* TestClock.adjust("1 hour")
        for (const [steps, status] of [[-2, 403], [2, 403], [-1, 303], [-1, 403], [1, 303], [0, 403]] as const) {
          const done = yield* Factors.answer(yield* Factors.begin(id, email), yield* Factors.code(steps))
          expect([steps, done.status]).toEqual([steps, status])
        }
      }))

    it.effect("takes each recovery code once, however it is typed", () =>
      Effect.gen(function*() {
        const { adminId, email, id } = yield* stage()
        const code = yield* Factors.giveRecoveryCode(id, adminId)
        const typed = ` ${code.toUpperCase().replaceAll(/(.{4})/g, "$1-")} `
        const done = yield* Factors.answer(yield* Factors.begin(id, email), typed)
        expect(done.status).toBe(303)
        const again = yield* Factors.answer(yield* Factors.begin(id, email), code)
        expect(again.status).toBe(403)
        const actions = (yield* World.journal(id)).map(({ action }) => action)
        expect(actions).toEqual(["recovery_code.used", "console.signed_in", "second_factor.failed"])
      }))

    it.effect("takes five answers, then the first factor again, and in all five for free before each costs a wait", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const pending = yield* Factors.begin(id, email)
        for (const attempt of [1, 2, 3, 4, 5]) {
          expect([attempt, (yield* Factors.answer(pending, wrong)).status]).toEqual([attempt, 403])
        }
        const sixth = yield* Factors.answer(pending, yield* Factors.code())
        expect(sixth.location).toMatch(/^\/console\/sign-in\?/)
        const next = yield* Factors.begin(id, email)
        expect((yield* Factors.answer(next, wrong)).status).toBe(403)
        const waits = yield* Factors.answer(next, yield* Factors.code())
        expect([waits.status, waits.headers.get("retry-after")]).toEqual([429, "2"])
        expect(waits.text).toContain("Too many wrong codes: wait 2 s.")
        yield* TestClock.adjust("2 seconds")
        expect((yield* Factors.answer(next, yield* Factors.code())).status).toBe(303)
        const actions = (yield* World.journal(id)).map(({ action }) => action)
        expect(actions.filter((action) => action === "second_factor.failed").length).toBe(6)
      }))

    it.effect("is not kept from the admin's known browser by someone who has the password and guesses codes", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const known = yield* Factors.answer(yield* Factors.begin(id, email), yield* Factors.code())
        const cookie = Pages.cookiesOf(known).split("; ").filter((one) => one.startsWith("console-browser=")).join()
        for (const round of [1, 2]) {
          const pending = yield* Factors.begin(id, email)
          yield* Effect.replicateEffect(Factors.answer(pending, wrong), round === 1 ? 5 : 1)
        }
        yield* TestClock.adjust("1 second")
        const stranger = yield* Factors.answer(yield* Factors.begin(id, email), yield* Factors.code(1))
        expect(stranger.status).toBe(429)
        const own = yield* Factors.begin(id, email, { cookie })
        expect((yield* Factors.answer(own, yield* Factors.code(1))).status).toBe(303)
      }))

    it.effect("waits for 15 minutes, in five browsers of one address at most, and only for whom it was asked", () =>
      Effect.gen(function*() {
        const { adminId, admins, email, id } = yield* stage()
        const ended = (cookie: string) =>
          Effect.map(
            Pages.visit("GET", "/console/sign-in/second-factor", { cookie }),
            ({ status }) => status === 303
          )
        const first = yield* Factors.begin(id, email)
        yield* TestClock.adjust("899999 millis")
        expect(yield* ended(first)).toBe(false)
        yield* TestClock.adjust("1 millis")
        expect(yield* ended(first)).toBe(true)
        const six = yield* Effect.replicateEffect(Factors.begin(id, email), 6)
        expect(yield* Effect.forEach(six, ended)).toEqual([true, false, false, false, false, false])
        expect((yield* rows(id, "pending_sign_in")).length).toBe(5)
        // A password that is set, or the end of the admin, comes before the second factor.
        const at = new Date((yield* Clock.currentTimeMillis) + 1)
        yield* World.set(id, "admin", adminId, { password_changed_at: at })
        expect(yield* ended(six[5]!)).toBe(true)
        yield* TestClock.adjust("1 second")
        const later = yield* Factors.begin(id, email)
        yield* World.set(id, "admin", adminId, { disabled_at: new Date(0) })
        expect(yield* ended(later)).toBe(true)
        // Another admin's pending sign-in takes no code of this one's app.
        yield* World.set(id, "admin", adminId, { disabled_at: null })
        yield* Pages.givePassword(id, admins.superadmin.id)
        yield* Factors.giveRecoveryCode(id, admins.superadmin.id)
        const foreign = yield* Factors.giveRecoveryCode(id, admins.superadmin.id)
        expect((yield* Factors.answer(yield* Factors.begin(id, email), foreign)).status).toBe(403)
      }))

    it.effect("is waited for no more once the admin was disabled, however, or signed all others out, and nothing comes back", () =>
      Effect.gen(function*() {
        const { adminId, admins, email, id } = yield* stage("superadmin")
        const signedIn = Effect.fnUntraced(function*() {
          yield* TestClock.adjust("1 minute")
          return Pages.cookiesOf(yield* Factors.answer(yield* Factors.begin(id, email), yield* Factors.code()))
        })
        const waits = Effect.fnUntraced(function*(cookie: string) {
          return (yield* Pages.visit("GET", "/console/sign-in/second-factor", { cookie })).status === 200
        })
        const ways = {
          api: (what: "disable" | "enable") => World.post(`/v1/admins/${adminId}/${what}`, admins.owner.key),
          command: (what: "disable" | "enable") =>
            act((requests) => requests[`admins_${what}`]({ organization: id, email }))
        }
        for (const [way, toggle] of Object.entries(ways)) {
          const session = yield* signedIn()
          const pending = yield* Factors.begin(id, email)
          expect([way, yield* isSignedIn(session), yield* waits(pending)]).toEqual([way, true, true])
          yield* toggle("disable")
          expect((yield* World.journal(id)).at(-1)).toMatchObject({
            action: "admin.disabled",
            details: { sessions: 1 }
          })
          yield* toggle("enable")
          expect([way, yield* isSignedIn(session), yield* waits(pending)]).toEqual([way, false, false])
          expect(yield* rows(id, "pending_sign_in")).toEqual([])
        }
        const [own, other] = [yield* signedIn(), yield* signedIn()]
        const pending = yield* Factors.begin(id, email)
        const security = "/console/security"
        const page = yield* Pages.visit("GET", security, { cookie: own })
        const { action, hidden } = Pages.formOf(page, `${security}/sessions/end`, "value=\"all\"")
        yield* Pages.visit("POST", action, { cookie: own, form: hidden })
        expect([yield* isSignedIn(own), yield* isSignedIn(other), yield* waits(pending)]).toEqual([
          true,
          false,
          false
        ])
      }))

    it.effect("is not waited for any more once the admin was removed, even if the same address is invited again", () =>
      Effect.gen(function*() {
        const { adminId, admins, email, id } = yield* stage("superadmin")
        const pending = [yield* Factors.begin(id, email), yield* Factors.begin(id, email)]
        expect((yield* rows(id, "pending_sign_in")).length).toBe(2)
        const { key } = admins.owner
        expect((yield* World.send("DELETE", `/v1/admins/${adminId}`, { key })).status).toBe(200)
        expect(yield* rows(id, "pending_sign_in")).toEqual([])
        const again = yield* World.send("POST", "/v1/admins", { key, body: { email, role: "admin" } })
        expect([again.status, again.body.id === adminId]).toEqual([200, false])
        for (const cookie of pending) {
          const page = yield* Pages.visit("GET", "/console/sign-in/second-factor", { cookie })
          expect([page.status, page.location?.split("?")[0]]).toEqual([303, "/console/sign-in"])
        }
      }))

    it.effect("counts only with the form's token, from this site", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const cookie = yield* Factors.begin(id, email)
        const other = yield* Factors.begin(id, email)
        const path = "/console/sign-in/second-factor"
        const { hidden } = Pages.formOf(yield* Pages.visit("GET", path, { cookie: other }), path)
        const code = yield* Factors.code()
        const forged = yield* Pages.visit("POST", path, { cookie, form: { ...hidden, code } })
        const own = Pages.formOf(yield* Pages.visit("GET", path, { cookie }), path)
        const foreign = yield* Pages.visit("POST", path, {
          cookie,
          form: { ...own.hidden, code },
          headers: { origin: "https://evil.example" }
        })
        expect([forged.status, foreign.status, yield* rows(id, "console_session")]).toEqual([403, 403, []])
      }))
  })
})
