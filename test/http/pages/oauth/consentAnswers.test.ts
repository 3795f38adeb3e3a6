import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { callback, challengeOf, connections, makeVerifier, redeemWith } from "../../../oauth/support.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"
import { allow, consent, stage } from "./consenting.ts"

describe("what is answered on the consent page", () => {
  layer(World.world(postgres))((it) => {
    it.effect("a second consent shows the connection that exists, and takes its place unless that is unticked", () =>
      Effect.gen(function*() {
        const { accounts, admins, cookie, id, url } = yield* stage({ scope: "org:read archive:read" })
        const shown = (page: Pages.Page) => [...page.text.matchAll(/name="replaces" value="([^"]*)"( checked)?/g)]
        const opened = yield* consent(url, cookie)
        expect(shown(opened.page)).toEqual([])
        const form = { ...allow, ...opened.hidden, account: accounts[0]! }
        expect((yield* Pages.visit("POST", url, { cookie, form })).status).toBe(303)
        const [first] = yield* connections(id)
        const { page } = yield* consent(url, cookie)
        expect(shown(page).map(([, one, on]) => [one, on])).toEqual([[first!["id"], " checked"]])
        for (const text of ["This application is connected already", "never used. May: See the organization."]) {
          expect(page.text).toContain(text)
        }
        const superadmin = yield* Pages.signIn(id, admins.superadmin.id)
        expect(shown((yield* consent(url, superadmin)).page)).toEqual([])

        const unticked = yield* Pages.visit("POST", url, { cookie, form: { ...form, scope: [] } })
        expect(shown(unticked).map(([, , on]) => on)).toEqual([undefined])
        expect((yield* Pages.visit("POST", url, { cookie, form })).status).toBe(303)
        const live = Effect.map(
          connections(id),
          (rows) => rows.filter(({ revoked_at }) => revoked_at === null).map((row) => String(row["id"]))
        )
        expect((yield* live).length).toBe(2)
        const replaces = yield* live
        expect((yield* Pages.visit("POST", url, { cookie, form: { ...form, replaces } })).status).toBe(303)
        const [last, ...others] = yield* live
        expect([others, replaces.includes(last!)]).toEqual([[], false])
        const theirs = yield* consent(url, superadmin)
        const foreign = { ...form, ...theirs.hidden, replaces: last! }
        expect((yield* Pages.visit("POST", url, { cookie: superadmin, form: foreign })).status).toBe(303)
        expect((yield* live).includes(last!)).toBe(true)
      }))

    it.effect("names of accounts and departments are text, set apart", () =>
      Effect.gen(function*() {
        const { cookie, id, url } = yield* stage()
        yield* World.makeAccount(id, { first_name: "<i>Eve</i>", last_name: "\u202Eterces" })
        yield* World.makeDepartment(id, "<u>x</u>\u05d0")
        const { page } = yield* consent(url, cookie)
        expect(page.text).toContain("<bdi dir=\"auto\">&lt;i&gt;Eve&lt;/i&gt; \u202Eterces</bdi>")
        expect(page.text).toContain("<bdi dir=\"auto\">&lt;u&gt;x&lt;/u&gt;\u05d0</bdi>")
      }))

    it.effect("case 33: a form without its token, of another request, session or site changes nothing", () =>
      Effect.gen(function*() {
        const { accounts, admins, cookie, id, url } = yield* stage()
        const other = yield* Pages.signIn(id, admins.superadmin.id)
        const { hidden } = yield* consent(url, cookie)
        const elsewhere = yield* consent(`${url}&nonce=1`, cookie)
        const theirs = yield* consent(url, other)
        const whole = { ...allow, account: accounts[0]! }
        const attempts: ReadonlyArray<Pages.Visiting> = [
          { form: whole },
          { form: { ...whole, csrf: "" } },
          { form: { ...whole, csrf: elsewhere.hidden["csrf"]! } },
          { form: { ...whole, csrf: theirs.hidden["csrf"]! } },
          { form: { ...whole, ...hidden }, headers: { origin: "https://evil.example" } },
          { form: { ...whole, ...hidden }, headers: { origin: "null" } },
          { form: { ...whole, ...hidden }, headers: { "sec-fetch-site": "cross-site" } },
          { form: { ...whole, ...hidden }, headers: { "sec-fetch-site": "same-site" } },
          { form: { ...whole, ...hidden, decision: "" } }
        ]
        for (const attempt of attempts) {
          const page = yield* Pages.visit("POST", url, { cookie, ...attempt })
          expect([attempt, page.status]).toEqual([attempt, 403])
        }
        expect(yield* connections(id)).toEqual([])
        expect((yield* Pages.visit("POST", url, { cookie, form: { ...whole, ...hidden } })).status).toBe(303)
      }))

    it.effect("case 34: a form whose query was altered is refused", () =>
      Effect.gen(function*() {
        const { accounts, application, cookie, id, url } = yield* stage({ scope: "org:read" })
        const { hidden } = yield* consent(url, cookie)
        const altered = [
          url.replace("a+state", "another"),
          url.replace(/code_challenge=[^&]*/, `code_challenge=${challengeOf(makeVerifier())}`),
          url.replace("org%3Aread", "archive%3Aread"),
          url.replace("%2Fv1", "%2Fmcp"),
          `${url}&x=1`
        ]
        for (const text of altered) {
          expect(text).not.toBe(url)
          const page = yield* Pages.visit("POST", text, {
            cookie,
            form: { ...allow, ...hidden, account: accounts[0]! }
          })
          expect([text, page.status]).toEqual([text, 403])
        }
        const address = url.replace("callback", "other")
        expect((yield* Pages.visit("POST", address, { cookie, form: { ...allow, ...hidden } })).status).toBe(400)
        expect(yield* connections(id)).toEqual([])
        expect(application.client_id).toBeDefined()
      }))

    it.effect("S5.2-15, S5.2-16, cases 35, 37, 40: what is ticked is granted without a password when it only reads, and nothing else", () =>
      Effect.gen(function*() {
        const { accounts, application, cookie, id, url, verifier } = yield* stage({ scope: "org:read archive:read" })
        const { hidden, markup } = yield* consent(url, cookie)
        expect(markup).not.toContain("Console password")
        const page = yield* Pages.visit("POST", url, {
          cookie,
          form: { ...allow, ...hidden, scope: ["org:read", "admins:write"], account: accounts[1]!, department: "x" }
        })
        const location = new URL(page.location ?? "")
        expect([page.status, location.origin + location.pathname]).toEqual([303, callback])
        expect([location.searchParams.get("state"), location.searchParams.get("iss")]).toEqual([
          "a state",
          World.baseUrl
        ])
        expect(yield* connections(id)).toMatchObject([{
          kind: "oauth",
          client_host: "app.example",
          client_known: null,
          scopes: ["org:read"],
          scope_type: "accounts",
          account_ids: [accounts[1]],
          department_ids: []
        }])
        const tokens = yield* redeemWith({ application, code: location.searchParams.get("code") ?? "", verifier })
        const listed = yield* World.get("/v1/accounts", tokens.body.access_token)
        expect(listed.body.data.map((account: { id: string }) => account.id)).toEqual([accounts[1]])
      }))

    it.effect("S5.2-17, S5.3-03, case 36: a scope that writes needs the password, and a wrong one leaves everything as it was typed", () =>
      Effect.gen(function*() {
        const { accounts, cookie, id, url } = yield* stage()
        const { hidden, markup } = yield* consent(url, cookie)
        expect(markup).toContain("Console password")
        const form = { ...allow, ...hidden, scope: ["org:read", "security:write"], account: accounts[0]! }
        for (const password of ["", "wrong-secret"]) {
          const page = yield* Pages.visit("POST", url, { cookie, form: { ...form, password } })
          expect([page.status, page.location]).toEqual([403, null])
          expect(page.text).toContain("href=\"#password\"")
          expect(page.text).not.toContain("wrong-secret")
          expect(page.text).toMatch(/value="security:write" checked/)
          expect(page.text).toMatch(new RegExp(`value="${accounts[0]}" checked`))
          expect(page.text).not.toMatch(/value="archive:read" checked/)
        }
        expect(yield* connections(id)).toEqual([])
        for (let failure = 2; failure < 6; failure++) {
          yield* Pages.visit("POST", url, { cookie, form: { ...form, password: "no" } })
        }
        const waiting = yield* Pages.visit("POST", url, { cookie, form: { ...form, password: Pages.password } })
        expect([waiting.status, waiting.headers.get("retry-after")]).toEqual([429, "2"])
        expect(yield* connections(id)).toEqual([])
        yield* TestClock.adjust("2 seconds")
        const page = yield* Pages.visit("POST", url, { cookie, form: { ...form, password: Pages.password } })
        expect(page.status).toBe(303)
        expect((yield* connections(id)).map(({ scopes }) => scopes)).toEqual([["org:read", "security:write"]])
      }))

    it.effect("case 38: without a scope or an account nothing is granted, and a denial is reported to the application", () =>
      Effect.gen(function*() {
        const { accounts, cookie, id, url } = yield* stage()
        const { hidden } = yield* consent(url, cookie)
        const nothing = yield* Pages.visit("POST", url, {
          cookie,
          form: { ...hidden, decision: "allow", scope_type: "accounts", account: accounts[0]! }
        })
        expect([nothing.status, nothing.text.includes("href=\"#scopes\"")]).toEqual([422, true])
        const nobody = yield* Pages.visit("POST", url, { cookie, form: { ...allow, ...hidden } })
        expect([nobody.status, nobody.text.includes("href=\"#reach\"")]).toEqual([422, true])
        const denied = yield* Pages.visit("POST", url, { cookie, form: { ...hidden, decision: "deny" } })
        const answer = new URL(denied.location ?? "").searchParams
        expect([denied.status, answer.get("error"), answer.get("state"), answer.get("iss")])
          .toEqual([303, "access_denied", "a state", World.baseUrl])
        expect(yield* connections(id)).toEqual([])
      }))

    it.effect("case 39: accounts that the admin cannot access are neither shown nor granted", () =>
      Effect.gen(function*() {
        const { accounts, admin, cookie, department, id, url } = yield* stage({}, "admin")
        const foreign = yield* World.makeOrganization()
        const theirs = yield* World.makeAccount(foreign.id)
        yield* World.grant(id, admin.id, { accounts: [accounts[0]!] })
        const { hidden, page } = yield* consent(url, cookie)
        expect(page.text).toContain(accounts[0])
        expect(page.text).not.toContain(accounts[1])
        for (const account of [accounts[1]!, theirs, "not-an-id", [accounts[0]!, accounts[1]!]]) {
          const refused = yield* Pages.visit("POST", url, { cookie, form: { ...allow, ...hidden, account } })
          expect([account, refused.status]).toEqual([account, 404])
        }
        const form = { ...allow, ...hidden, scope_type: "departments", department }
        expect((yield* Pages.visit("POST", url, { cookie, form })).status).toBe(404)
        expect(yield* connections(id)).toEqual([])
      }))

    it.effect("all accounts can be granted by one tick, as a rule, and departments by theirs", () =>
      Effect.gen(function*() {
        const { accounts, cookie, department, id, url } = yield* stage()
        const { hidden } = yield* consent(url, cookie)
        yield* Pages.visit("POST", url, { cookie, form: { ...allow, ...hidden, scope_type: "all" } })
        yield* Pages.visit("POST", url, {
          cookie,
          form: { ...allow, ...hidden, scope_type: "departments", department, account: accounts[0]! }
        })
        const made = (yield* connections(id)).map(({ account_ids, all_accounts, department_ids, scope_type }) => ({
          all_accounts,
          account_ids,
          department_ids,
          scope_type
        }))
        expect(made).toContainEqual({
          scope_type: "accounts",
          all_accounts: true,
          account_ids: [],
          department_ids: []
        })
        expect(made).toContainEqual({
          scope_type: "departments",
          all_accounts: false,
          account_ids: [],
          department_ids: [department]
        })
      }))

    it.effect("case 41: an admin who was disabled after the page was shown gets no further", () =>
      Effect.gen(function*() {
        const { accounts, admin, cookie, id, url } = yield* stage({}, "superadmin")
        const { hidden } = yield* consent(url, cookie)
        yield* World.set(id, "admin", admin.id, { disabled_at: new Date(0) })
        const page = yield* Pages.visit("POST", url, { cookie, form: { ...allow, ...hidden, account: accounts[0]! } })
        expect([page.status, page.location?.startsWith("/console/sign-in")]).toEqual([303, true])
        expect(yield* connections(id)).toEqual([])
      }))

    it.effect("an organization that was wound down connects nothing", () =>
      Effect.gen(function*() {
        const { cookie, id, url } = yield* stage()
        yield* World.set(id, "organization", id, { closed_at: new Date(0) })
        const page = yield* Pages.visit("GET", url, { cookie })
        expect([page.status, page.text.includes("This organization is closed")]).toEqual([403, true])
      }))
  })
})
