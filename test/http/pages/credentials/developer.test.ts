import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const path = "/console/developer"
const createPath = `${path}/api-keys`
const newPath = `${createPath}/new`

const stage = Effect.fnUntraced(function*(role: "owner" | "admin" = "owner") {
  const { admins, id } = yield* World.makeOrganization()
  const cookie = yield* Pages.signIn(id, admins[role].id)
  return { id, admins, admin: admins[role], cookie }
})

const developer = (cookie: string) => Pages.visit("GET", path, { cookie })

/** The form for a new key as it is now, filled in. */
const filled = Effect.fnUntraced(function*(cookie: string, values: NonNullable<Pages.Visiting["form"]> = {}) {
  const { hidden } = Pages.formOf(yield* Pages.visit("GET", newPath, { cookie }), createPath)
  return { ...hidden, label: "Nightly", scope: "org:read", expiry: "90", ...values }
})

const create = (cookie: string, values: NonNullable<Pages.Visiting["form"]> = {}) =>
  Effect.flatMap(filled(cookie, values), (form) => Pages.visit("POST", createPath, { cookie, form }))

const secretIn = ({ text }: Pages.Page) => /osc_live_[0-9A-Za-z]{49}/.exec(text)?.[0]

const keys = (organizationId: string, label = "Nightly") =>
  World.query<{ id: string; scopes: ReadonlyArray<string>; expires_at: Date | null; created_at: Date }>(
    organizationId,
    (sql) =>
      sql`select * from api_key where organization_id = ${organizationId} and label = ${label}
      order by scopes desc`
  )

