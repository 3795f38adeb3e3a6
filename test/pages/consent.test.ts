import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Role, Scope } from "../../src/domain/Access.ts"
import { KnownAssistants } from "../../src/oauth/Ports.ts"
import {
  callback,
  challengeOf,
  connections,
  makeVerifier,
  query,
  redeemWith,
  registerApplication
} from "../oauth/support.ts"
import { asOwner, forEachDatabase } from "../support/database.ts"
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
          expect(page.text).toContain("<q class=\"claim\" dir=\"auto\">A &lt;b&gt;bold&lt;/b&gt; &quot;app&quot;</q>")
          expect(page.text).not.toContain("<b>")
          expect(page.text).toContain("<span class=\"host\" dir=\"ltr\">app.example</span>")
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

      it.effect("a name speaks nowhere in the console's own voice: no heading, two marks a letter, nothing hidden", () =>
        Effect.gen(function*() {
          const { cookie, url, application } = yield* stage()
          const claims: ReadonlyArray<readonly [string, string]> = [
            ["Bank”? Already approved. Allow “me", "Bank”? Already approved. Allow “me"],
            [`x${"\u0335".repeat(99)}`, "x\u0335\u0335"],
            ["\u05d0\u05d1 (allow) \u{1f600}", "\u05d0\u05d1 (allow) \u{1f600}"],
            ["</q></h1><script>", "&lt;/q&gt;&lt;/h1&gt;&lt;script&gt;"],
            ["n".repeat(100), `${"n".repeat(59)}…`]
          ]
          for (const [name, shown] of claims) {
            const { client_id } = yield* registerApplication({ client_name: name })
            const { page } = yield* consent(url.replace(application.client_id, client_id), cookie)
            expect([name, page.text.includes(`<q class="claim" dir="auto">${shown}</q>`)]).toEqual([name, true])
            const rest = page.text.replace(/<q class="claim"[\s\S]*?<\/q>/, "")
            expect(rest).toContain("<h1>Connect an application?</h1>")
            expect(rest).not.toContain(shown)
          }
        }))

      it.effect("a name of before, of which nothing is seen, is shown as none, and hidden characters are left out", () =>
        Effect.gen(function*() {
          const { cookie, url, id, application } = yield* stage()
          for (const [name, shown] of [["\u2800\u200b", "Unnamed application"], ["a\u202eb\u200bc", "abc"]]) {
            yield* asOwner((sql) => sql`update oauth_client set name = ${name!} where id = ${application.client_id}`)
            expect((yield* consent(url, cookie)).page.text).toContain(`<q class="claim" dir="auto">${shown}</q>`)
          }
          expect(yield* connections(id)).toEqual([])
        }))

      it.effect("an application whose address is known is told from one that is not by words and a sign", () =>
        Effect.gen(function*() {
          const { cookie, url } = yield* stage()
          const unknown = (yield* consent(url, cookie)).page.text
          expect(unknown).toContain("Unknown application: nobody here has checked who is behind it")
          expect(unknown).not.toContain("official address")
          const known = (yield* consent(url, cookie).pipe(
            Effect.provideService(KnownAssistants, new Map([[callback, "assistant_a" as const]]))
          )).page.text
          expect(known).toContain("The official address of Assistant A")
          expect(known).not.toContain("Unknown application")
        }))

      it.effect("the host stands whole on a line of its own: international names in ASCII, long ones with advice, one's own computer by that name", () =>
        Effect.gen(function*() {
          const { cookie, url, application } = yield* stage()
          const long = `login.app.example.${"a".repeat(63)}.${"b".repeat(63)}.evil.example`
          const hosts: ReadonlyArray<readonly [string, string, string]> = [
            ["https://xn--bcher-kva.example/cb", "xn--bcher-kva.example", "It acts as"],
            [`https://${long}/cb`, long, "Read this address to its end"],
            ["http://127.0.0.1:4711/cb", "127.0.0.1:4711", "A program on the computer that you use now."]
          ]
          for (const [address, host, said] of hosts) {
            const { client_id } = yield* registerApplication({ redirect_uris: [address] })
            const { page } = yield* consent(
              url.replace(application.client_id, client_id).replace(
                encodeURIComponent(callback),
                encodeURIComponent(address)
              ),
              cookie
            )
            expect(page.text).toContain(` dir="ltr">${host}</span>`)
            expect(page.text).toContain(said)
          }
        }))

      it.effect("scopes stand in groups, and what cannot be undone is never ticked beforehand, whatever is asked for", () =>
        Effect.gen(function*() {
          const { cookie, url } = yield* stage({ scope: Scope.literals.join(" ") })
          const { markup } = yield* consent(url, cookie)
          const groups = markup.split("<fieldset class=\"group ").slice(1).map((group) => [
            group.slice(0, group.indexOf("\"")),
            [...group.matchAll(/name="scope" value="([^"]*)"( checked)?/g)].map((
              [, scope, on]
            ) => [scope, on !== undefined])
          ])
          expect(groups).toEqual([
            ["read", [["archive:read", true], ["org:read", true]]],
            ["change", [["accounts:write", true], ["security:write", true], ["admins:write", true]]],
            ["irreversible", [["archive:delete", false]]]
          ])
          const wide = [
            ...markup.matchAll(/id="scope-(\S*)-hint">[^<]*<span class="wide">Also for the whole organization/g)
          ]
          expect(wide.map(([, scope]) => scope)).toEqual([
            "org-read",
            "accounts-write",
            "security-write",
            "admins-write"
          ])
        }))

      it.effect("a browser is led on by a page, and so is everybody to an address of their own computer", () =>
        Effect.gen(function*() {
          const { cookie, url, application, id } = yield* stage({ scope: "org:read" })
          const local = "http://127.0.0.1:4711/cb"
          const { client_id } = yield* registerApplication({ redirect_uris: [local] })
          const toLocal = url.replace(application.client_id, client_id)
            .replace(encodeURIComponent(callback), encodeURIComponent(local))
          const browser = { "sec-fetch-mode": "navigate", "sec-fetch-site": "same-origin" }
          const attempts: ReadonlyArray<readonly [string, string, Record<string, string>]> = [
            [url, callback, browser],
            [toLocal, local, browser],
            [toLocal, local, {}]
          ]
          for (const [address, target, headers] of attempts) {
            const page = yield* Pages.visit("GET", address, { cookie, headers })
            expect(page.headers.get("content-security-policy")).toContain("form-action 'self';")
            const { hidden } = Pages.formOf(page, path)
            for (const decision of ["allow", "deny"]) {
              const form = { ...allow, ...hidden, scope_type: "all", decision }
              const led = yield* Pages.visit("POST", address, { cookie, headers, form })
              expect([led.status, led.location, led.headers.get("cache-control"), led.headers.get("referrer-policy")])
                .toEqual([200, null, "no-store", "no-referrer"])
              const to = new URL(Pages.ledTo(led))
              expect([to.origin + to.pathname, to.searchParams.get("state")]).toEqual([target, "a state"])
              expect(to.searchParams.has(decision === "allow" ? "code" : "error")).toBe(true)
              expect(led.text).toContain(`<a class="button main" href="${target}?`)
            }
          }
          const refused = yield* Pages.visit("GET", url.replace("S256", "plain"), { cookie, headers: browser })
          expect([refused.status, new URL(Pages.ledTo(refused)).searchParams.get("error")]).toEqual([
            200,
            "invalid_request"
          ])
          expect((yield* connections(id)).length).toBe(3)
        }))

      it.effect("everything that was ticked stays after a wrong password, in every way of choosing", () =>
        Effect.gen(function*() {
          const { accounts, cookie, department, url } = yield* stage()
          const { hidden } = yield* consent(url, cookie)
          for (const by of ["all", "accounts", "departments"]) {
            const page = yield* Pages.visit("POST", url, {
              cookie,
              form: {
                ...hidden,
                decision: "allow",
                scope_type: by,
                account: accounts,
                department,
                scope: ["security:write", "archive:delete"],
                password: "wrong"
              }
            })
            expect(page.status).toBe(403)
            const ticked = [
              ...page.text.matchAll(
                /<input type="(?:checkbox|radio)" id="[^"]*" name="([^"]*)" value="([^"]*)" checked/g
              )
            ]
            expect(ticked.map(([, name, value]) => `${name} ${value}`).toSorted()).toEqual(
              [
                ...accounts.map((account) => `account ${account}`),
                `department ${department}`,
                "scope archive:delete",
                "scope security:write",
                `scope_type ${by}`
              ].toSorted()
            )
          }
        }))

      it.effect("of 3,000 accounts a hundred are listed, any is found, what is ticked stays, and the form stays small", () =>
        Effect.gen(function*() {
          const { cookie, id, url } = yield* stage()
          yield* World.query(id, (sql) =>
            sql`
            insert into account (organization_id, id, messenger_user_id, phone_number, first_name, name_key,
              monitoring_state, status, baselined)
            select ${id}, gen_random_uuid(), 'user ' || n, '+1999' || n, 'Name ' || n, 'name ' || n, 'active', 'protected', true
            from generate_series(1, 3000) as n`)
          const opened = yield* consent(url, cookie)
          const listed = (page: Pages.Page) => [...page.text.matchAll(/name="account" value="([^"]*)"( checked)?/g)]
          expect(listed(opened.page).length).toBe(100)
          expect(opened.page.text).toContain("100 of 3,002 accounts. Search to find others.")
          expect(opened.page.text).toContain("href=\"#scopes\">Skip the accounts</a>")
          const first = listed(opened.page)[0]![1]!
          const form = { ...allow, ...opened.hidden, account: first }
          const search = (text: string) =>
            Pages.visit("POST", url, { cookie, form: { ...form, decision: "search", find_account: text } })
          const found = yield* search("NAME 2999")
          expect(found.status).toBe(200)
          expect(listed(found).map(([, account, on]) => [account === first, on !== undefined])).toEqual([
            [true, true],
            [false, false]
          ])
          expect(found.text).toContain("value=\"NAME 2999\"")
          expect(listed(yield* search("<b>nobody")).length).toBe(1)
          expect((yield* search("nobody")).text).toContain("No other account is found.")
          for (const odd of ["\0", "%_\\", "'; drop table account", "\u{1f600}".repeat(100)]) {
            expect([odd, (yield* search(odd)).status]).toEqual([odd, 200])
          }
          const typed = yield* Pages.visit("POST", url, {
            cookie,
            form: { ...form, decision: "search", password: Pages.password, scope: "security:write" }
          })
          expect(typed.text).toContain("nothing is granted yet")
          expect(typed.text).not.toContain(Pages.password)
          expect(yield* connections(id)).toEqual([])

          const everything = { ...allow, ...opened.hidden, scope_type: "all", scope: "security:write" }
          const wrong = yield* Pages.visit("POST", url, { cookie, form: { ...everything, password: "wrong" } })
          expect([wrong.status, wrong.text.includes("value=\"all\" checked")]).toEqual([403, true])
          const right = yield* Pages.visit("POST", url, {
            cookie,
            form: { ...everything, ...Pages.formOf(wrong, path).hidden, password: Pages.password }
          })
          expect(right.status).toBe(303)
          const ids = yield* World.query<{ id: string }>(id, (sql) =>
            sql`
            select id from account where organization_id = ${id} order by id limit 501`)
          const many = yield* Pages.visit("POST", url, {
            cookie,
            form: { ...allow, ...opened.hidden, account: ids.map((row) => row.id) }
          })
          expect([many.status, many.text.includes("choose departments or all accounts instead")]).toEqual([422, true])
          expect(listed(many).filter(([, , on]) => on !== undefined).length).toBe(501)
          const most = yield* Pages.visit("POST", url, {
            cookie,
            form: { ...allow, ...opened.hidden, account: ids.slice(1).map((row) => row.id) }
          })
          expect(most.status).toBe(303)
          expect((yield* connections(id)).length).toBe(2)
        }))

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
})
