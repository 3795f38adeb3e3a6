import { describe, expect, it } from "vitest"
import { mutants } from "./list.ts"
import { faultsOf } from "./source.ts"

describe("the list of mutants", () => {
  it("names lines that occur once in their files, and tests that exist", () => {
    expect(mutants.flatMap(faultsOf)).toEqual([])
  })

  it("changes something in each of them, and says what would be lost", () => {
    expect(mutants.filter(({ becomes, line, why }) => becomes.trim() === line || why === "")).toEqual([])
    expect(new Set(mutants.map(({ file, line }) => `${file} ${line}`)).size).toBe(mutants.length)
  })

  it("has changes in each of these modules", () => {
    const modules = new Set(mutants.map(({ file }) => file.split("/")[1]))
    expect([...modules].toSorted()).toEqual([
      "cli",
      "domain",
      "edge",
      "engine",
      "http",
      "kernel",
      "layers",
      "mcp",
      "messenger",
      "oauth",
      "operations"
    ])
    expect(mutants.length).toBeGreaterThanOrEqual(50)
  })
})
