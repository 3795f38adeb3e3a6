import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { shownName } from "../../../src/domain/oauth/ClientName.ts"
import { tried } from "../../support/drawn.ts"

describe("the name that is shown of an application", () => {
  it("is what people write, in any script", () => {
    for (
      const name of ["Claude Code", "Ada’s “helper” v2", "助手", "עוזר", "Trợ lý Việt", "Émile", "🤖 bot", "a & <b>"]
    ) {
      expect(shownName(name)).toBe(name.normalize("NFC"))
    }
  })

  it("loses what is not seen, and is nothing when nothing is seen", () => {
    expect(shownName("A\u202Eb\u200Bc\u2066d\u00ADe\uFEFF\tf\n g")).toBe("Abcde f g")
    for (
      const name of [
        "",
        "  ",
        "\u2800",
        "\u3164",
        "\u115F\u1160",
        "\u200B\u2060",
        "\u0301\u0301",
        "\u034F",
        " \u0301 ",
        "\uDB40\uDC41"
      ]
    ) {
      expect([name, shownName(name)]).toEqual([name, null])
    }
  })

  it("keeps two marks of a hundred", () => {
    expect(shownName(`x${"\u0335".repeat(100)}y${"\u0489".repeat(40)}`)).toBe("x\u0335\u0335y\u0489\u0489")
    expect(shownName(`x \u0335\u0335y`)).toBe("x y")
  })

  it("is at most 60 characters long", () => {
    expect(shownName("n".repeat(61))).toBe(`${"n".repeat(59)}…`)
    expect([...shownName("🤖".repeat(100))!].length).toBe(60)
  })

  it("is one short line of visible characters, whatever was given, and stays as it is when it is shown again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (name) => {
        const shown = shownName(name)
        if (shown === null) return
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]|\p{M}{3}|^[\p{M} ]| $|[^\S ]/u)
        expect([...shown].length).toBeLessThanOrEqual(60)
        expect(shownName(shown)).toBe(shown)
      }),
      tried(200)
    )
  })
})
