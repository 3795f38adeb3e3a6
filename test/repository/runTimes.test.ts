import { describe, expect, it } from "vitest"
import { kindOf, kinds } from "../support/run/kinds.ts"
import { linesOf } from "../support/run/runTimes.ts"
import { files } from "./repository.ts"

describe("the report of a run's time", () => {
  it("adds up the files of each kind, and names the ten that took longest", () => {
    const ran = Array.from({ length: 12 }, (_, n) => ({
      file: n === 11 ? "test/cli/long.test.ts" : `test/domain/${n}.test.ts`,
      milliseconds: n * 1000,
      tests: 2
    }))
    const lines = linesOf(ran)
    expect(lines.slice(2, 4)).toEqual([
      "  process       11.0 s  1 files, 2 tests",
      "  unit          55.0 s  11 files, 22 tests"
    ])
    expect(lines.slice(6)).toEqual([
      "      11.0 s  test/cli/long.test.ts",
      ...Array.from({ length: 9 }, (_, at) => `  ${`${10 - at}.0 s`.padStart(10)}  test/domain/${10 - at}.test.ts`)
    ])
  })

  it("knows files of every kind", () => {
    const found = new Set(files("{test,bench,experiments}/**/*.test.ts").map(kindOf))
    expect([...found].toSorted()).toEqual([...kinds].toSorted())
  })
})
