import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Role } from "../../../../src/domain/people/Access.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import { at, day, hour, now } from "../../../support/stored.ts"
import * as World from "../../../support/world.ts"

const path = "/console/accounts"

const stage = Effect.fnUntraced(function*(role: Role = "owner") {
  yield* TestClock.setTime(now.getTime())
  const { admins, id } = yield* World.makeOrganization()
  const cookie = yield* Pages.signIn(id, admins[role].id)
  const visit = (to: string) => Pages.visit("GET", to, { cookie })
  return { id, admins, cookie, visit }
})

/** An account that a stranger has signed in to, beside the service and the holder. */
const watched = Effect.fnUntraced(function*(id: string, facts: Record<string, unknown> = {}) {
  const account = yield* World.makeLiveAccount(id, { first_name: "Ada" }, {
    facts: { connected_at: at(-2 * day), enforcement_active_at: at(-day), ...facts }
  })
  yield* World.addRows("session", id, [
    { account_id: account.id, id: "1", service: true, current: true, device_model: "Server", seen_at: at(-day) },
    { account_id: account.id, id: "2", baseline: true, device_model: "Phone", seen_at: at(-day) },
    {
      account_id: account.id,
      id: "3",
      device_model: "<img src=x>\u202e\u200b",
      country: "Nowhere",
      review_deadline: at(3 * hour),
      created_at: at(-hour),
      seen_at: at(-hour)
    }
  ])
  yield* World.set(id, "account", account.id, { enrolled_at: at(-2 * day) })
  return account
})

const rows = ({ text }: Pages.Page) =>
  [...text.matchAll(/<tr role="row">\s*<th role="rowheader"[^>]*><a href="[^"]*"><bdi dir="auto">([^<]*)/g)].map((
    [, name]
  ) => name)

