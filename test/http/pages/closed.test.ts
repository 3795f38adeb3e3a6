import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { isUuid } from "../../../src/domain/JsonShapes.ts"
import { pages } from "../../../src/http/pages/index.ts"
import * as Pages from "../../support/http/pages.ts"
import { act } from "../../support/operator/operator.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const chosen = "seven green lanterns hum"

/** Pages of whoever is not signed in, and what is no page. */
const outside = /^\/console\/(?:sign-in|sign-out|invitation|reset)(?:\/|$)|\.(?:css|js)$|^\/console$|^\/oauth\//

/**
 * Every page of an admin who is signed in, and what answers a form of one, about an account or an admin that is there.
 */
const inside = (id: string) =>
  pages.filter(({ path }) => !outside.test(path)).map(({ method, path }) => ({
    method,
    path: path.replaceAll(/:\w+/g, id)
  }))

const stand = (organization: string, to: "close" | "reopen") =>
  act((requests) => requests.organizations_change_status({ organization, act: to }))

describe("the console of an organization that was wound down", () => {
  layer(World.world(postgres))((it) => {
    it.effect("shows and does nothing of it on any page, whatever the role, until it is opened again; signing out works", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const account = yield* World.makeAccount(id)
        const cookies = [yield* Pages.signIn(id, admins.owner.id), yield* Pages.signIn(id, admins.billing.id)]
        const [cookie = ""] = cookies
        yield* stand(id, "close")
        const asked = inside(account)
        expect(asked.length).toBeGreaterThan(60)
        const before = (yield* World.journal(id)).length
        for (const { method, path } of asked) {
          for (const each of cookies) {
            const page = yield* Pages.visit(method, path, { cookie: each, ...(method === "GET" ? {} : { form: {} }) })
            expect([method, path, page.status]).toEqual([method, path, 403])
            expect(page.text).toContain("The organization has been wound down.")
            expect(page.text).not.toContain("aria-label=\"Console\"")
          }
        }
        expect(isUuid(account) && (yield* World.journal(id)).length).toBe(before)
        // Whoever signs in meanwhile is told the same.
        const email = yield* Pages.emailOf(id, admins.owner.id)
        const late = yield* Pages.signInWith({ organization: id, email, password: Pages.password })
        const shown = yield* Pages.visit("GET", late.location!, { cookie: Pages.cookiesOf(late) })
        expect([shown.status, shown.text]).toEqual([403, expect.stringContaining("This organization is closed")])
        const out = Pages.formOf(shown, "/console/sign-out")
        const left = yield* Pages.visit("POST", out.action, { cookie: Pages.cookiesOf(late), form: out.hidden })
        expect([left.status, left.headers.get("set-cookie")]).toEqual([303, expect.stringContaining("Max-Age=0")])
        yield* stand(id, "reopen")
        expect((yield* Pages.visit("GET", "/console/secrets", { cookie })).status).toBe(200)
      }))

    it.effect("opens by no invitation and no link to a new password, and the operator makes none", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const email = yield* Pages.emailOf(id, admins.admin.id)
        yield* Pages.givePassword(id, admins.admin.id)
        const nora = `nora@${id}.example`
        const body = { email: nora, role: "admin" }
        expect((yield* World.send("POST", "/v1/admins", { key: admins.owner.key, body })).status).toBe(200)
        const links = {
          invitation: act((requests) => requests.admins_invitation({ organization: id, email: nora })),
          reset: act((requests) => requests.admins_password_link({ organization: id, email }))
        }
        const tokenOf = (made: string | { readonly token: Redacted.Redacted }) =>
          typeof made === "string" ? made : Redacted.value(made.token)
        const made = { invitation: tokenOf(yield* links.invitation), reset: tokenOf(yield* links.reset) }
        const look = (of: keyof typeof made) => Pages.visit("GET", `/console/${of}?token=${made[of]}`)
        const forms = {
          invitation: Pages.formOf(yield* look("invitation"), "/console/invitation"),
          reset: Pages.formOf(yield* look("reset"), "/console/reset/password")
        }
        const send = (of: keyof typeof made) =>
          Pages.visit("POST", forms[of].action, { form: { ...forms[of].hidden, new: chosen, repeated: chosen } })
        yield* stand(id, "close")
        for (const link of ["invitation", "reset"] as const) {
          expect([link, (yield* look(link)).status, (yield* send(link)).status]).toEqual([link, 404, 404])
          expect(yield* links[link]).toContain("is closed")
        }
        yield* stand(id, "reopen")
        for (const link of ["invitation", "reset"] as const) {
          expect([link, (yield* look(link)).status, (yield* send(link)).status]).toEqual([link, 200, 303])
        }
      }))
  })
})
