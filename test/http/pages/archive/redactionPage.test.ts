import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { archivePassword } from "../../../support/archive/archivePassword.ts"
import { makeExported } from "../../../support/archive/exportedArchive.ts"
import * as Browser from "../../../support/http/browser.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"
import { press, served, signIn, stage, textOf, type } from "../browsed.ts"

const path = "/console/archive-redactions"

describe("redactions in the console", () => {
  layer(World.world(postgres))((it) => {
    it.effect("need the archive password and the phrase, and take out what the messages say", () =>
      Effect.gen(function*() {
        const { accountId, admins, id, key } = yield* makeExported
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const at = `${path}?account=${accountId}&chat=4242&message=2`
        const page = yield* Pages.visit("GET", at, { cookie })
        const { hidden, markup } = Pages.formOf(page, path)
        expect(markup).toContain("value=\"4242\"")
        const whole = {
          ...hidden,
          chat_id: "4242",
          message_ids: "2, 3",
          reason: "A card number",
          password: archivePassword,
          confirm_phrase: "Redact  messages"
        }
        const send = (changed: Readonly<Record<string, string>>) =>
          Pages.visit("POST", path, { cookie, form: { ...whole, ...changed } })
        for (
          const [changed, said] of [
            [{ confirm_phrase: "redact" }, "This is not the phrase."],
            [{ password: "wrong" }, "This is not the archive password."],
            [{ password: "" }, "archive password."],
            [{ chat_id: "1" }, "There is no such chat"],
            [{ message_ids: "2 99" }, "Give the ids of archived messages"],
            [{ reason: "" }, "Give a reason"]
          ] as const
        ) {
          expect((yield* send(changed)).text).toContain(said)
        }
        const message = Effect.map(
          World.get(`/v1/archive/accounts/${accountId}/chats/4242/messages/2`, key),
          ({ body }) => body
        )
        expect(yield* message).toMatchObject({ text: "text 1", redacted_at: null })
        const led = Pages.ledTo(yield* send({}))
        expect((yield* Pages.visit("GET", led, { cookie })).text).toContain("The messages are redacted.")
        expect((yield* message).text).toBe(null)
        const other = yield* Pages.signIn(id, admins.admin.id)
        expect((yield* Pages.visit("GET", at, { cookie: other })).text).toContain("The owner and superadmins redact")
      }))
  })

  layer(served)((it) => {
    it.effect("fit every screen, in light and dark", () =>
      Effect.gen(function*() {
        const { accounts: [account = ""], base, email, id } = yield* stage()
        const page = yield* Browser.newPage()
        const go = (address: string) => Effect.promise(() => page.goto(`${base}${address}`))
        yield* go("/console/accounts")
        yield* signIn(page, id, email)
        yield* go(`${path}?account=${account}&chat=4242&message=2`)
        yield* type(page, "#reason", "A card number")
        yield* type(page, "#password", "wrong password")
        yield* type(page, "#confirm_phrase", "redact")
        yield* press(page, "main form.card button.danger")
        expect(yield* textOf(page)).toContain("This is not the phrase.")
        expect(yield* Browser.inspect(page, "archive-redaction")).toEqual([])
      }), 120_000)
  })
})
