import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Pages from "../../../support/http/pages.ts"
import { waiting } from "../../../support/mail/outbox.ts"
import { act } from "../../../support/operator/operator.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as HeldSecrets from "../../../support/security/heldSecrets.ts"
import * as Authenticator from "../../../support/signin/authenticator.ts"
import * as Factors from "../../../support/signin/factors.ts"
import * as World from "../../../support/world.ts"

const second = "/console/security/second-factor"
const passkeyPath = "/console/sign-in/passkey"

/** An owner with an authenticator app, and the cookie of a session in which they gave it. */
const stage = Effect.fnUntraced(function*() {
  const { admins, id } = yield* World.makeOrganization()
  yield* Pages.givePassword(id, admins.owner.id)
  yield* Factors.giveTotp(id, admins.owner.id)
  const email = yield* Pages.emailOf(id, admins.owner.id)
  yield* TestClock.adjust("30 seconds")
  const done = yield* Factors.answer(yield* Factors.begin(id, email), yield* Factors.code())
  return { id, admins, adminId: admins.owner.id, email, cookie: Pages.cookiesOf(done) }
})

const actions = (id: string) => Effect.map(World.journal(id), (events) => events.map(({ action }) => action))

/** Sends the one form of a page, with what is typed. */
const send = Effect.fnUntraced(
  function*(cookie: string, path: string, action: string, typed: Record<string, string | ReadonlyArray<string>>) {
    const form = Pages.formOf(yield* Pages.visit("GET", path, { cookie }), action)
    return yield* Pages.visit("POST", form.action, { cookie, form: { ...form.hidden, ...typed } })
  }
)

const key = { label: "Key", scope: ["accounts:write"], expiry: "7", password: Pages.password }
const newKey = "/console/developer/api-keys/new"
const createKey = "/console/developer/api-keys"

