import { describe, expect, it } from "vitest"
import { mutants } from "./list.ts"
import type { Change } from "./mutant.ts"
import { faultsOf, mutated } from "./source.ts"

const one = (source: string, change: Partial<Change>) =>
  mutated({ in: "isOpen", replace: "<", by: "<=", ...change }, "source.ts", source)

describe("a change to a source", () => {
  it("is found in the declaration of its name alone: a function, a constant, a method, a member", () => {
    const others = "const isShut = () => 1 < 2; const other = { isOpened: () => 1 < 2 }"
    const inside = [
      "function isOpen() { return 1 # 2 }",
      "const isOpen = () => 1 # 2",
      "class A { isOpen() { return 1 # 2 } }",
      "const a = { isOpen: () => 1 # 2 }",
      "const a = Effect.gen(function*() { const isOpen = 1 # 2 })"
    ]
    for (const text of inside) {
      expect(one(`${others}\n${text.replace("#", "<")}`, {})).toBe(`${others}\n${text.replace("#", "<=")}`)
    }
    expect(one("class A { #isOpen = 1 < 2 }", { in: "#isOpen" })).toBe("class A { #isOpen = 1 <= 2 }")
    expect(one("export default 1 < 2", { in: "default" })).toBe("export default 1 <= 2")
  })

  it("may name several declarations from the outside in", () => {
    const source = "const a = { isOpen: () => 1 < 2 }; const b = { isOpen: () => 1 < 2 }"
    expect(() => one(source, {})).toThrow("2 times in isOpen")
    expect(one(source, { in: "b.isOpen" })).toBe(
      "const a = { isOpen: () => 1 < 2 }; const b = { isOpen: () => 1 <= 2 }"
    )
  })

  it("is found however its lines are broken", () => {
    const change = { replace: "check(a, b) && ", by: "" }
    expect(one("const isOpen = check(a, b) && c", change)).toBe("const isOpen = c")
    expect(one("const isOpen = check(\n  a,\n  b\n) &&\n  c", change)).toBe("const isOpen = c")
  })

  it("is no part of a longer word or operator", () => {
    const source = "const isOpen = amount <= 1 || count << 2 || mount < 3"
    expect(one(source, {})).toBe(source.replace("< 3", "<= 3"))
    expect(one(source, { replace: "mount", by: "0" })).toBe(source.replace(" mount", " 0"))
  })

  it("is none where its code stands nowhere, or twice", () => {
    expect(() => one("const isOpen = 1 > 2", {})).toThrow("0 times in isOpen")
    expect(() => one("const isOpen = 1 < 2 && 2 < 3", {})).toThrow("2 times in isOpen")
    expect(() => one("const { isOpen } = door", { replace: "door" })).toThrow("0 times in isOpen")
  })
})

describe("the list of mutants", () => {
  it("names code that occurs once in its declaration, makes sources that parse, and names tests that exist", () => {
    expect(mutants.flatMap(faultsOf)).toEqual([])
  })

  it("holds no change twice, and says of each what would be lost", () => {
    expect(mutants.filter(({ why }) => why === "")).toEqual([])
    expect(new Set(mutants.map(({ change, file }) => JSON.stringify([file, change]))).size).toBe(mutants.length)
  })

  it("has changes in each of these modules", () => {
    const modules = new Set(mutants.map(({ file }) => file.split("/")[1]))
    expect([...modules].toSorted()).toEqual([
      "archive",
      "capture",
      "changes",
      "domain",
      "kernel",
      "layers",
      "oauth",
      "protection"
    ])
    expect(mutants.length).toBeGreaterThanOrEqual(50)
  })
})
