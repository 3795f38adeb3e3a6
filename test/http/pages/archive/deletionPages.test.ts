import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { confirmPhrase } from "../../../../src/domain/archive/ConfirmPhrase.ts"
import { sealChats } from "../../../support/archive/sealedChats.ts"
import * as Browser from "../../../support/http/browser.ts"
import * as World from "../../../support/world.ts"
import { press, served, signIn, stage, textOf, type } from "../browsed.ts"

const field = "#confirm_phrase"
const button = "main form.card button.danger"

describe("deletions in the console", () => {
  layer(served)((it) => {
    it.effect("begin once the phrase is typed, say what they mean, and fit every screen", () =>
      Effect.gen(function*() {
        const { accounts: [account = "", other = ""], base, email, id } = yield* stage()
        yield* World.set(id, "account", account, { offboarded_at: new Date(0) })
        yield* sealChats(id, account, "Words")
        yield* sealChats(id, other, "Words")
        const page = yield* Browser.newPage()
        const go = (path: string) => Effect.promise(() => page.goto(`${base}${path}`))
        yield* go("/console/accounts")
        yield* signIn(page, id, email)

        yield* go(`/console/accounts/${account}`)
        expect(yield* Browser.inspect(page, "offboarded-account")).toEqual([])
        yield* press(page, `main a.danger[href$="/delete"]`)
        expect(yield* textOf(page)).toContain("Nobody can undo it.")
        expect(yield* Browser.inspect(page, "delete-account")).toEqual([])
        yield* type(page, field, "delete the account")
        yield* press(page, button)
        expect(yield* textOf(page)).toContain("This is not the phrase.")
        expect(yield* Browser.inspect(page, "delete-account-refused")).toEqual([])
        const [row] = yield* World.query<{ phone_number: string }>(
          id,
          (sql) => sql`select phone_number from account where organization_id = ${id} and id = ${account}`
        )
        yield* type(page, field, confirmPhrase({ kind: "account", phoneNumber: row?.phone_number ?? "" }))
        yield* press(page, button)
        expect(yield* textOf(page)).toContain("The account and its archive are deleted.")

        yield* go("/console/organization")
        expect(yield* Browser.inspect(page, "organization-with-archive")).toEqual([])
        yield* press(page, `main a.danger[href$="/delete-archive"]`)
        expect(yield* Browser.inspect(page, "delete-archive")).toEqual([])
        yield* type(page, field, confirmPhrase({ kind: "archive", organizationId: id }))
        yield* press(page, button)
        expect(yield* textOf(page)).toContain("The archive is being deleted")
        expect((yield* World.journal(id)).map(({ action, outcome, via }) => [action, outcome, via]).slice(-3)).toEqual([
          ["account.deleted", "refused", "console"],
          ["account.deleted", "done", "console"],
          ["archive.deletion_started", "done", "console"]
        ])
      }), 120_000)
  })
})
