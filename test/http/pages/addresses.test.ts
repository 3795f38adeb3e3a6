import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Pages from "../../support/http/pages.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }

describe("a browser at an address that leads nowhere", () => {
  layer(World.world(postgres))((it) => {
    it.effect("reads a page, and a program the error of the API", () =>
      Effect.gen(function*() {
        const addresses = ["/console/", "/console/nothing", "/console/accounts/1/nothing", "/nothing", "/console/a;b"]
        for (const address of addresses) {
          const page = yield* Pages.visit("GET", address, { headers: browser })
          const type = page.headers.get("content-type")
          expect([address, page.status, type]).toEqual([address, 404, "text/html; charset=utf-8"])
          expect(page.text).toContain("<a href=\"/console\">Go to the console</a>")
          expect(page.headers.get("content-security-policy")).toContain("default-src 'none';")
          const program = yield* Pages.visit("GET", address, { headers: { accept: "*/*" } })
          expect([address, program.headers.get("content-type")]).toEqual([address, "application/json"])
        }
        // A form of an earlier version of the pages is sent to nothing, too.
        const form = yield* Pages.visit("POST", "/console/accounts", { headers: browser, form: {} })
        expect([form.status, form.text.includes("There is no such page")]).toEqual([404, true])
        const api = yield* Pages.visit("GET", "/v1/nothing", { headers: browser })
        expect([api.status, api.headers.get("content-type")]).toEqual([404, "application/json"])
      }))

    it.effect("is led from the bare address to the console, and reads a page at a host that is not the service's", () =>
      Effect.gen(function*() {
        const front = yield* Pages.visit("GET", "/", { headers: browser })
        expect([front.status, front.location]).toEqual([303, "/console"])
        expect((yield* Pages.visit("GET", "/")).status).toBe(404)
        const other = yield* Pages.visit("GET", "/", { headers: browser, baseUrl: "http://elsewhere.example" })
        expect([other.status, other.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"])
      }))

    it.effect("reads a page where a link to an invitation, a new password or a login has ended", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        for (
          const address of [
            "/console/invitation?token=ended",
            "/console/reset?token=ended",
            "/console/logins/01890000-0000-7000-8000-000000000001"
          ]
        ) {
          const page = yield* Pages.visit("GET", address, { cookie, headers: browser })
          const type = page.headers.get("content-type")
          expect([address, page.status, type]).toEqual([address, 404, "text/html; charset=utf-8"])
        }
      }))
  })
})
