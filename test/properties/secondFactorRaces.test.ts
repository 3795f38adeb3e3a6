import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Pages from "../support/http/pages.ts"
import { replicas } from "../support/replicas.ts"
import * as Authenticator from "../support/signin/authenticator.ts"
import * as Factors from "../support/signin/factors.ts"
import * as World from "../support/world.ts"

const atOnce = { concurrency: "unbounded" } as const
const path = "/console/sign-in/second-factor"
const passkeyPath = "/console/sign-in/passkey"

describe("races of second factors on PostgreSQL", () => {
  it.live("one code, one recovery code and one passkey's answer each sign in once of eight times at once", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      const adminId = admins.owner.id
      const email = yield* one(Pages.emailOf(id, adminId))
      yield* one(Pages.givePassword(id, adminId))
      yield* one(Factors.giveTotp(id, adminId))
      const passkey = yield* one(Authenticator.givePasskey(id, adminId))
      const recovery = yield* one(Factors.giveRecoveryCode(id, adminId))
      const on = (index: number) => index % 2 === 0 ? one : two
      const signedIn = (answers: ReadonlyArray<Pages.Page>) =>
        answers.filter((page) => Pages.cookiesOf(page).startsWith("console=")).length

      for (const code of [yield* Factors.code(), recovery]) {
        // Four at once are within the free ones; each has a sign-in of its own, and all of them one.
        const pending = yield* one(Effect.replicateEffect(Factors.begin(id, email), 4))
        const forms = yield* one(
          Effect.forEach(pending, (cookie) =>
            Effect.map(
              Pages.visit("GET", path, { cookie }),
              (page) => ({ cookie, ...Pages.formOf(page, path, "id=\"code\"") })
            ))
        )
        const answers = yield* Effect.forEach(
          [...forms, forms[0]!],
          ({ cookie, hidden }, index) => on(index)(Pages.visit("POST", path, { cookie, form: { ...hidden, code } })),
          atOnce
        )
        expect(signedIn(answers)).toBe(1)
      }
      const page = yield* one(Pages.visit("GET", passkeyPath))
      const form = Authenticator.answer(passkey, page)
      const answers = yield* Effect.forEach(
        Array.from({ length: 8 }),
        (_, index) => on(index)(Pages.visit("POST", passkeyPath, { form })),
        atOnce
      )
      expect(signedIn(answers)).toBe(1)
      const events = yield* one(World.journal(id))
      expect(events.filter(({ action }) => action === "console.signed_in").length).toBe(3)
    }))
})
