import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Pages from "../../../support/http/pages.ts"
import * as Outbox from "../../../support/mail/outbox.ts"
import * as Factors from "../../../support/signin/factors.ts"
import * as Identity from "../../../support/signin/identityProvider.ts"
import * as World from "../../../support/world.ts"
import { back, isSignedIn, made, own, signIn, world } from "./provided.ts"

describe("linking an admin to a person of an identity provider", () => {
  layer(world)((it) => {
    it.effect("an admin links and unlinks themselves with their password, and each is mailed and journaled", () =>
      Effect.gen(function*() {
        const { admins, id, provider } = yield* made
        const cookie = yield* Pages.signIn(id, admins.admin.id)
        const bare = yield* World.makeOrganization()
        const without = yield* Pages.signIn(bare.id, bare.admins.admin.id)
        expect((yield* Pages.visit("GET", own, { cookie: without })).location).toBe("/console/security")
        expect((yield* Pages.visit("GET", "/console/security", { cookie: without })).text).not.toContain(own)
        expect((yield* Pages.visit("GET", "/console/security", { cookie })).text).toContain(own)

        const send = Effect.fnUntraced(function*(what: "link" | "unlink", password: string) {
          const form = Pages.formOf(yield* Pages.visit("GET", own, { cookie }), `${own}/${what}`)
          return yield* Pages.visit("POST", form.action, { cookie, form: { ...form.hidden, password } })
        })
        expect((yield* send("link", "wrong")).status).toBe(403)
        expect((yield* Pages.visit("POST", `${own}/link`, { cookie, form: { password: Pages.password } })).status).toBe(
          403
        )
        const gone = yield* send("link", Pages.password)
        const callback = yield* Identity.follow(Pages.ledTo(gone))
        const left = Pages.cookiesOf(gone)
        // Neither without the session that wanted it, nor in that of another admin.
        const other = yield* Pages.signIn(id, admins.owner.id)
        expect((yield* back(callback, left)).status).toBe(403)
        expect((yield* back(callback, `${left}; ${other}`)).status).toBe(403)
        const linked = yield* back(callback, `${left}; ${cookie}`)
        expect([linked.status, linked.location]).toEqual([303, `${own}?done=linked`])
        expect((yield* Pages.visit("GET", linked.location!, { cookie })).text).toMatch(/You are linked.*person-1/s)
        expect((yield* signIn(id)).status).toBe(303)

        // Nobody else can be linked to the same person.
        const theirs = Pages.formOf(yield* Pages.visit("GET", own, { cookie: other }), `${own}/link`)
        const going = yield* Pages.visit("POST", theirs.action, {
          cookie: other,
          form: { ...theirs.hidden, password: Pages.password }
        })
        const taken = yield* back(yield* Identity.follow(Pages.ledTo(going)), `${Pages.cookiesOf(going)}; ${other}`)
        expect([taken.status, taken.text]).toEqual([403, expect.stringContaining("Another admin is linked")])

        expect((yield* send("unlink", "wrong")).status).toBe(403)
        yield* Factors.giveTotp(id, admins.admin.id)
        const asked = yield* send("unlink", Pages.password)
        expect([asked.status, asked.text]).toEqual([403, expect.stringContaining("Give your second factor.")])
        yield* World.query(id, (sql) => sql`delete from totp where organization_id = ${id}`)
        // Somebody else who came by the provider does not outlive the link.
        const elsewhere = yield* signIn(id)
        yield* Factors.giveTotp(id, admins.admin.id)
        expect((yield* signIn(id)).location).toContain("/console/sign-in/second-factor")
        yield* World.query(id, (sql) => sql`delete from totp where organization_id = ${id}`)
        expect((yield* send("unlink", Pages.password)).location).toBe(`${own}?done=unlinked`)
        expect(yield* isSignedIn(elsewhere)).toBe(false)
        expect(yield* World.query(id, (sql) => sql`select 1 from pending_sign_in where organization_id = ${id}`))
          .toEqual([])
        expect((yield* Pages.visit("GET", "/console/security", { cookie })).status).toBe(200)
        expect((yield* signIn(id)).status).toBe(403)
        const identity = { issuer: provider.issuer, subject: "person-1" }
        expect(
          (yield* World.changes(id)).filter(({ action }) => action.startsWith("admin.")).map((event) => [
            event.action,
            event.actor_admin_id,
            event.details
          ])
        ).toEqual([
          ["admin.identity_linked", admins.admin.id, identity],
          ["admin.identity_unlinked", admins.admin.id, { ...identity, sessions_ended: 2 }]
        ])
        expect((yield* Outbox.waiting(id)).map(({ kind }) => kind)).toEqual(["identity_linked", "identity_unlinked"])
      }))
  })
})
