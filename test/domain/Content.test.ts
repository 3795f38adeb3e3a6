import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { requestedRange } from "../../src/domain/Content.ts"
import { safeFileName, safeMediaType } from "../../src/domain/FileNames.ts"
import { tried } from "../support/drawn.ts"

describe("a header Range", () => {
  it("asks for a part that lies within the content, for the whole, or for nothing that is there", () => {
    const asked = [
      [undefined, 10, "whole"],
      ["bytes=0-0", 10, { start: 0, end: 1 }],
      ["bytes=2-", 10, { start: 2, end: 10 }],
      ["bytes=2-99", 10, { start: 2, end: 10 }],
      ["BYTES= 9-9 ", 10, { start: 9, end: 10 }],
      ["bytes=-3", 10, { start: 7, end: 10 }],
      ["bytes=-99", 10, { start: 0, end: 10 }],
      ["bytes=10-", 10, "unsatisfiable"],
      ["bytes=-0", 10, "unsatisfiable"],
      ["bytes=0-", 0, "unsatisfiable"],
      ["bytes=-1", 0, "unsatisfiable"],
      ["bytes=3-2", 10, "whole"],
      ["bytes=0-1,3-4", 10, "whole"],
      ["bytes=0-1, bytes=3-4", 10, "whole"],
      ["bytes=-", 10, "whole"],
      ["bytes=1-2-3", 10, "whole"],
      ["bytes=+1-2", 10, "whole"],
      ["bytes=0x1-2", 10, "whole"],
      ["bytes=1.5-2", 10, "whole"],
      ["chunks=0-1", 10, "whole"],
      ["bytes=0-99999999999999999999999999", 10, { start: 0, end: 10 }],
      ["bytes=99999999999999999999999999-", 10, "unsatisfiable"],
      ["bytes=9007199254740992-9007199254740993", 10, "unsatisfiable"],
      [`bytes=${"9".repeat(10_000)}-`, 10, "whole"]
    ] as const
    for (const [header, size, expected] of asked) {
      expect([header, requestedRange(header, size)]).toEqual([header, expected])
    }
  })

  it("never leads out of the content, whatever it is", () => {
    const number = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 70n }).map(String), fc.constant(""), fc.nat(20).map(String))
    fc.assert(
      fc.property(number, number, fc.nat(20), (first, last, size) => {
        const range = requestedRange(`bytes=${first}-${last}`, size)
        if (typeof range === "string") return
        expect(range.start).toBeGreaterThanOrEqual(0)
        expect(range.end).toBeGreaterThan(range.start)
        expect(range.end).toBeLessThanOrEqual(size)
      }),
      tried()
    )
  })
})

describe("the name of a file that a third party chose", () => {
  it("is one that can be stored: no path, no device, nothing hidden or unseen", () => {
    const names = [
      ["Report 2026.pdf", "Report 2026.pdf"],
      ["договор.docx", "договор.docx"],
      ["../../etc/passwd", "_.._etc_passwd"],
      ["C:\\Windows\\x.exe", "C__Windows_x.exe"],
      [".bashrc", "bashrc"],
      ["a\r\nSet-Cookie: b=c", "a__Set-Cookie_ b=c"],
      ["invoice\u202Efdp.exe", "invoice_fdp.exe"],
      ["con.txt", "_con.txt"],
      ["\uD800a\"b", "_a_b"],
      ["", "file"],
      [". .", "file"],
      ["///", "file"],
      [null, "file"]
    ] as const
    for (const [given, expected] of names) expect([given, safeFileName(given, "file")]).toEqual([given, expected])
    const long = safeFileName(`${"😀".repeat(500)}.pdf`, "file")
    expect([long.length <= 120, long.endsWith(".pdf"), long.isWellFormed()]).toEqual([true, true, true])
  })

  it("has no character with a meaning, and is itself where it is made safe again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 140 }), (given) => {
        const name = safeFileName(given, "file")
        expect(name).not.toMatch(/[\p{Cc}\p{Cf}<>:"/\\|?*]/u)
        expect(name).not.toMatch(/^\.|^$/)
        expect(name.isWellFormed()).toBe(true)
        expect(safeFileName(name, "file")).toBe(name)
      }),
      tried(50)
    )
  })
})

it("the media type of a third party is one type without parameters, or that of any bytes", () => {
  expect(safeMediaType("Image/PNG; charset=x")).toBe("image/png")
  for (const given of [null, undefined, "", "text", "text/html\r\nx: y", "a/b/c", "/x", `a/${"b".repeat(200)}`]) {
    expect(safeMediaType(given)).toBe("application/octet-stream")
  }
})
