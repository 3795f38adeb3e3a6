import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Role } from "../../src/domain/Access.ts"
import { callback, challengeOf, makeVerifier, query, redeemWith, registerApplication } from "../oauth/support.ts"
import { forEachDatabase } from "../support/database.ts"
import * as Pages from "../support/pages.ts"
import * as World from "../support/world.ts"

const path = "/oauth/authorize"

/** An application and an admin of the role, signed in, who reaches two accounts and a department. */
const stage = Effect.fnUntraced(function*(params: Parameters<typeof query>[2] = {}, role: Role = "owner") {
  const { admins, id } = yield* World.makeOrganization()
  const department = yield* World.makeDepartment(id, "Sales")
  const accounts = [
    yield* World.makeAccount(id),
    yield* World.makeAccount(id, { facts: { department_id: department } })
  ]
  const admin = admins[role]
  const cookie = yield* Pages.signIn(id, admin.id)
  const application = yield* registerApplication({ client_name: "A <b>bold</b> \"app\"" })
  const verifier = makeVerifier()
  const asked = query(application, challengeOf(verifier), { scope: undefined, ...params })
  return { id, admin, admins, accounts, department, cookie, application, verifier, asked, url: `${path}?${asked}` }
})

const connections = (organizationId: string) =>
  World.query<Record<string, unknown>>(
    organizationId,
    (sql) => sql`select * from ai_connection where organization_id = ${organizationId}`
  )

const consent = Effect.fnUntraced(function*(url: string, cookie: string) {
  const page = yield* Pages.visit("GET", url, { cookie })
  return { page, ...Pages.formOf(page, path) }
})

const allow = { decision: "allow", scope_type: "accounts", scope: "org:read" }

describe("the consent page", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("cases 20, 21: an unknown application or address gets a page that helps, whoever asks, and no redirect", () =>
        Effect.gen(function*() {
          const { application, asked, cookie } = yield* stage()
          const queries = [
            "",
            asked.replace(application.client_id, "00000000-0000-0000-0000-000000000000"),
            `${asked}&client_id=${application.client_id}`,
            asked.replace("callback", "Callback"),
            asked.replace(encodeURIComponent(callback), encodeURIComponent(`${callback}?x=1`))
          ]
          for (const text of queries) {
            for (const visiting of [{ cookie }, {}]) {
              const page = yield* Pages.visit("GET", `${path}?${text}`, visiting)
              expect([text, page.status, page.location]).toEqual([text, 400, null])
              expect(page.text).toContain("Start again from the application.")
            }
          }
        }))

      it.effect("cases 30, 31: without a session any request leads to the sign-in, and back with the same query", () =>
        Effect.gen(function*() {
          const { asked, url } = yield* stage()
          for (const text of [url, `${url}&prompt=none`, url.replace("S256", "plain")]) {
            for (const method of ["GET", "POST"]) {
              const page = yield* Pages.visit(method, text, method === "POST" ? { form: allow } : {})
              expect(page.status).toBe(303)
              expect(page.location).toBe(`/console/sign-in?return_to=${encodeURIComponent(text)}`)
            }
          }
          const form = Pages.formOf(
            yield* Pages.visit("GET", `/console/sign-in?return_to=${encodeURIComponent(url)}`),
            "/console/sign-in"
          )
          expect(form.hidden).toEqual({ return_to: `${path}?${asked}` })
        }))

      it.effect("cases 23 to 29: with a session a bad request is told to the application by 303", () =>
        Effect.gen(function*() {
          const { cookie, url } = yield* stage()
          const page = yield* Pages.visit("GET", url.replace("S256", "plain"), { cookie })
          const location = new URL(page.location ?? "")
          expect([page.status, location.origin + location.pathname]).toEqual([303, callback])
          expect(location.searchParams.get("error")).toBe("invalid_request")
        }))

      it.effect("case 32: the page tells who asks and where the code goes, escaped, framed by nobody and kept by nobody", () =>
        Effect.gen(function*() {
          const { cookie, url } = yield* stage()
          const { page } = yield* consent(url, cookie)
          expect(page.status).toBe(200)
          expect(page.headers.get("x-frame-options")).toBe("DENY")
          expect(page.headers.get("cache-control")).toBe("no-store")
          expect(page.headers.get("referrer-policy")).toBe("no-referrer")
          const policy = page.headers.get("content-security-policy")
          expect(policy).toContain("default-src 'none'")
          expect(policy).toContain("frame-ancestors 'none'")
          expect(policy).toContain("form-action 'self' https:;")
          expect(page.text).toContain("A &lt;b&gt;bold&lt;/b&gt; &quot;app&quot;")
          expect(page.text).not.toContain("<b>")
          expect(page.text).toContain("<strong class=\"host\">app.example</strong>")
          expect(page.text).toContain("proves nothing")
        }))

      it.effect("case 27: without a scope all six are offered in plain words, and only the two that read are ticked", () =>
        Effect.gen(function*() {
          const { cookie, url } = yield* stage()
          const { markup } = yield* consent(url, cookie)
          const boxes = [...markup.matchAll(/name="scope" value="([^"]*)"( checked)?/g)].map(([, scope, on]) => [
            scope,
            on !== undefined
          ])
          expect(boxes).toEqual([
            ["archive:read", true],
            ["org:read", true],
            ["accounts:write", false],
            ["security:write", false],
            ["admins:write", false],
            ["archive:delete", false]
          ])
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

      it.effect("case 38: without a scope or an account nothing is granted, and a denial is told to the application", () =>
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

      it.effect("case 39: accounts that the admin does not reach are neither shown nor granted", () =>
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

      it.effect("all accounts that are reached now can be granted by one tick, and departments by theirs", () =>
        Effect.gen(function*() {
          const { accounts, cookie, department, id, url } = yield* stage()
          const { hidden } = yield* consent(url, cookie)
          yield* Pages.visit("POST", url, { cookie, form: { ...allow, ...hidden, everything: "accounts" } })
          yield* Pages.visit("POST", url, {
            cookie,
            form: { ...allow, ...hidden, scope_type: "departments", department, account: accounts[0]! }
          })
          const made = (yield* connections(id)).map(({ account_ids, department_ids, scope_type }) => ({
            account_ids,
            department_ids,
            scope_type
          }))
          expect(made).toContainEqual({
            scope_type: "accounts",
            account_ids: expect.arrayContaining([...accounts]),
            department_ids: []
          })
          expect(made).toContainEqual({ scope_type: "departments", account_ids: [], department_ids: [department] })
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
})
