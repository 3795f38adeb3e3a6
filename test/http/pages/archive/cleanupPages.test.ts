import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeCleanup } from "../../../support/archive/cleanups.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const path = "/console/archive-cleanups"

describe("the pages of cleanups", () => {
  layer(World.world(postgres))((it) => {
    it.effect("say when a cleanup of the retention begins to delete, until which it can be cancelled", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization({ archive_first_record_at: new Date(0) })
        const account = yield* World.makeAccount(id)
        const cleanup = yield* makeCleanup(id, [account], "queued")
        yield* World.query<object>(
          id,
          (sql) =>
            sql`update archive_cleanup set not_before = ${new Date(7 * 86_400_000)}, created_by = null
              where organization_id = ${id}`
        )
        const cookie = yield* Pages.signIn(id, admins.superadmin.id)
        const see = (to: string) => Effect.map(Pages.visit("GET", to, { cookie }), ({ text }) => text)
        const waits = "The retention begins to delete this on <time datetime=\"1970-01-08T00:00:00.000Z\">"
        for (const page of [path, `${path}/${cleanup}`]) {
          const text = yield* see(page)
          expect([page, text.includes(waits), text.includes("Waiting")]).toEqual([page, true, true])
        }
        const cancel = `${path}/${cleanup}/cancel`
        const { hidden } = Pages.formOf(yield* Pages.visit("GET", `${path}/${cleanup}`, { cookie }), cancel)
        expect((yield* Pages.visit("POST", cancel, { cookie, form: hidden })).status).toBe(303)
        const after = yield* see(`${path}/${cleanup}`)
        expect([after.includes(waits), after.includes("Cancelled")]).toEqual([false, true])

        const later = yield* makeCleanup(id, [account], "queued")
        yield* World.query<object>(
          id,
          (sql) => sql`update archive_cleanup set not_before = ${new Date(60_000)} where id = ${later}`
        )
        expect(yield* see(`${path}/${later}`)).toContain("Waiting")
        yield* TestClock.adjust("1 minute")
        expect(yield* see(`${path}/${later}`)).toContain("Begins soon")
      }))

    it.effect("set the retention, also by licence, and show it", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization({ archive_first_record_at: new Date(0) })
        const cookie = yield* Pages.signIn(id, admins.superadmin.id)
        const retention = `${path}/retention`
        const set = Effect.fnUntraced(function*(days: Readonly<Record<string, string>>) {
          const { hidden } = Pages.formOf(yield* Pages.visit("GET", path, { cookie }), retention)
          return yield* Pages.visit("POST", retention, { cookie, form: { ...hidden, ...days } })
        })
        const none = { archive_days: "", protect_days: "" }
        expect((yield* set({ days: "90", governance_days: " All ", ...none })).status).toBe(303)
        const { text } = yield* Pages.visit("GET", path, { cookie })
        expect(text).toContain("Kept: 90 days; governance: for good.")
        const wrong = yield* set({ days: "90", governance_days: "some", ...none })
        expect([wrong.status, wrong.text.includes("By licence: give 30 to 36500 days, “all”, or nothing.")]).toEqual([
          400,
          true
        ])
        expect(wrong.text).toContain("value=\"some\"")
        const kept = yield* World.get("/v1/archive/retention", admins.owner.key)
        expect(kept.body).toMatchObject({ days: 90, tier_days: { protect: 90, archive: 90, governance: null } })
        expect((yield* set({ days: "", governance_days: "", ...none })).status).toBe(303)
        expect((yield* Pages.visit("GET", path, { cookie })).text).toContain("Everything is kept.")
      }))
  })
})
