import { describe, expect, it } from "vitest"
import { facts, parseFacts } from "../spec/facts.ts"
import { casesIn, findingsOf, proofsOf, type Ran } from "../spec/proofs.ts"
import { exceptions, exclusions } from "../spec/scope.ts"
import { codeOf } from "../support/run/code.ts"

const known = new Set(facts.map(({ id }) => id))

describe("the facts of the specification", () => {
  it("are all read from docs/specification", () => {
    expect(facts).toHaveLength(329)
    expect(known.size).toBe(facts.length)
  })

  it("exist, where one is excused, and are excused once", () => {
    expect(Object.keys({ ...exclusions, ...exceptions }).filter((id) => !known.has(id))).toEqual([])
    expect(Object.keys(exclusions).filter((id) => id in exceptions)).toEqual([])
  })

  it("are excluded only for OAuth or pages", () => {
    expect(Object.entries(exclusions).filter(([, reason]) => !/^(?:OAuth|pages): ./.test(reason))).toEqual([])
  })
})

describe("the reading of the facts", () => {
  it("takes rows of an id and a fact, and none of the open readings", () => {
    expect(
      parseFacts(
        "| S1-01 | One seat |\n| S1-02 | More (reading: a; not: b) |\n| Fact | What holds |\nS1-03\n| S1-01 | one | two |"
      )
    )
      .toEqual([
        { id: "S1-01", text: "One seat" },
        { id: "S1-02", text: "More (reading: a; not: b)" }
      ])
  })
})

const ran = (titles: ReadonlyArray<string>, passed = true): Ran => ({ file: "a.test.ts", titles, passed })

const findings = (tests: ReadonlyArray<Ran>, documents: Partial<Parameters<typeof findingsOf>[1]>) =>
  findingsOf(tests, { facts: [], excluded: {}, excepted: {}, cases: [], shown: [], ...documents })

describe("what a run proves", () => {
  const fact = { id: "S1-01", text: "One seat" }
  const unproved = ["S1-01 is named by no test that passed: One seat"]

  it("is a fact that the title of a test that passed names, or that of a group around it", () => {
    expect(findings([ran(["S1-01: a"])], { facts: [fact] })).toEqual([])
    expect(findings([ran(["S1-01: a", "b", "c"])], { facts: [fact] })).toEqual([])
    expect([...proofsOf([ran(["S1-01: a", "S1-01, S1-02: b"]), ran(["S1-03: c"], false)])]).toEqual([
      ["S1-01", ["a.test.ts: S1-01, S1-02: b"]],
      ["S1-02", ["a.test.ts: S1-01, S1-02: b"]]
    ])
  })

  it("is no fact that no test names, or only one that failed or was skipped", () => {
    expect(findings([ran(["a"])], { facts: [fact] })).toEqual(unproved)
    expect(findings([ran(["S1-01: a"], false)], { facts: [fact] })).toEqual(unproved)
    expect(findings([ran(["S1-011: a"])], { facts: [fact] })).toContain(unproved[0])
  })

  it("need not be a fact that is excluded or excepted, and is none that is excepted", () => {
    expect(findings([], { facts: [fact], excluded: { "S1-01": "pages: none" } })).toEqual([])
    expect(findings([], { facts: [fact], excepted: { "S1-01": "none" } })).toEqual([])
    expect(findings([ran(["S1-01: a"])], { facts: [fact], excepted: { "S1-01": "none" } })).toEqual([
      "S1-01 is excepted, and yet tests name it"
    ])
  })

  it("is nothing that does not exist, even where the test failed", () => {
    expect(findings([ran(["S9-98: a"], false)], {})).toEqual(["S9-98 is no fact: a.test.ts: S9-98: a"])
    expect(findings([ran(["cases 1 and 3"])], { cases: [1] })).toEqual([
      "Case 3 does not exist: a.test.ts: cases 1 and 3"
    ])
  })

  it("is each case by its number", () => {
    expect(casesIn("case 1: a, cases 2 to 4, 7 and 9: b; in case of 10, 11 cases")).toEqual([1, 2, 3, 4, 7, 9])
    expect(findings([ran(["case 1: a"]), ran(["case 2: b"], false)], { cases: [1, 2] })).toEqual([
      "Case 2 is named by no test that passed"
    ])
  })

  it("is a line of the security document by file and whole title", () => {
    const shown = [{ file: "a.test.ts", title: "b" }]
    expect(findings([ran(["a", "b"])], { shown })).toEqual([])
    const missing = ["docs/security.md names what no test that passed is called: a.test.ts: b"]
    expect(findings([ran(["a", "b too"])], { shown })).toEqual(missing)
    expect(findings([ran(["a", "b"], false)], { shown })).toEqual(missing)
    expect(findings([{ ...ran(["b"]), file: "b.test.ts" }], { shown })).toEqual(missing)
  })
})

describe("a source without its texts", () => {
  it("keeps code where it stands, and nothing of comments, strings, templates and regular expressions", () => {
    const source = "f('a\\'b') // c\n/* d\n*/ g(`h${i(\"j\")}k`, /l\\/[/]m/gu, n / 2 / o)"
    const code = "f('    ')     \n    \n   g(` ${i(\" \")} `, /       /gu, n / 2 / o)"
    expect(codeOf(source)).toBe(code)
  })
})
