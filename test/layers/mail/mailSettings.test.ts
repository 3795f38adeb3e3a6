import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as MailSettings from "../../../src/layers/mail/MailSettings.ts"
import * as World from "../../support/world.ts"

describe("14.3 Mail settings", () => {
  it.effect("refuses settings that are no server, sender or address, without repeating them", () =>
    Effect.gen(function*() {
      const text = { ...World.mail }
      const wrong = [
        ...["http://a", "smtp://", "smtp://a/path", "smtp://a?x=1", "smtps://a?tls=off", "secret"].map((url) => ({
          ...text,
          url: Redacted.make(url)
        })),
        ...["", "nobody", "a@b, c@d", "A\r\nBcc: x@y <a@b>"].map((from) => ({ ...text, from })),
        { ...text, support: "a@b\r\nc" }
      ]
      for (const each of wrong) {
        const { message } = yield* Effect.flip(MailSettings.parse(each))
        expect(message).not.toContain("secret")
      }
      const parsed = yield* MailSettings.parse({ ...text, url: Redacted.make("smtp://u%40x:p%3A@mail.example") })
      expect(parsed?.server).toMatchObject({
        host: "mail.example",
        port: 587,
        tls: "required",
        user: { name: "u@x" }
      })
    }))
})
