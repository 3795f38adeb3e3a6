import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Pages from "../../../support/http/pages.ts"
import { act } from "../../../support/operator/operator.ts"
import * as Factors from "../../../support/signin/factors.ts"
import * as Identity from "../../../support/signin/identityProvider.ts"
import * as World from "../../../support/world.ts"
import { back, connect, go, isSignedIn, linkAs, made, signIn, world } from "./provided.ts"

describe("what the operator requires of sign-ins by an identity provider", () => {
  layer(world)((it) => {
    it.effect("where everybody has to come by it, passwords open sessions of the owner alone, and look wrong for the others", () =>
      Effect.gen(function*() {
        const { admins, id, provider } = yield* made
        yield* linkAs(id, admins.admin.id, "person-1")
        const tried = Effect.fnUntraced(function*(adminId: string) {
          yield* Pages.givePassword(id, adminId)
          const email = yield* Pages.emailOf(id, adminId)
          const { status, text } = yield* Pages.signInWith({ organization: id, email, password: Pages.password })
          return [status, text.replaceAll(email, "EMAIL")]
        })
        expect((yield* tried(admins.admin.id))[0]).toBe(303)
        yield* connect(id, provider.issuer, { required: true })
        expect((yield* tried(admins.owner.id))[0]).toBe(303)
        const refused = yield* tried(admins.admin.id)
        const unknown = yield* Pages.signInWith({
          organization: id,
          email: "who@acme.example",
          password: Pages.password
        })
        expect(refused).toEqual([403, unknown.text.replaceAll("who@acme.example", "EMAIL")])
        expect((yield* signIn(id)).status).toBe(303)
        // What a password had begun waits for its second factor in vain.
        yield* connect(id, provider.issuer, { required: false })
        yield* Factors.giveTotp(id, admins.admin.id)
        const waiting = yield* Factors.begin(id, yield* Pages.emailOf(id, admins.admin.id))
        expect((yield* Factors.answer(waiting, "123456")).status).toBe(403)
        yield* connect(id, provider.issuer, { required: true })
        expect((yield* Factors.answer(waiting, yield* Factors.code())).status).toBe(303)
        expect((yield* Pages.visit("GET", "/console/security", { cookie: waiting })).status).toBe(303)
        yield* act((requests) => requests.identity_provider_remove({ organization: id }))
        expect((yield* tried(admins.admin.id))[0]).toBe(303)
      }))

    it.effect("the provider's second factor counts where its token says so or the operator does, and else the console asks", () =>
      Effect.gen(function*() {
        const { admins, id, provider } = yield* made
        yield* linkAs(id, admins.admin.id, "person-1")
        yield* World.set(id, "organization", id, { requires_second_factor: true })
        const cases = [
          ["console", ["pwd", "mfa"], "/console/sign-in/second-factor"],
          ["claim", ["pwd", "otp"], "/console/sign-in/second-factor"],
          ["claim", ["pwd", "mfa"], "/console/developer"],
          ["provider", ["pwd"], "/console/developer"]
        ] as const
        for (const [second_factor, amr, leads] of cases) {
          yield* connect(id, provider.issuer, { second_factor })
          provider.amr = [...amr]
          const page = yield* signIn(id, { return_to: "/console/developer" })
          expect([second_factor, amr, page.location?.split("?")[0]]).toEqual([second_factor, amr, leads])
          expect(yield* isSignedIn(page)).toBe(leads === "/console/developer")
        }
        expect((yield* World.journal(id)).at(-1)?.details).toMatchObject({ second_factor: "identity_provider" })
      }))

    it.effect("where the operator says so, the provider has everybody sign in anew, whatever session is open there", () =>
      Effect.gen(function*() {
        const { admins, id, provider } = yield* made
        yield* linkAs(id, admins.admin.id, "person-1")
        const jar = new Map<string, string>()
        const asked = () => provider.asked.filter((each) => each === "GET /interaction").length
        const times = Effect.fnUntraced(function*() {
          const before = asked()
          const { cookie, url } = yield* go(id)
          const page = yield* back(yield* Identity.follow(url, jar), cookie)
          expect(page.status).toBe(303)
          return asked() - before
        })
        expect([yield* times(), yield* times()]).toEqual([1, 0])
        yield* connect(id, provider.issuer, { max_age: 60 })
        expect(yield* times()).toBe(0)
        yield* connect(id, provider.issuer, { max_age: 0 })
        expect([yield* times(), yield* times()]).toEqual([1, 1])
      }))
  })
})
