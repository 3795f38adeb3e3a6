import { describe, expect, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const developer = "/console/developer"
const home = "/console"

const isSignedIn = (cookie: string, visiting: Pages.Visiting = {}) =>
  Effect.map(Pages.visit("GET", developer, { ...visiting, cookie }), ({ status }) => status === 200)

const sessions = (organizationId: string) =>
  World.query<{ digest: string }>(
    organizationId,
    (sql) => sql`select * from console_session where organization_id = ${organizationId}`
  )

describe("signing in", () => {
  layer(World.world(postgres))((it) => {
    it.effect("who is not signed in is led to the sign-in, and from there to where they wanted to go", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const first = yield* Pages.visit("GET", developer)
        expect([first.status, first.location]).toEqual([
          303,
          `/console/sign-in?return_to=${encodeURIComponent(developer)}`
        ])
        const form = Pages.formOf(yield* Pages.visit("GET", first.location!), "/console/sign-in")
        expect(form.hidden).toEqual({ return_to: developer })
        for (const label of ["Organization", "Email address", "Console password"]) {
          expect(form.markup).toContain(label)
        }
        yield* Pages.givePassword(id, admins.owner.id)
        const email = yield* Pages.emailOf(id, admins.owner.id)
        const done = yield* Pages.signInWith(
          { organization: ` ${id.toUpperCase()} `, email: email.toUpperCase(), password: Pages.password },
          { returnTo: "/oauth/authorize?client_id=1" }
        )
        expect([done.status, done.location]).toEqual([303, "/oauth/authorize?client_id=1"])
        const page = yield* Pages.visit("GET", developer, { cookie: Pages.cookieOf(done) })
        expect(page.status).toBe(200)
        expect(page.text).toContain(email)
        const again = yield* Pages.visit("GET", "/console/sign-in", { cookie: Pages.cookieOf(done) })
        expect([again.status, again.location]).toEqual([303, home])
      }))

    it.effect("a page that is asked for with filters is returned to with them", () =>
      Effect.gen(function*() {
        const page = yield* Pages.visit("GET", "/console/accounts?status=paused&q=a%26b&unattended=1&done=paused")
        expect(page.location).toBe(
          `/console/sign-in?return_to=${encodeURIComponent("/console/accounts?status=paused&q=a%26b")}`
        )
        expect(Pages.formOf(yield* Pages.visit("GET", page.location!), "/console/sign-in").hidden).toEqual({
          return_to: "/console/accounts?status=paused&q=a%26b"
        })
      }))

    it.effect("the cookie holds 256 random bits that the database does not, and nothing of it reads in a script", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const email = yield* Pages.emailOf(id, admins.owner.id)
        const page = yield* Pages.signInWith({ organization: id, email, password: Pages.password })
        expect(page.headers.get("set-cookie")).toMatch(
          /^console=[A-Za-z0-9_-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax, console-browser=[A-Za-z0-9_-]{43}; Max-Age=15552000; Path=\/; HttpOnly; SameSite=Lax$/
        )
        const [, secret = ""] = cookie.split("=")
        expect(JSON.stringify(yield* sessions(id))).not.toContain(secret)
        expect((yield* sessions(id)).length).toBe(2)
      }))

    it.effect("every sign-in begins a session of its own and ends the one before in the same browser", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const first = yield* Pages.signIn(id, admins.owner.id)
        const second = yield* Pages.signIn(id, admins.owner.id, { cookie: first })
        expect(second).not.toBe(first)
        expect([yield* isSignedIn(first), yield* isSignedIn(second)]).toEqual([false, true])
        expect((yield* sessions(id)).length).toBe(1)
      }))

    it.effect("a wrong password, an unknown address or organization, a disabled and an invited admin are refused alike", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const other = yield* World.makeOrganization()
        yield* Effect.forEach(Object.values(admins), (admin) => Pages.givePassword(id, admin.id))
        yield* World.set(id, "admin", admins.admin.id, { disabled_at: new Date(0) })
        yield* World.set(id, "admin", admins.billing.id, { joined_at: null })
        yield* World.set(id, "admin", admins.archive.id, { password_hash: null })
        const owner = yield* Pages.emailOf(id, admins.owner.id)
        const attempts = [
          { organization: id, email: owner, password: "wrong" },
          { organization: id, email: owner, password: "" },
          { organization: id, email: owner, password: "x".repeat(1025) },
          { organization: id, email: "nobody@example.com", password: Pages.password },
          { organization: other.id, email: owner, password: Pages.password },
          { organization: "nowhere", email: owner, password: Pages.password },
          { organization: "no\u0000where", email: owner, password: Pages.password },
          { organization: id, email: yield* Pages.emailOf(id, admins.admin.id), password: Pages.password },
          { organization: id, email: yield* Pages.emailOf(id, admins.billing.id), password: Pages.password },
          { organization: id, email: yield* Pages.emailOf(id, admins.archive.id), password: Pages.password }
        ]
        for (const attempt of attempts) {
          const page = yield* Pages.signInWith(attempt)
          expect([attempt, page.status, page.headers.get("set-cookie")]).toEqual([attempt, 403, null])
          expect(page.text).toContain("Organization, email address and password do not belong together.")
          if (attempt.password !== "") expect(page.text).not.toContain(attempt.password)
        }
        expect(yield* sessions(id)).toEqual([])
      }))

    it.effect("a session ends after 30 minutes without a visit, and 12 hours after the sign-in", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const idle = yield* Pages.signIn(id, admins.owner.id)
        yield* TestClock.adjust("1799999 millis")
        expect(yield* isSignedIn(idle)).toBe(true)
        yield* TestClock.adjust("30 minutes")
        expect(yield* isSignedIn(idle)).toBe(false)
        const busy = yield* Pages.signIn(id, admins.owner.id)
        for (let quarter = 0; quarter < 47; quarter++) {
          yield* TestClock.adjust("15 minutes")
          expect(yield* isSignedIn(busy)).toBe(true)
        }
        yield* TestClock.adjust("899999 millis")
        expect(yield* isSignedIn(busy)).toBe(true)
        yield* TestClock.adjust("1 millis")
        expect(yield* isSignedIn(busy)).toBe(false)
      }))

    it.effect("a session is ended by signing out, by a changed password and by disabling the admin", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        yield* TestClock.adjust("1 minute")
        const out = yield* Pages.signIn(id, admins.owner.id)
        const form = Pages.formOf(yield* Pages.visit("GET", developer, { cookie: out }), "/console/sign-out")
        const forged = yield* Pages.visit("POST", "/console/sign-out", { cookie: out, form: { csrf: "x" } })
        expect([forged.status, yield* isSignedIn(out)]).toEqual([403, true])
        const left = yield* Pages.visit("POST", form.action, { cookie: out, form: form.hidden })
        expect([left.status, left.headers.get("set-cookie")]).toEqual([
          303,
          "console=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"
        ])
        expect(yield* isSignedIn(out)).toBe(false)

        const changed = yield* Pages.signIn(id, admins.superadmin.id)
        yield* World.set(id, "admin", admins.superadmin.id, {
          password_changed_at: new Date((yield* Clock.currentTimeMillis) + 1)
        })
        expect(yield* isSignedIn(changed)).toBe(false)

        const disabled = yield* Pages.signIn(id, admins.admin.id)
        yield* World.set(id, "admin", admins.admin.id, { disabled_at: new Date(0) })
        expect(yield* isSignedIn(disabled)).toBe(false)
      }))

    it.effect("return_to never redirects out of the console", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const foreign = [
          "https://evil.example/",
          "//evil.example/oauth/authorize",
          "/\\evil.example/oauth/authorize",
          "/oauth/authorize\r\nSet-Cookie: a=b",
          "/oauth/authorize/../../evil",
          "/oauth/token",
          "/v1/organization",
          "javascript:alert(1)",
          "/\tevil",
          "/console/sign-out",
          "/console/developer/../sign-in",
          ""
        ]
        for (const text of foreign) {
          const page = yield* Pages.visit("GET", `/console/sign-in?return_to=${encodeURIComponent(text)}`, { cookie })
          expect([text, page.location]).toEqual([text, home])
          yield* Pages.givePassword(id, admins.owner.id)
          const email = yield* Pages.emailOf(id, admins.owner.id)
          const signed = yield* Pages.signInWith({ organization: id, email, password: Pages.password }, {
            returnTo: text
          })
          expect([text, signed.location]).toEqual([text, home])
        }
      }))

    it.effect("a form that another site sends signs nobody in", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        yield* Pages.givePassword(id, admins.owner.id)
        const email = yield* Pages.emailOf(id, admins.owner.id)
        const values = { organization: id, email, password: Pages.password }
        const foreign: ReadonlyArray<Record<string, string>> = [
          { origin: "https://evil.example" },
          { origin: "null" },
          { origin: World.baseUrl, "sec-fetch-site": "cross-site" },
          { origin: World.baseUrl, "sec-fetch-site": "same-site" },
          { "sec-fetch-site": "none" },
          { "content-type": "text/plain" }
        ]
        for (const headers of foreign) {
          const page = yield* Pages.signInWith(values, { headers })
          expect([headers, page.status, page.headers.get("set-cookie")]).toEqual([headers, 403, null])
        }
        const own: ReadonlyArray<Record<string, string>> = [
          { origin: World.baseUrl, "sec-fetch-site": "same-origin" },
          { origin: "null", "sec-fetch-site": "same-origin" },
          { origin: World.baseUrl }
        ]
        for (const headers of own) expect((yield* Pages.signInWith(values, { headers })).status).toBe(303)
      }))

    it.effect("every page says that nothing runs in it, frames it or keeps it", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const answers = [
          yield* Pages.visit("GET", developer, { cookie }),
          yield* Pages.visit("GET", developer),
          yield* Pages.visit("GET", "/console/sign-in"),
          yield* Pages.visit("GET", "/console"),
          yield* Pages.visit("GET", "/oauth/authorize"),
          yield* Pages.visit("POST", "/console/sign-in", { form: {} }),
          yield* Pages.visit("POST", "/console/sign-out", { cookie, form: { csrf: "x" } })
        ]
        for (const { headers, text } of answers) {
          expect(headers.get("content-security-policy")).toBe(
            "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
          )
          expect(headers.get("x-frame-options")).toBe("DENY")
          expect(headers.get("referrer-policy")).toBe("no-referrer")
          expect(headers.get("cache-control")).toBe("no-store")
          expect(headers.get("x-content-type-options")).toBe("nosniff")
          expect(headers.get("cross-origin-opener-policy")).toBe("same-origin")
          expect(headers.get("permissions-policy")).toMatch(/camera=\(\), .*geolocation=\(\)/)
          expect(headers.get("strict-transport-security")).toBe(null)
          expect(headers.get("access-control-allow-origin")).toBe(null)
          expect(text.replaceAll(new RegExp(`${World.baseUrl}(?=[/<\\s])`, "g"), "")).not.toMatch(
            /<script|\sstyle=|\son\w+=|<img|https?:/
          )
        }
        const style = yield* Pages.visit("GET", /href="([^"]*style[^"]*)"/.exec(answers[0]!.text)![1]!)
        expect([style.status, style.headers.get("content-type")]).toEqual([200, "text/css; charset=utf-8"])
      }))

    it.effect("signing in and out is journaled as the admin's own act, with the browser and where it came from", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const headers = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" }
        const cookie = yield* Pages.signIn(id, admins.billing.id, { headers })
        const page = yield* Pages.visit("GET", developer, { cookie })
        const form = Pages.formOf(page, "/console/sign-out")
        yield* Pages.visit("POST", "/console/sign-out", { cookie, form: form.hidden })
        const journal = yield* World.journal(id)
        expect(journal).toMatchObject([
          { action: "console.signed_in", details: { browser: "Firefox on Linux", known_browser: false } },
          { action: "console.signed_out" }
        ])
        for (const event of journal) {
          expect(event).toMatchObject({
            outcome: "done",
            actor_admin_id: admins.billing.id,
            credential_kind: "console",
            via: "console",
            target_id: admins.billing.id
          })
        }
        const seen = yield* World.get("/v1/journal?action=console.*", admins.billing.key)
        expect(seen.body.data.length).toBe(2)
        expect((yield* World.get("/v1/journal?action=console.*", admins.admin.key)).body.data).toEqual([])
      }))

    it.effect("S5.4-03: the cookie opens no operation of the API, and the API sets none", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const answer = yield* World.send("GET", "/v1/organization", { headers: { cookie } })
        expect([answer.status, answer.headers.get("set-cookie")]).toEqual([401, null])
        expect((yield* World.get("/v1/organization", admins.owner.key)).headers.get("set-cookie")).toBe(null)
      }))

    it.effect("a duplicate cookie signs nobody in", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        expect(yield* isSignedIn(`other=1; ${cookie}`)).toBe(true)
        expect(yield* isSignedIn(`console=planted; ${cookie}`)).toBe(false)
      }))
  })

  const baseUrl = "https://console.acme.test/security"
  const acme = World.freshId()
  layer(World.world(postgres, [
    { baseUrl: "https://console.test", organizationId: null },
    { baseUrl, organizationId: OrganizationId.make(acme) }
  ]))((it) => {
    it.effect("over https the cookie is bound to the host, and an organization's own site asks for no organization and knows no other", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization({}, acme)
        const other = yield* World.makeOrganization()
        const main = { baseUrl: "https://console.test" }
        const cookie = yield* Pages.signIn(id, admins.owner.id, { baseUrl })
        const foreign = yield* Pages.signIn(other.id, other.admins.owner.id, main)
        expect(cookie).toMatch(/^__Host-console=/)
        const shown = yield* Pages.visit("GET", "/console/sign-in", { baseUrl })
        expect(shown.text).not.toContain("Organization</label>")
        expect(Pages.formOf(shown, "/security/console/sign-in").hidden).toEqual({ return_to: home })
        const email = yield* Pages.emailOf(id, admins.owner.id)
        const signed = yield* Pages.signInWith({ email, password: Pages.password }, { baseUrl })
        expect(signed.location).toBe(`/security${home}`)
        expect(signed.headers.get("set-cookie")).toMatch(
          /^__Host-console=[^,]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax, __Host-console-browser=[^,]{43}; Max-Age=15552000; Path=\/; HttpOnly; Secure; SameSite=Lax$/
        )
        const elsewhere = yield* Pages.emailOf(other.id, other.admins.owner.id)
        const refused = yield* Pages.signInWith({
          organization: other.id,
          email: elsewhere,
          password: Pages.password
        }, { baseUrl })
        expect(refused.status).toBe(403)
        expect(yield* isSignedIn(cookie, { baseUrl })).toBe(true)
        expect(yield* isSignedIn(cookie, main)).toBe(true)
        expect(yield* isSignedIn(foreign, { baseUrl })).toBe(false)
        expect(yield* isSignedIn(foreign, main)).toBe(true)
        const answers = [
          shown,
          yield* Pages.visit("GET", "/v1/organization", main),
          yield* Pages.visit("GET", "/nowhere", main)
        ]
        for (const { headers } of answers) {
          expect(headers.get("strict-transport-security")).toBe("max-age=63072000")
          expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'")
          expect(headers.get("x-content-type-options")).toBe("nosniff")
        }
        const unknown = yield* Pages.visit("GET", "/v1/organization", { headers: { host: "evil.example" } })
        expect(unknown.headers.get("strict-transport-security")).toBe(null)
      }))
  })
})