describe("the pages of accounts", () => {
  layer(World.world(postgres))((it) => {
    it.effect("the list has every account with its status, and is narrowed by status, department and what is looked for", () =>
      Effect.gen(function*() {
        const { id, visit } = yield* stage()
        const empty = yield* visit(path)
        expect(empty.text).toContain("There is no account that you can access.")
        expect(empty.text).toContain("The chart begins with the first count.")
        const department = yield* World.makeDepartment(id, "Sales <b>")
        const make = (first_name: string, facts = {}) => World.makeAccount(id, { first_name, last_name: null, facts })
        yield* make("Ada")
        yield* make("Grace <i>x</i>", { paused_at: at(-hour), department_id: department })
        yield* make("Mary", { stopped_at: at(-hour), stop_reason: "session_lost" })
        const shown = (query: string) => Effect.map(visit(`${path}${query}`), rows)
        expect(yield* shown("")).toEqual(["Ada", "Grace &lt;i&gt;x&lt;/i&gt;", "Mary"])
        expect(yield* shown("?status=paused")).toEqual(["Grace &lt;i&gt;x&lt;/i&gt;"])
        expect(yield* shown(`?department=${department}`)).toEqual(["Grace &lt;i&gt;x&lt;/i&gt;"])
        expect(yield* shown("?find=mar")).toEqual(["Mary"])
        expect(yield* shown("?find=mar&status=paused")).toEqual([])
        // What nobody can mean narrows nothing.
        expect((yield* shown("?status=constructor&department=x&after=1&find=%00%20")).length).toBe(3)
        const page = yield* visit(path)
        for (const text of ["Protection stopped", "Paused", "Sales &lt;b&gt;", "<strong>3</strong>"]) {
          expect(page.text).toContain(text)
        }
        expect(page.text).not.toMatch(/<i>|<b>| style=|<script(?! src="http:\/\/localhost\/console\/refresh\.js)/)
        expect((yield* visit(`${path}?find=${"x".repeat(300)}`)).status).toBe(200)
      }))

    it.effect("a page is one request of its session, however many operations it calls, and the 121st in a minute is 429", () =>
      Effect.gen(function*() {
        const { id, visit } = yield* stage()
        const account = yield* watched(id)
        const sql = yield* SqlClient.SqlClient
        const [session] = yield* sql<{ id: string }>`select id from console_session where organization_id = ${id}`
        const counted = Effect.map(
          sql<{ hits: number }>`select cardinality(hits) as hits from rate_limit where key = ${session!.id}`,
          ([row]) => row?.hits
        )
        expect((yield* visit(path)).status).toBe(200)
        expect(yield* counted).toBe(1)
        expect((yield* visit(`${path}/${account.id}`)).status).toBe(200)
        expect(yield* counted).toBe(2)
        yield* World.spend(session!.id)
        const { status, text } = yield* visit(path)
        expect([status, text.includes("Over 120 requests a minute")]).toEqual([429, true])
      }))

    it.effect("a long list has pages", () =>
      Effect.gen(function*() {
        const { id, visit } = yield* stage()
        for (let n = 0; n < 51; n++) yield* World.makeAccount(id, { first_name: `N${100 + n}`, last_name: null })
        const first = yield* visit(path)
        expect(rows(first).length).toBe(50)
        const next = /<a class="button" href="([^"#]*)#list">Next page/.exec(first.text)?.[1]?.replaceAll("&amp;", "&")
        const second = yield* visit(next!)
        expect(rows(second)).toEqual(["N150"])
        expect(second.text).toContain("First page")
        expect(second.text).not.toContain("Next page")
      }))

    it.effect("what has to be reviewed comes first, and a session is approved or signed out from the account's page", () =>
      Effect.gen(function*() {
        const { cookie, id, visit } = yield* stage()
        const account = yield* watched(id)
        const list = yield* visit(path)
        expect(list.text).toContain("1 session waits for review")
        expect(list.text).toContain(">in 3 hours</time>")
        const own = `${path}/${account.id}`
        const page = yield* visit(own)
        expect(page.text).toContain("it is signed out")
        expect(page.text).toContain("<q class=\"claim\" dir=\"auto\">&lt;img src=x&gt;</q>")
        expect(page.text).toContain("title=\"2 March 2026 at 11:00 UTC\"")
        const approve = Pages.formOf(page, `${own}/approve-session`, "&lt;img")
        const signOut = Pages.formOf(page, `${own}/sign-out-session`, "&lt;img")
        // A token stands for its action, its account and its session alone.
        for (
          const form of [
            { ...approve.hidden, csrf: "" },
            { ...approve.hidden, about: "2" },
            { ...approve.hidden, csrf: signOut.hidden["csrf"]! }
          ]
        ) {
          expect((yield* Pages.visit("POST", approve.action, { cookie, form })).status).toBe(403)
        }
        expect(
          (yield* Pages.visit("POST", approve.action, {
            cookie,
            form: approve.hidden,
            headers: { origin: "https://evil.example" }
          })).status
        ).toBe(403)
        expect(yield* World.changes(id)).toEqual([])
        const done = yield* Pages.visit("POST", approve.action, { cookie, form: approve.hidden })
        expect([done.status, done.location]).toEqual([303, `${own}?done=session_approved`])
        const after = yield* visit(done.location!)
        expect(after.text).toContain("The session is approved and stays signed in.")
        expect(after.text).toContain("Session approved")
        expect((yield* World.changes(id)).map(({ action, via }) => [action, via])).toEqual([[
          "session.approved",
          "console"
        ]])
        // The messenger knows no such session: that is told on the page, in the operation's words.
        const gone = yield* Pages.visit("POST", signOut.action, { cookie, form: signOut.hidden })
        expect([gone.status, gone.text.includes("This was not done")]).toEqual([404, true])
      }))

    it.effect("everything that the page offers is done by its operation, and a refusal is shown in its words", () =>
      Effect.gen(function*() {
        const { cookie, id, visit } = yield* stage("superadmin")
        const account = yield* watched(id, {
          locked_at: at(-hour),
          lock_reason: "a stranger",
          enforcement_active_at: at(hour)
        })
        const department = yield* World.makeDepartment(id, "Sales")
        const own = `${path}/${account.id}`
        const send = Effect.fnUntraced(function*(action: string, values: Pages.Visiting["form"] = {}) {
          const { hidden } = Pages.formOf(yield* visit(own), `${own}/${action}`)
          return yield* Pages.visit("POST", `${own}/${action}`, { cookie, form: { ...hidden, ...values } })
        })
        const deeds: ReadonlyArray<readonly [string, Pages.Visiting["form"], string]> = [
          ["release-takeover-lock", {}, "takeover_lock_released"],
          ["security-lock", {}, "security_lock_enabled"],
          ["security-lock", {}, "security_lock_disabled"],
          ["sign-out-others", { keep: "none" }, "session_sign_out_queued"],
          ["department", { department_id: department }, "department_set"],
          ["role-label", { role_label: " Pilot " }, "role_label_set"],
          ["pause", {}, "paused"],
          ["resume", {}, "resumed"]
        ]
        for (const [action, values, done] of deeds) {
          const page = yield* send(action, values)
          expect([action, page.status, page.location]).toEqual([action, 303, `${own}?done=${done}`])
          expect((yield* visit(page.location!)).text).toContain("class=\"good\"")
        }
        expect((yield* World.changes(id)).map(({ action }) => action)).toEqual([
          "takeover.lock_released",
          "security_lock.set",
          "security_lock.set",
          "sessions.sign_out_queued",
          "account.department_set",
          "account.role_label_set",
          "account.paused",
          "account.resumed"
        ])
        const stale = Pages.formOf(yield* visit(own), `${own}/pause`)
        yield* send("pause")
        const twice = yield* Pages.visit("POST", stale.action, { cookie, form: stale.hidden })
        expect([twice.status, twice.text.includes("role=\"alert\"")]).toEqual([409, true])
        const long = yield* send("role-label", { role_label: "x".repeat(61) })
        expect([long.status, long.text.includes("This was not done")]).toEqual([400, true])
        expect((yield* visit(`${own}?done=toString`)).text).not.toContain("class=\"good\"")
      }))

    it.effect("a role sees what it may, and acts as far as its operations let it", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* stage()
        const account = yield* watched(id)
        const own = `${path}/${account.id}`
        const as = Effect.fnUntraced(function*(role: Role) {
          const cookie = yield* Pages.signIn(id, admins[role].id)
          return {
            cookie,
            list: yield* Pages.visit("GET", path, { cookie }),
            page: yield* Pages.visit("GET", own, { cookie })
          }
        })
        const owner = yield* as("owner")
        const form = Pages.formOf(owner.page, `${own}/pause`)
        const billing = yield* as("billing")
        expect([billing.list.status, billing.page.status]).toEqual([200, 200])
        expect(rows(billing.list)).toEqual(["Ada Lovelace"])
        // Only who does not see an account's events is told that there may be some.
        expect(owner.page.text).toContain("Nothing yet.")
        expect(billing.page.text).toContain("Nothing that you may see.")
        for (const hidden of ["&lt;img", "203.", "Pause protection", "Save label"]) {
          expect(billing.page.text).not.toContain(hidden)
        }
        // A form that was not offered is refused, by the token and by the operation alike.
        expect((yield* Pages.visit("POST", form.action, { cookie: billing.cookie, form: form.hidden })).status).toBe(
          403
        )
        const admin = yield* as("admin")
        expect([rows(admin.list), admin.page.status]).toEqual([[], 404])
        expect(admin.list.text).not.toContain("id=\"chart\"")
        yield* World.grant(id, admins.admin.id, { accounts: [account.id] })
        expect(rows((yield* as("admin")).list)).toEqual(["Ada Lovelace"])
        expect((yield* Pages.visit("GET", `${path}/x`, { cookie: owner.cookie })).status).toBe(404)
        expect((yield* Pages.visit("GET", own)).location).toBe(`/console/sign-in?return_to=${encodeURIComponent(own)}`)
        expect(yield* World.changes(id)).toEqual([])
      }))

    it.effect("what was counted is drawn without a script or a style of its own, and is in a table too", () =>
      Effect.gen(function*() {
        const { id, visit } = yield* stage()
        yield* World.makeAccount(id)
        yield* World.sample(id, [
          [at(-3 * day), { protected: 2, new_sign_in: 1 }],
          [at(-2 * day), { protected: 3 }],
          [at(-2 * day + hour), { protected: 3 }]
        ])
        const { headers, text } = yield* visit(path)
        const svgs = text.match(/<div class="on-(?:screen|telephone)"><svg aria-hidden="true"[\s\S]*?<\/svg>/g) ?? []
        expect(svgs.length).toBe(2)
        for (const svg of svgs) {
          expect(svg).not.toMatch(/style|script| href|NaN/)
          expect(svg).toContain("fill=\"var(--status-protected)\"")
          expect(svg).toContain("1 Mar")
          // Each time of equal numbers says them where a pointer rests on it.
          expect([...svg.matchAll(/<rect [^>]*><title>([^<]*)<\/title>/g)].map(([, said]) => said)).toEqual([
            "27 February 2026 at 12:00 UTC: New sign-in 1, Protected 2",
            "28 February 2026 at 12:00 UTC: Protected 3"
          ])
        }
        expect(headers.get("content-security-policy")).toContain("style-src 'self';")
        expect(text).toMatch(/27 February 2026 at 12:00 UTC<\/time><\/th><td>1<\/td><td>2<\/td>/)
      }))
  })
})
