import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Json from "../../src/transport/StrictJson.ts"
import { tried } from "../support/drawn.ts"

/** The names of the object's members, in their order. */
const names = (value: unknown) => Object.keys(Object(value))

describe("JSON as it was written", () => {
  it("a member has the name that it was written with, whatever names were read before", () => {
    Json.read(String.raw`{"recipients":"owner","\\":{}}`)
    expect(names(Json.read(String.raw`{"recipients":"owner","\t":{}}`).value)).toEqual(["recipients", "\t"])
    expect(names(Json.read(String.raw`{"recipients":"owner","\u0041":1}`).value)).toEqual(["recipients", "A"])
    Json.read(String.raw`{"a":1,"role\\u005f":1}`)
    expect(names(Json.read(String.raw`{"a":1,"role\u005flabel":1}`).value)).toEqual(["a", "role_label"])
  })

  it("every value is read as it was written, escaped or not, __proto__ among the names", () => {
    const sameWhenEscaped = fc.property(fc.json({ maxDepth: 4 }), fc.string(), (text, name) => {
      const object = `{${JSON.stringify(name)}:[${text}],"__proto__":1,"escaped":"\\u0041\\\\"}`
      const { duplicate, value } = Json.read(object)
      if (duplicate !== undefined) return
      expect(Object.getOwnPropertyDescriptor(value, name)?.value).toEqual([JSON.parse(text)])
      expect(Object.getOwnPropertyDescriptor(value, "__proto__")?.value).toBe(1)
      expect(Object.getOwnPropertyDescriptor(value, "escaped")?.value).toBe("A\\")
    })
    fc.assert(sameWhenEscaped, tried(300))
  })

  it("the first duplicate member is named, however it is escaped", () => {
    expect(Json.read(String.raw`{"a":{"b":1,"\u0062":2}}`).duplicate).toBe("b")
    expect(Json.read(String.raw`{"a":{"b":1},"c":{"b":2}}`).duplicate).toBeUndefined()
  })

  it("nesting is read to a hundred levels, and refused beyond them, before anything has to climb down", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
    const named = (depth: number) => "{\"a\":".repeat(depth) + "1" + "}".repeat(depth)
    for (const text of [nested(100), named(100)]) expect(Json.read(text).value).toEqual(JSON.parse(text))
    for (const text of [nested(101), named(101), nested(30_000)]) {
      expect(() => Json.read(text)).toThrow("nested too deep")
    }
  })
})
