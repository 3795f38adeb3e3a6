import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const path = "/console/people"
const chosen = "seven green lanterns hum"
const email = "nora@example.com"

/** An organization whose superadmin is signed in. */
const staged = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const cookie = yield* Pages.signIn(id, admins.superadmin.id)
  const send = Effect.fnUntraced(function*(at: string, action: string, typed: Record<string, string>) {
    const form = Pages.formOf(yield* Pages.visit("GET", at, { cookie }), action)
    return yield* Pages.visit("POST", action, { cookie, form: { ...form.hidden, ...typed } })
  })
  const invite = (typed: Record<string, string> = {}) =>
    send(`${path}/invite`, `${path}/invite`, {
      decision: "invite",
      email,
      role: "admin",
      password: Pages.password,
      ...typed
    })
  const invited = Effect.map(
    World.get("/v1/admins?status=invited", admins.owner.key),
    ({ body }) => `${path}/${body.data[0].id}`
  )
  const resend = (at: string, typed: Record<string, string> = {}) =>
    send(at, `${at}/resend-invitation`, { decision: "do", ...typed })
  return { admins, cookie, id, invite, invited, resend, see: (at: string) => Pages.visit("GET", at, { cookie }) }
})

/** The path of the link that a page shows. */
const linkIn = ({ text }: Pages.Page): string | undefined =>
  /<code class="secret"[^>]*>http:\/\/localhost(\/console\/invitation\?token=[^<]+)</.exec(text)?.[1]

const status = (link: string | undefined) => Effect.map(Pages.visit("GET", link ?? "/none"), ({ status }) => status)

describe("inviting an admin at the console", () => {
  layer(World.world(postgres, undefined, undefined, null))("where no mail is sent", (it) => {
    it.effect("shows the link once to the admin who invites, and the invited admin joins by it", () =>
      Effect.gen(function*() {
        const { id, invite, invited, see } = yield* staged
        expect((yield* see(`${path}/invite`)).text).toContain("This console sends no mail. You get the link")
        const made = yield* invite()
        const link = linkIn(made)
        expect([made.status, made.headers.get("cache-control"), yield* status(link)]).toEqual([200, "no-store", 200])
        const after = yield* see(`${yield* invited}?done=invited`)
        expect(after.text).not.toMatch(/token=|on its way|mail brings/)
        expect((yield* invite()).text).toContain("is an admin already, or is invited")
        const form = Pages.formOf(yield* Pages.visit("GET", link ?? ""), "/console/invitation")
        const joined = yield* Pages.visit("POST", form.action, {
          form: { ...form.hidden, new: chosen, repeated: chosen }
        })
        expect(joined.status).toBe(303)
        const events = yield* World.changes(id)
        expect(events.map(({ action }) => action)).toEqual(["admin.invited", "admin.joined"])
        expect(JSON.stringify(events)).not.toContain("inv_")
      }))

    it.effect("makes another link only for an admin who gives the password, and the one before stops", () =>
      Effect.gen(function*() {
        const { invite, invited, resend } = yield* staged
        const first = linkIn(yield* invite())
        const at = yield* invited
        for (const password of ["", "wrong horse battery"]) {
          const refused = yield* resend(at, { password })
          expect([refused.status, linkIn(refused)]).toEqual([403, undefined])
          expect(refused.text).toContain("This is not your console password.")
        }
        expect(yield* status(first)).toBe(200)
        const second = linkIn(yield* resend(at, { password: Pages.password }))
        expect([yield* status(first), yield* status(second)]).toEqual([404, 200])
      }))

    it.effect("shows no link over the API", () =>
      Effect.gen(function*() {
        const { admins } = yield* staged
        const body = { email, role: "billing" }
        const { body: answer } = yield* World.send("POST", "/v1/admins", { key: admins.owner.key, body })
        expect(JSON.stringify(answer)).not.toContain("inv_")
      }))
  })

  layer(World.world(postgres))("where mail is sent", (it) => {
    it.effect("shows no link to the admin who invites, whose password is not asked for to send it again", () =>
      Effect.gen(function*() {
        const { invite, invited, resend, see } = yield* staged
        const made = yield* invite()
        const at = yield* invited
        expect([made.status, made.location, made.text]).toEqual([303, `${at}?done=invited`, ""])
        expect((yield* see(`${at}?done=invited`)).text).toContain("A mail brings them the link.")
        const again = yield* resend(at)
        expect([again.status, again.location, again.text]).toEqual([303, `${at}?done=resend-invitation`, ""])
      }))
  })
})