describe("the Developer page", () => {
  layer(World.world(postgres))((it) => {
    it.effect("names the addresses of the service, a first request and the settings of an assistant, which can be copied", () =>
      Effect.gen(function*() {
        const { cookie } = yield* stage()
        const { text } = yield* developer(cookie)
        for (const path of ["/docs", "/openapi.json"]) {
          expect(text).toContain(`<a href="${World.baseUrl}${path}">${World.baseUrl}${path}</a>`)
          expect((yield* Pages.visit("GET", path)).status).toBe(200)
        }
        const blocks = [...text.matchAll(/<pre [^>]*><code translate="no">([^<]*)<\/code>/g)].map(([, block]) =>
          block!.replaceAll("&quot;", "\"")
        )
        expect(blocks[0]).toBe(`curl -H "Authorization: Bearer $KEY" ${World.baseUrl}/v1/organization`)
        expect(JSON.parse(blocks[1]!).mcpServers["security-console"]).toEqual({
          type: "http",
          url: `${World.baseUrl}/mcp`,
          headers: { Authorization: "Bearer YOUR_KEY" }
        })
      }))

    it.effect("S5.1-02, S5.1-05, case 68: a key is made with a label, scopes and an expiry, shown once, and works", () =>
      Effect.gen(function*() {
        const { admin, cookie, id } = yield* stage()
        const page = yield* create(cookie, { label: " A <b>key</b> " })
        expect(page.status).toBe(200)
        const secret = secretIn(page)!
        expect(page.text).toContain("cannot be shown again")
        expect(page.text).toContain("A &lt;b&gt;key&lt;/b&gt;")
        expect((yield* World.get("/v1/organization", secret)).status).toBe(200)
        expect(
          World.refusal(
            yield* World.get("/v1/organization", secret.slice(0, -1) + (secret.endsWith("a") ? "b" : "a"))
          )
        )
          .toEqual([401, "invalid_api_key"])
        expect(secretIn(yield* developer(cookie))).toBe(undefined)
        expect(JSON.stringify((yield* World.get("/v1/ai-connections", admin.key)).body)).not.toContain(
          secret.slice(9, 52)
        )
        const [key] = yield* keys(id, "A <b>key</b>")
        expect(key!.expires_at!.getTime() - key!.created_at.getTime()).toBe(Duration.toMillis("90 days"))
        expect(yield* World.changes(id)).toMatchObject([{
          action: "api_key.created",
          outcome: "done",
          actor_admin_id: admin.id,
          credential_kind: "console",
          via: "console",
          target_type: "api_key",
          target_id: key!.id,
          details: { label: "A <b>key</b>", scopes: "org:read", expires_at: key!.expires_at!.toISOString() }
        }])
      }))

    it.effect("S5.1-03: an expiry of days is kept to the millisecond, and never is never", () =>
      Effect.gen(function*() {
        const { cookie, id } = yield* stage()
        const week = secretIn(yield* create(cookie, { label: "Week", expiry: "7" }))!
        const never = secretIn(yield* create(cookie, { label: "Never", expiry: "never" }))!
        expect((yield* keys(id, "Never")).map(({ expires_at }) => expires_at)).toEqual([null])
        yield* TestClock.adjust(Duration.subtract(Duration.days(7), Duration.millis(1)))
        expect((yield* World.get("/v1/organization", week)).status).toBe(200)
        yield* TestClock.adjust("1 millis")
        expect((yield* World.get("/v1/organization", week)).status).toBe(401)
        yield* TestClock.adjust("3660 days")
        expect((yield* World.get("/v1/organization", never)).status).toBe(200)
      }))

    it.effect("S5.1-06, case 71: more than reading needs the password; without the right one no key is made", () =>
      Effect.gen(function*() {
        const { cookie, id } = yield* stage()
        for (const scope of ["accounts:write", "security:write", "admins:write", "archive:delete"]) {
          const none = yield* create(cookie, { scope: ["org:read", scope] })
          expect([none.status, none.text.includes("Enter your console password")]).toEqual([403, true])
        }
        const wrong = yield* create(cookie, { scope: "accounts:write", password: "wrong-secret" })
        expect([wrong.status, wrong.text.includes("The console password is incorrect.")]).toEqual([403, true])
        expect(wrong.text).not.toContain("wrong-secret")
        expect(wrong.text).toMatch(/value="accounts:write" checked/)
        expect(wrong.text).toContain("value=\"Nightly\"")
        expect(yield* keys(id)).toEqual([])
        expect((yield* create(cookie, { scope: ["archive:read", "org:read"] })).status).toBe(200)
        expect((yield* create(cookie, { scope: "accounts:write", password: Pages.password })).status).toBe(200)
        expect((yield* keys(id)).map(({ scopes }) => scopes)).toEqual([["archive:read", "org:read"], [
          "accounts:write"
        ]])
      }))

    it.effect("what is missing or wrong in the form is shown at its field, and what was typed stays", () =>
      Effect.gen(function*() {
        const { cookie, id } = yield* stage()
        const faulty: ReadonlyArray<readonly [string, Record<string, string | ReadonlyArray<string>>]> = [
          ["#label", { label: "  " }],
          ["#label", { label: "x".repeat(61) }],
          ["#label", { label: "a\u0000b" }],
          ["#scopes", { scope: [] }],
          ["#scopes", { scope: "everything" }],
          ["#expiry", { expiry: "0" }],
          ["#expiry", { expiry: "soon" }],
          ["#expiry", { expiry: "" }]
        ]
        for (const [field, values] of faulty) {
          const page = yield* create(cookie, values)
          expect([values, page.status, page.text.includes(`<a href="${field}">`)]).toEqual([values, 400, true])
          expect(page.text).toContain("<title>Problem: ")
        }
        expect(yield* World.changes(id)).toEqual([])
      }))

    it.effect("a form that is sent twice makes one key, and one of another session or site makes none", () =>
      Effect.gen(function*() {
        const { admins, cookie, id } = yield* stage()
        const other = yield* Pages.signIn(id, admins.superadmin.id)
        const form = yield* filled(cookie)
        for (
          const attempt of [
            { cookie, form: { ...form, csrf: "" } },
            { cookie: other, form },
            { cookie, form, headers: { origin: "https://evil.example" } },
            { cookie, form, headers: { "sec-fetch-site": "cross-site" } }
          ]
        ) {
          expect((yield* Pages.visit("POST", createPath, attempt)).status).toBe(403)
        }
        expect(yield* keys(id)).toEqual([])
        expect((yield* Pages.visit("POST", createPath, { cookie, form })).status).toBe(200)
        const again = yield* Pages.visit("POST", createPath, { cookie, form })
        expect([again.status, again.text.includes("This form has made a key already")]).toEqual([409, true])
        expect(again.text).toContain("value=\"Nightly\"")
        expect(secretIn(again)).toBe(undefined)
        expect((yield* keys(id)).length).toBe(1)
        const altered = { ...form, id: Pages.formOf(again, createPath).hidden["id"]! }
        expect((yield* Pages.visit("POST", createPath, { cookie, form: altered })).status).toBe(403)
        const second = { ...form, ...Pages.formOf(again, createPath).hidden }
        expect((yield* Pages.visit("POST", createPath, { cookie, form: second })).status).toBe(200)
        expect((yield* Pages.visit("POST", createPath, { form })).location).toContain("/console/sign-in")
      }))

    it.effect("a new key's last four characters are in its row, only on the page, and an older key shows none", () =>
      Effect.gen(function*() {
        const { admin, admins, cookie, id } = yield* stage("admin")
        const secret = secretIn(yield* create(cookie))!
        const row = (page: Pages.Page, label: string) =>
          page.text.split("<li id=").slice(1).find((text) => text.includes(`<bdi dir="auto">${label}</bdi>`))
        expect(row(yield* developer(cookie), "Nightly")).toContain(`<code>…${secret.slice(-4)}</code>`)
        const listed = yield* World.get("/v1/ai-connections", admin.key)
        expect(JSON.stringify(listed.body)).not.toContain(secret.slice(-4))
        const owners = yield* Pages.signIn(id, admins.owner.id)
        expect(row(yield* developer(owners), "Nightly")).toContain(`<code>…${secret.slice(-4)}</code>`)
        yield* World.query(id, (sql) => sql`update api_key set last_four = null where organization_id = ${id}`)
        expect(row(yield* developer(cookie), "Nightly")).not.toContain("Ends in")
      }))

    it.effect("only what the page has done is reported, whatever the URL says", () =>
      Effect.gen(function*() {
        const { cookie } = yield* stage()
        for (const done of ["constructor", "__proto__", "toString", "hasOwnProperty", "key-revoked%00", ""]) {
          const page = yield* Pages.visit("GET", `${path}?done=${done}`, { cookie })
          expect([done, page.status, page.text.includes("class=\"good\"")]).toEqual([done, 200, false])
        }
      }))

    it.effect("S5.1-09: a revoked key answers 401 at once, and its row says when", () =>
      Effect.gen(function*() {
        const { admin, cookie, id } = yield* stage()
        const secret = secretIn(yield* create(cookie))!
        const form = Pages.formOf(yield* developer(cookie), `${createPath}/revoke`, "Nightly")
        expect((yield* Pages.visit("POST", form.action, { cookie, form: { ...form.hidden, csrf: "" } })).status).toBe(
          403
        )
        expect(
          (yield* Pages.visit("POST", form.action, { cookie, form: { ...form.hidden, id: admin.keyId } })).status
        ).toBe(403)
        expect((yield* World.get("/v1/organization", secret)).status).toBe(200)
        const done = yield* Pages.visit("POST", form.action, { cookie, form: form.hidden })
        expect([done.status, done.location]).toEqual([303, `${path}?done=key-revoked`])
        expect((yield* World.get("/v1/organization", secret)).status).toBe(401)
        const page = yield* Pages.visit("GET", done.location!, { cookie })
        expect(page.text).toContain("The key is revoked.")
        expect(page.text).toContain("1 past key")
        expect((yield* World.changes(id)).map(({ action, via }) => [action, via])).toEqual([
          ["api_key.created", "console"],
          ["api_key.revoked", "console"]
        ])
      }))

    it.effect("a role sees and revokes its own keys alone, the owner everybody's", () =>
      Effect.gen(function*() {
        const { admins, cookie, id } = yield* stage("admin")
        const own = yield* developer(cookie)
        expect(own.text).toContain("admin key")
        expect(own.text).not.toContain("owner key")
        const owners = yield* Pages.signIn(id, admins.owner.id)
        const all = yield* developer(owners)
        expect(all.text).toContain("admin key")
        expect(all.text).toContain(yield* Pages.emailOf(id, admins.admin.id))
        const form = Pages.formOf(all, `${createPath}/revoke`, "Revoke <bdi dir=\"auto\">admin key")
        expect((yield* Pages.visit("POST", form.action, { cookie: owners, form: form.hidden })).status).toBe(303)
        expect((yield* World.get("/v1/organization", admins.admin.key)).status).toBe(401)
      }))

    it.effect("connections are listed with what they reach and do and when they were used, and disconnected", () =>
      Effect.gen(function*() {
        const { admin, cookie, id } = yield* stage()
        expect((yield* developer(cookie)).text).toContain("No application is connected.")
        const connection = crypto.randomUUID()
        yield* World.addRows("ai_connection", id, [{
          id: connection,
          admin_id: admin.id,
          kind: "oauth",
          label: "Helper <b>x</b>",
          client_name: "Helper <b>x</b>",
          client_host: "app.example",
          mode: "cloud",
          scopes: ["org:read"],
          scope_type: "accounts",
          created_at: new Date(0),
          last_used_at: new Date("2026-11-20T17:05:00Z")
        }])
        yield* World.makeAccount(id)
        yield* World.makeAccount(id)
        yield* World.query(
          id,
          (sql) =>
            sql`insert into ai_connection_account (organization_id, connection_id, account_id, place)
              select connected.organization_id, connected.id, account.id, 1
              from ai_connection connected join account on account.organization_id = connected.organization_id`
        )
        const page = yield* developer(cookie)
        expect(page.text).toContain("Unknown application")
        for (
          const text of [
            "Helper &lt;b&gt;x&lt;/b&gt;",
            "app.example",
            "2 accounts",
            "See the organization",
            "20 November 2026 at 17:05 UTC"
          ]
        ) {
          expect(page.text).toContain(text)
        }
        expect(page.text).not.toContain("<b>")
        const form = Pages.formOf(page, `${path}/connections/disconnect`)
        expect((yield* Pages.visit("POST", form.action, { cookie, form: { ...form.hidden, csrf: "x" } })).status)
          .toBe(403)
        const done = yield* Pages.visit("POST", form.action, { cookie, form: form.hidden })
        expect(done.location).toBe(`${path}?done=disconnected`)
        expect((yield* Pages.visit("GET", done.location!, { cookie })).text).toContain(
          "The application is disconnected."
        )
        const rows = yield* World.query<{ revoked_at: Date | null }>(
          id,
          (sql) => sql`select revoked_at from ai_connection where organization_id = ${id}`
        )
        expect(rows.map(({ revoked_at }) => revoked_at !== null)).toEqual([true])
        expect((yield* World.changes(id)).map(({ action, target_id, via }) => [action, target_id, via])).toEqual([
          ["ai_connection.revoked", connection, "console"]
        ])
      }))

    it.effect("connections that were never used are collapsed behind a line that counts them", () =>
      Effect.gen(function*() {
        const { admin, cookie, id } = yield* stage()
        const row = (name: string, used: Date | null) => ({
          id: crypto.randomUUID(),
          admin_id: admin.id,
          kind: "oauth",
          label: name,
          client_name: name,
          client_host: "app.example",
          mode: "cloud",
          scopes: ["org:read"],
          scope_type: "accounts",
          created_at: new Date(0),
          last_used_at: used
        })
        yield* World.addRows("ai_connection", id, [row("Idle", null), row("Busy", new Date(1)), row("Lazy", null)])
        const { text } = yield* developer(cookie)
        const folded = /<details class="folded"><summary>2 connections that were never used[\s\S]*$/.exec(text)?.[0] ??
          ""
        expect(["Idle", "Lazy", "Busy"].map((name) => folded.includes(`>${name}</q>`))).toEqual([true, true, false])
        expect(text).toContain(">Busy</q>")
      }))

    it.effect("an unknown host, a missing page and a failure answer what they should", () =>
      Effect.gen(function*() {
        const { cookie } = yield* stage()
        const strange = yield* Pages.visit("GET", path, { cookie, baseUrl: "http://elsewhere.test" })
        expect([strange.status, strange.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"])
        expect(strange.text).toContain("req_")
        const large = yield* Pages.visit("POST", createPath, { cookie, form: { label: "x".repeat(70_000) } })
        expect(large.status).toBe(400)
        expect((yield* Pages.visit("GET", "/console", {})).location).toBe("/console/sign-in?return_to=%2Fconsole")
      }))
  })
})
