import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as AdminLinks from "../../../../src/operator/people/AdminLinks.ts"
import * as Pages from "../../../support/http/pages.ts"
import { act as operate } from "../../../support/operator/operator.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const path = "/console/invitation"
const chosen = "seven green lanterns hum"

/** An organization, somebody invited, and the path of their link. */
const staged = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const email = "new@example.com"
  const invited = yield* World.send("POST", "/v1/admins", { key: admins.owner.key, body: { email, role: "admin" } })
  const link = Effect.map(
    AdminLinks.renewInvitation.run({ organization: id, email }),
    ({ token }) => `${path}?token=${Redacted.value(token)}`
  )
  return { admins, id, email, adminId: String(invited.body.id), link, first: yield* link }
})

const accept = Effect.fnUntraced(function*(link: string, typed: Readonly<Record<string, string>> = {}) {
  const form = Pages.formOf(yield* Pages.visit("GET", link), path)
  return yield* Pages.visit("POST", form.action, {
    form: { ...form.hidden, new: chosen, repeated: typed["new"] ?? chosen, ...typed }
  })
})

describe("3.9, 10.6 the page of an invitation", () => {
  layer(World.world(postgres))((it) => {
    it.effect("lets the holder of the link set a password once, and signs them in", () =>
      Effect.gen(function*() {
        const { admins, adminId, email, first, id } = yield* staged
        const shown = yield* Pages.visit("GET", first)
        expect([shown.status, shown.headers.get("referrer-policy"), shown.headers.get("cache-control")]).toEqual([
          200,
          "no-referrer",
          "no-store"
        ])
        expect(shown.text).toContain(email)
        expect(shown.text).not.toContain("<script")
        expect((yield* accept(first, { new: "short" })).text).toContain("Problem: invitation")
        const differs = yield* accept(first, { repeated: "another" })
        expect(differs.status).toBe(400)
        expect(differs.text).toContain("aria-describedby=\"repeated-fault\"")
        expect(differs.text).toContain("id=\"repeated-fault\"")
        const joined = yield* accept(first)
        expect([joined.status, joined.location]).toEqual([303, "/console"])
        const cookie = Pages.cookiesOf(joined)
        expect((yield* Pages.visit("GET", "/console/developer", { cookie })).status).toBe(200)
        expect((yield* Pages.visit("GET", first)).status).toBe(404)
        expect((yield* Pages.signInWith({ organization: id, email, password: chosen })).status).toBe(303)
        const { body } = yield* World.get(`/v1/admins/${adminId}`, admins.owner.key)
        expect(body).toMatchObject({ status: "active", invitation_expires_at: null })
        const actions = (yield* World.changes(id)).map(({ action }) => action)
        expect(actions).toEqual(["admin.invited", "admin.invitation_resent", "admin.joined"])
      }))

    it.effect("answers alike for a link that is replaced, over, of somebody removed, or never was", () =>
      Effect.gen(function*() {
        const { admins, adminId, first, link } = yield* staged
        const second = yield* link
        const status = (at: string) => Effect.map(Pages.visit("GET", at), (page) => [page.status, page.text.length])
        const [gone, length] = yield* status(first)
        expect(gone).toBe(404)
        expect(yield* status(`${path}?token=inv_x`)).toEqual([gone, length])
        expect((yield* Pages.visit("GET", second)).status).toBe(200)
        yield* World.post(`/v1/admins/${adminId}/disable`, admins.owner.key)
        expect(yield* status(second)).toEqual([gone, length])
        yield* World.post(`/v1/admins/${adminId}/enable`, admins.owner.key)
        yield* TestClock.adjust("7 days")
        expect(yield* status(second)).toEqual([gone, length])
        const third = yield* link
        yield* World.send("DELETE", `/v1/admins/${adminId}`, { key: admins.owner.key })
        expect(yield* status(third)).toEqual([gone, length])
      }))

    it.effect("ends when the operator sets the invited admin's password, with which they sign in", () =>
      Effect.gen(function*() {
        const { admins, adminId, email, first, id } = yield* staged
        const password = Redacted.make(chosen)
        yield* operate((requests) => requests.admins_set_password({ organization: id, email, password }))
        expect((yield* Pages.visit("GET", first)).status).toBe(404)
        expect((yield* Pages.signInWith({ organization: id, email, password: chosen })).status).toBe(303)
        const { body } = yield* World.get(`/v1/admins/${adminId}`, admins.owner.key)
        expect(body).toMatchObject({ status: "active", invitation_expires_at: null })
      }))

    it.effect("takes only forms of its own site, and throttles guesses", () =>
      Effect.gen(function*() {
        const { first } = yield* staged
        const form = Pages.formOf(yield* Pages.visit("GET", first), path)
        const foreign = yield* Pages.visit("POST", path, {
          form: { ...form.hidden, new: chosen, repeated: chosen },
          headers: { origin: "https://evil.example" }
        })
        expect(foreign.status).toBe(403)
        for (let time = 0; time < 21; time++) yield* Pages.visit("GET", `${path}?token=inv_${time}`)
        const waits = yield* Pages.visit("GET", first)
        expect([waits.status, waits.headers.get("retry-after") !== null]).toEqual([429, true])
        yield* TestClock.adjust("1 hour")
        expect((yield* Pages.visit("GET", first)).status).toBe(200)
      }))
  })
})