describe("the second factor where the password is asked for again", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is remembered for five minutes, then asked for by every form that asks for the password", () =>
      Effect.gen(function*() {
        const { adminId, admins, cookie, id } = yield* stage()
        expect((yield* send(cookie, newKey, createKey, key)).text).toContain("Key created")
        yield* TestClock.adjust("299999 millis")
        expect((yield* send(cookie, newKey, createKey, key)).text).toContain("Key created")
        yield* TestClock.adjust("1 millis")
        const reading = { ...key, scope: ["org:read"], password: "" }
        expect((yield* send(cookie, newKey, createKey, reading)).text).toContain("Key created")
        const person = `/console/people/${admins.superadmin.id}`
        const accountId = yield* World.makeAccount(id)
        yield* HeldSecrets.hold(id, accountId, { password: "kept by the service" })
        const account = `/console/accounts/${accountId}`
        const secrets = `${account}/secrets`
        const forms: ReadonlyArray<
          readonly [path: string, action: string, typed: Record<string, string | string[]>]
        > = [
          [newKey, createKey, key],
          ["/console/security", "/console/security/password", {
            current: Pages.password,
            new: "another long secret",
            repeated: "another long secret"
          }],
          [`${second}/remove?factor=totp`, `${second}/remove`, { password: Pages.password }],
          [`${second}/recovery-codes`, `${second}/recovery-codes`, { password: Pages.password }],
          [`${second}/requirement`, `${second}/requirement`, { password: Pages.password }],
          [secrets, secrets, { password: Pages.password }],
          [`${account}/offboard`, `${account}/offboard`, {}],
          [person, `${person}/role`, { role: "billing", decision: "do", password: Pages.password }],
          [person, `${person}/ownership`, { decision: "do", password: Pages.password }]
        ]
        const before = yield* actions(id)
        for (const [path, action, typed] of forms) {
          // Wrong codes are few enough not to have the session wait.
          for (const code of path.startsWith(account) ? [""] : ["", "000000"]) {
            const refused = yield* send(cookie, path, action, { ...typed, code })
            expect([path, refused.status]).toEqual([path, 403])
            expect(refused.text).toMatch(/second factor|This code is incorrect/)
            expect(refused.text).not.toContain("kept by the service")
          }
        }
        const failed = (yield* actions(id)).slice(before.length)
        expect(new Set(failed)).toEqual(new Set(["second_factor.failed"]))
        // Given once, on whichever page, it holds for all.
        const confirmed = yield* send(
          cookie,
          `/console/security/confirm?return_to=${encodeURIComponent(person)}`,
          "/console/security/confirm",
          { code: yield* Factors.code() }
        )
        expect([confirmed.status, confirmed.location]).toEqual([303, person])
        expect((yield* send(cookie, secrets, secrets, { password: Pages.password })).text).toContain(
          "kept by the service"
        )
        expect((yield* send(cookie, person, `${person}/role`, forms[7]![2])).status).toBe(303)
        const events = yield* World.query<{ factor: string }>(
          id,
          (sql) => sql`select factor from console_session where organization_id = ${id} and admin_id = ${adminId}`
        )
        expect(events).toEqual([{ factor: "totp" }])
      }))

    it.effect("takes five wrong codes of all sessions, then makes them wait, but none of a browser known for a day; a changed token is refused", () =>
      Effect.gen(function*() {
        const { cookie: before, email, id } = yield* stage()
        const signedIn = Effect.fnUntraced(function*(visiting: Pages.Visiting = {}) {
          yield* TestClock.adjust("1 minute")
          return Pages.cookiesOf(
            yield* Factors.answer(yield* Factors.begin(id, email, visiting), yield* Factors.code())
          )
        })
        yield* TestClock.adjust("1 day")
        const browser = before.split("; ").filter((one) => one.startsWith("console-browser=")).join()
        const known = yield* signedIn({ cookie: browser })
        const [cookie, other] = [yield* signedIn(), yield* signedIn()]
        yield* TestClock.adjust("5 minutes")
        const path = "/console/security/confirm"
        const attempt = (by: string, code: string) => send(by, `${path}?return_to=/console/security`, path, { code })
        for (const [round, by] of [cookie, other, cookie, other, cookie, other].entries()) {
          expect([round, (yield* attempt(by, "000000")).status]).toEqual([round, 403])
        }
        for (const by of [cookie, other]) {
          const waits = yield* attempt(by, yield* Factors.code())
          expect([waits.status, waits.headers.get("retry-after")]).toEqual([429, "2"])
        }
        expect((yield* attempt(known, yield* Factors.code())).status).toBe(303)
        for (const csrf of ["é".repeat(64), "x", ""]) {
          const forged = yield* Pages.visit("POST", path, { cookie, form: { csrf, code: yield* Factors.code() } })
          expect([csrf, forged.status]).toEqual([csrf, 403])
        }
      }))

    it.effect("is added and removed with a journal entry, a mail and the end of other sessions, and kept through new passwords", () =>
      Effect.gen(function*() {
        const { adminId, cookie, email, id } = yield* stage()
        yield* TestClock.adjust("1 minute")
        const other = Pages.cookiesOf(yield* Factors.answer(yield* Factors.begin(id, email), yield* Factors.code()))
        yield* TestClock.adjust("1 minute")
        const page = yield* Pages.visit("GET", `${second}/app`, { cookie })
        const secret = /<code class="secret"[^>]*>([^<]*)</.exec(page.text)![1]!.replaceAll(" ", "")
        const { hidden } = Pages.formOf(page, `${second}/app`)
        const typed = {
          password: Pages.password,
          new_code: yield* Factors.code(0, secret),
          code: yield* Factors.code()
        }
        const added = yield* Pages.visit("POST", `${second}/app`, { cookie, form: { ...hidden, ...typed } })
        expect([added.status, added.location]).toEqual([303, `${second}?done=added`])
        expect((yield* Pages.visit("GET", second, { cookie: other })).status).toBe(303)
        // The app before is replaced, and a form that is sent again adds nothing.
        yield* TestClock.adjust("5 minutes")
        const again = yield* Pages.visit("POST", `${second}/app`, {
          cookie,
          form: { ...hidden, ...typed, code: yield* Factors.code(0, secret) }
        })
        expect(again.status).toBe(403)
        expect((yield* Factors.answer(yield* Factors.begin(id, email), yield* Factors.code())).status).toBe(403)
        yield* TestClock.adjust("1 minute")
        // Neither the operator's new password nor a link for one takes the factor away.
        yield* act((requests) =>
          requests.admins_set_password({ organization: id, email, password: "another long secret" as never })
        )
        yield* Pages.givePassword(id, adminId)
        const pending = yield* Factors.begin(id, email)
        expect((yield* Factors.answer(pending, yield* Factors.code(0, secret))).status).toBe(303)
        yield* TestClock.adjust("1 minute")
        const fresh = Pages.cookiesOf(
          yield* Factors.answer(yield* Factors.begin(id, email), yield* Factors.code(0, secret))
        )
        const removed = yield* send(fresh, `${second}/remove?factor=totp`, `${second}/remove`, {
          password: Pages.password
        })
        expect(removed.location).toBe(`${second}?done=removed`)
        expect((yield* Pages.signInWith({ organization: id, email, password: Pages.password })).location).toBe(
          "/console"
        )
        const journaled = (yield* actions(id)).filter((action) => action.startsWith("second_factor"))
        expect(journaled).toEqual(["second_factor.added", "second_factor.failed", "second_factor.removed"])
        expect((yield* waiting(id)).map(({ kind }) => kind)).toEqual(
          expect.arrayContaining(["second_factor_added", "second_factor_removed"])
        )
      }))

    it.effect("is required by the operator or the owner, who need not lock anybody out, and reset by the operator", () =>
      Effect.gen(function*() {
        const { adminId, admins, cookie, email, id } = yield* stage()
        const without = yield* Pages.signIn(id, admins.superadmin.id)
        const provided = yield* Pages.signIn(id, admins.billing.id)
        yield* World.query(
          id,
          (sql) =>
            sql`update console_session set factor = 'identity_provider', factor_at = ${new Date(0)}
              where organization_id = ${id} and admin_id = ${admins.billing.id}`
        )
        const required = yield* send(cookie, `${second}/requirement`, `${second}/requirement`, {
          password: Pages.password
        })
        expect(required.location).toBe(`${second}?done=set`)
        expect((yield* Pages.visit("GET", second, { cookie: without })).status).toBe(303)
        for (const kept of [cookie, provided]) {
          expect((yield* Pages.visit("GET", second, { cookie: kept })).status).toBe(200)
        }
        const superadmin = yield* Pages.emailOf(id, admins.superadmin.id)
        const values = { organization: id, email: superadmin, password: Pages.password }
        const pending = Pages.cookiesOf(yield* Pages.signInWith(values))
        const led = yield* Pages.visit("GET", "/console/sign-in/second-factor", { cookie: pending })
        expect(led.location).toMatch(/^\/console\/sign-in\/set-up/)
        // The last factor stays, and only the owner decides.
        const kept = yield* send(cookie, `${second}/remove?factor=totp`, `${second}/remove`, {
          password: Pages.password
        })
        expect([kept.status, kept.text.includes("this is your last one")]).toEqual([403, true])
        const organization = {
          organization: id,
          name: null,
          plan: null,
          seats: null,
          valid_until: null,
          open_ended: false
        }
        const set = (required: boolean) =>
          act((requests) => requests.organizations_set({ ...organization, require_second_factor: required }))
        yield* set(true)
        yield* set(false)
        const journal = yield* World.journal(id)
        expect(journal.filter(({ action }) => action === "organization.set").map(({ details }) => details)).toEqual([
          { requires_second_factor: true, sessions: 1 },
          { requires_second_factor: false, sessions: 0 }
        ])
        const reset = () => act((requests) => requests.admins_reset_factor({ organization: id, email }))
        expect(yield* reset()).toMatchObject({ admin_id: adminId, factors: 1, sessions: 1 })
        expect(yield* reset()).toMatchObject({ factors: 0, sessions: 0 })
        expect((yield* Pages.visit("GET", second, { cookie })).status).toBe(303)
        expect((yield* actions(id)).filter((action) => action === "second_factor.reset").length).toBe(1)
        expect((yield* waiting(id)).map(({ kind }) => kind)).toContain("second_factor_reset")
      }))
  })
})

