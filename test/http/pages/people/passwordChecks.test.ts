import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { vi } from "vitest"
import { PasswordHasher } from "../../../../src/layers/crypto/signin/PasswordHasher.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const people = "/console/people"

/** Sends a form of a page with a console password; answers the status, and how often a password was hashed for it. */
const send = Effect.fnUntraced(
  function*(cookie: string, at: string, action: string, typed: Readonly<Record<string, string>>) {
    const { hidden } = Pages.formOf(yield* Pages.visit("GET", at, { cookie }), action)
    const verify = vi.spyOn(yield* PasswordHasher, "verify")
    const form = { ...hidden, decision: "do", password: Pages.password, ...typed }
    const { status } = yield* Pages.visit("POST", action, { cookie, form })
    const checks = verify.mock.calls.length
    verify.mockRestore()
    return [status, checks]
  }
)

describe("a form that asks for the console password", () => {
  layer(World.world(postgres))((it) => {
    it.effect("has it checked once, by its page or by its operation, whether it is right or wrong", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const person = yield* World.makePerson(id, "admin")
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const own = `${people}/${person.id}`
        const act = (verb: string, typed: Readonly<Record<string, string>> = {}) =>
          send(cookie, own, `${own}/${verb}`, typed)
        const invite = (typed: Readonly<Record<string, string>>) =>
          send(cookie, `${people}/invite`, `${people}/invite`, {
            decision: "invite",
            email: "nora@example.com",
            role: "billing",
            ...typed
          })
        const wrong = { password: "wrong horse battery" }

        expect(yield* act("role", { role: "archive", ...wrong })).toEqual([403, 1])
        expect(yield* act("role", { role: "archive" })).toEqual([303, 1])
        expect(yield* act("access", wrong)).toEqual([403, 1])
        expect(yield* act("access")).toEqual([303, 1])
        expect(yield* invite(wrong)).toEqual([403, 1])
        expect(yield* invite({})).toEqual([303, 1])
        expect(yield* act("disable")).toEqual([303, 0])
        expect(yield* act("enable", wrong)).toEqual([403, 1])
        expect(yield* act("enable")).toEqual([303, 1])
        expect(yield* act("remove")).toEqual([303, 1])
      }))

    it.effect("asks again where the password is longer than any can be", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const person = yield* World.makePerson(id, "admin")
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const own = `${people}/${person.id}`
        const { hidden } = Pages.formOf(yield* Pages.visit("GET", own, { cookie }), `${own}/role`)
        const form = { ...hidden, decision: "do", role: "archive", password: "a".repeat(2000) }
        const page = yield* Pages.visit("POST", `${own}/role`, { cookie, form })
        expect(page.status).toBe(400)
        expect(page.text).toContain("This is not your console password.")
      }))
  })
})
