import { Redacted } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { invitation, loginAttempted } from "../../../src/domain/mail/index.ts"
import { html, plainText, quoted } from "../../../src/domain/mail/Letter.ts"
import { tried } from "../../support/drawn.ts"

const attempted = (name: string) => {
  const account = { id: "0190a000-0000-7000-8000-000000000001", name }
  return Redacted.value(loginAttempted({ account }).letter)
}

describe("14.2 What a mail looks like", () => {
  it("repeats a text by somebody else on one line, in quotes and cut to 100 characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        const repeated = quoted(text)
        expect(repeated).toMatch(/^“[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}“”]*”$/u)
        expect([...repeated.replaceAll(/\[([.:])\]/gu, "$1")].length).toBeLessThanOrEqual(102)
        expect(attempted(text).subject).not.toMatch(/\p{Cc}/u)
      }),
      tried()
    )
  })

  it("never makes a link of it", () => {
    expect(quoted("https://evil.example/x")).toBe("“https[:]//evil[.]example/x”")
    expect(quoted("Android 14.1")).toBe("“Android 14.1”")
    expect(html(attempted("<a href='https://evil.example'>"))).not.toContain("<a")
  })

  it("says the same in HTML, escaped, with the one link alone", () => {
    const letter = Redacted.value(
      invitation({
        adminId: "0190a000-0000-7000-8000-000000000001",
        organizationName: "Smith & <Sons>",
        role: "superadmin",
        link: Redacted.make("https://console.example/console/invitation#abc"),
        expiresAt: new Date("2030-01-02T03:04:05Z")
      }).letter
    )
    expect(plainText(letter)).toContain("https://console.example/console/invitation#abc\n")
    expect(plainText(letter)).toContain("2030-01-02 03:04 UTC")
    expect(html(letter)).toContain("“Smith &amp; &lt;Sons&gt;”")
    expect(html(letter).match(/(?:href|src)="[^"]*"/g)).toEqual([
      "href=\"https://console.example/console/invitation#abc\""
    ])
  })
})
