import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Scope } from "../../../../src/domain/people/Access.ts"
import { KnownAssistants } from "../../../../src/ports/oauth/OAuthPorts.ts"
import { callback, connections, registerApplication } from "../../../oauth/support.ts"
import * as Pages from "../../../support/http/pages.ts"
import { asOwner, postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"
import { allow, consent, path, stage } from "./consenting.ts"

describe("the consent page", () => {
  layer(World.world(postgres))((it) => {
    it.effect("cases 20, 21: an unknown application or address gets a page with advice, signed in or not, and no redirect", () =>
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

    it.effect("cases 23 to 29: with a session a bad request is reported to the application by 303", () =>
      Effect.gen(function*() {
        const { cookie, url } = yield* stage()
        const page = yield* Pages.visit("GET", url.replace("S256", "plain"), { cookie })
        const location = new URL(page.location ?? "")
        expect([page.status, location.origin + location.pathname]).toEqual([303, callback])
        expect(location.searchParams.get("error")).toBe("invalid_request")
      }))

    it.effect("case 32: the page shows who asks and where the code goes, escaped, never framed and never cached", () =>
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

    it.effect("an application with a known address is distinguished from one without by text and an icon", () =>
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

    it.effect("scopes are in groups, and what cannot be undone is never ticked beforehand, whatever is asked for", () =>
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
  })
})