describe("passkeys at sign-in", () => {
  layer(World.world(postgres))((it) => {
    it.effect("sign in once for each challenge, verified, at this site, with a counter that goes on, and active admins alone", () =>
      Effect.gen(function*() {
        const { adminId, admins, id } = yield* stage()
        const passkey = yield* Authenticator.givePasskey(id, adminId)
        const signIn = Effect.fnUntraced(
          function*(signing?: Parameters<typeof Authenticator.answer>[2], from = passkey) {
            yield* TestClock.adjust("1 second")
            const page = yield* Pages.visit("GET", passkeyPath)
            return yield* Pages.visit("POST", passkeyPath, { form: Authenticator.answer(from, page, signing) })
          }
        )
        const page = yield* Pages.visit("GET", passkeyPath)
        expect(page.headers.get("content-security-policy")).toBe(
          "default-src 'none'; style-src 'self'; script-src http://localhost/console/passkeys.js; " +
            "require-trusted-types-for 'script'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
        expect(page.headers.get("permissions-policy")).toContain("publickey-credentials-get=(self)")
        const form = Authenticator.answer(passkey, page)
        const first = yield* Pages.visit("POST", passkeyPath, { form })
        expect([first.status, first.location]).toEqual([303, "/console"])
        expect((yield* Pages.visit("POST", passkeyPath, { form })).status).toBe(403)
        expect((yield* World.journal(id)).at(-1)?.details).toMatchObject({
          second_factor: "passkey",
          without_password: true
        })
        const refused = [
          { origin: "http://evil.example" },
          { origin: "http://localhost:81" },
          { host: "evil.example" },
          { verified: false }
        ]
        for (const signing of refused) expect([signing, (yield* signIn(signing)).status]).toEqual([signing, 403])
        expect((yield* signIn({ counter: 5 })).status).toBe(303)
        expect((yield* signIn({ counter: 5 })).status).toBe(403)
        expect((yield* signIn({ counter: 6 })).status).toBe(303)
        // A challenge is answered within five minutes, and only where it was put.
        const old = Authenticator.answer(passkey, yield* Pages.visit("GET", passkeyPath), { counter: 7 })
        yield* TestClock.adjust("5 minutes")
        expect((yield* Pages.visit("POST", passkeyPath, { form: old })).status).toBe(403)
        const email = yield* Pages.emailOf(id, adminId)
        const pending = yield* Factors.begin(id, email)
        const step = yield* Pages.visit("GET", "/console/sign-in/second-factor", { cookie: pending })
        const asked = Authenticator.answer(passkey, step, { counter: 8 })
        expect((yield* Pages.visit("POST", passkeyPath, { form: asked })).status).toBe(403)
        const elsewhere = yield* Authenticator.givePasskey(id, adminId, { host: "console.example" })
        expect((yield* signIn({}, elsewhere)).status).toBe(403)
        for (const change of [{ disabled_at: new Date(0) }, { joined_at: null, disabled_at: null }]) {
          yield* World.set(id, "admin", adminId, change)
          expect((yield* signIn({ counter: 9 })).status).toBe(403)
        }
        yield* World.set(id, "admin", adminId, { joined_at: new Date(0) })
        // Another organization that keeps the same id gets nobody in, and keeps nobody out.
        const foreign = yield* World.makeOrganization()
        const planted = yield* Authenticator.givePasskey(foreign.id, foreign.admins.owner.id, { id: passkey.id })
        expect((yield* signIn({ counter: 10 })).status).toBe(303)
        const stolen = yield* signIn({ counter: 11 }, planted)
        const sessions = yield* World.query(
          foreign.id,
          (sql) => sql`select 1 from console_session where organization_id = ${foreign.id}`
        )
        expect([stolen.status, sessions.length]).toEqual([303, 1])
        expect(admins.owner.id).toBe(adminId)
      }))

    it.effect("get an admin in whom strangers keep out by wrong passwords and codes", () =>
      Effect.gen(function*() {
        const { adminId, email, id } = yield* stage()
        const passkey = yield* Authenticator.givePasskey(id, adminId)
        for (let round = 0; round < 2; round++) {
          const pending = yield* Factors.begin(id, email)
          for (let wrong = 0; wrong < 5; wrong++) yield* Factors.answer(pending, "000000")
        }
        for (let wrong = 0; wrong < 7; wrong++) {
          yield* Pages.signInWith({ organization: id, email, password: "wrong" })
        }
        const blocked = yield* Pages.signInWith({ organization: id, email, password: Pages.password })
        expect(blocked.status).toBe(429)
        const page = yield* Pages.visit("GET", passkeyPath)
        const done = yield* Pages.visit("POST", passkeyPath, { form: Authenticator.answer(passkey, page) })
        expect(done.status).toBe(303)
        expect((yield* waiting(id)).map(({ kind }) => kind)).toContain("second_factor_failed")
      }))
  })
})
