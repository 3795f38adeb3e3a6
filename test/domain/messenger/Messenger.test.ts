import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { cleanText, maskEmail, textOrNull } from "../../../src/domain/messenger/Messenger.ts"
import { drawn } from "../../support/drawn.ts"

describe("2.6 masked emails", () => {
  it.each([
    ["jane@example.com", "j*****e@example.com"],
    ["jo@example.com", "j*****@example.com"],
    ["j@example.com", "*****@example.com"],
    ["@example.com", "*****@example.com"],
    ["\"a@b\"@example.com", "\"*****\"@example.com"],
    ["😀x😀@example.com", "😀*****😀@example.com"],
    ["jane", "*****"],
    ["", "*****"]
  ])("%s shows as %s", (address, pattern) => {
    assert.strictEqual(maskEmail(address), pattern)
  })

  it.prop(
    "a pattern shows the host and at most the first and the last character of the rest",
    [Schema.String, Schema.String],
    ([text, host]) => {
      // A star of the address could not be told from those of the pattern.
      const local = text.replaceAll("*", "")
      const address = `${local}@${host.replaceAll("@", "")}`
      const pattern = maskEmail(address)
      const at = pattern.lastIndexOf("@")
      const shown = pattern.slice(0, at)
      const stars = shown.indexOf("*****", shown.startsWith("*****") ? 0 : 1)
      const before = Array.from(shown.slice(0, stars))
      const after = Array.from(shown.slice(stars + 5))
      const characters = Array.from(local)
      assert.strictEqual(pattern.slice(at + 1), address.slice(address.lastIndexOf("@") + 1))
      assert.isAtMost(before.length + after.length, Math.max(0, characters.length - 1))
      assert.isAtMost(before.length, 1)
      assert.isAtMost(after.length, 1)
    },
    drawn()
  )

  it.prop("a pattern says nothing of the length", [Schema.String.check(Schema.isMinLength(1))], ([middle]) => {
    assert.strictEqual(maskEmail(`a${middle}z@example.com`), "a*****z@example.com")
  }, drawn())

  it("an empty text is null", () => {
    assert.isNull(textOrNull(""))
    assert.strictEqual(textOrNull(" "), " ")
  })
})

describe("10.3 texts from the messenger", () => {
  const Piece = Schema.Literals(["a", "é", "😀", " ", "\u0000", "\ud800", "\udfff", "\n", "\u0007", "\u007f", "\u009f"])

  it.prop(
    "hold nothing that cannot be stored, no control characters, at most 256 characters, and are clean at once",
    [Schema.Array(Piece), Schema.Literals([1, 3, 256])],
    ([pieces, limit]) => {
      const kept = pieces.join("").toWellFormed().replaceAll(/[\u0000\ufffd]/gu, "")
      const expected = Array.from(kept.replaceAll(/\p{Control}/gu, " ")).slice(0, limit).join("")
      const cleaned = cleanText(pieces.join(""), limit)
      assert.strictEqual(cleaned, expected === "" ? null : expected)
      assert.strictEqual(cleanText(cleaned, limit), cleaned)
    },
    drawn()
  )

  it("keep the lines of a bio, and cost little however long they are", () => {
    assert.strictEqual(cleanText("one\ntwo\r", 256, true), "one\ntwo ")
    assert.isNull(cleanText(`${"\u0000".repeat(1_000_000)}x`))
    assert.isNull(cleanText(null))
  })
})
