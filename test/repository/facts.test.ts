import { describe, expect, it } from "vitest"
import { facts, idsIn, named, parseFacts, titles } from "../spec/facts.ts"
import { exceptions, exclusions } from "../spec/scope.ts"

const known = new Set(facts.map(({ id }) => id))
const excused = { ...exclusions, ...exceptions }

describe("the facts of the specification", () => {
  it("are all read from docs/specification", () => {
    expect(facts).toHaveLength(329)
    expect(known.size).toBe(facts.length)
  })

  it("are each named by a test, excluded or excepted", () => {
    const unproved = facts.filter(({ id, later }) => !later && !named.has(id) && !(id in excused))
    expect(unproved.map(({ id, text }) => `${id} ${text}`)).toEqual([])
  })

  it("exist, where a test names one", () => {
    expect([...named].filter(([id]) => !known.has(id))).toEqual([])
  })

  it("exist, where one is excused, and are excused once", () => {
    expect(Object.keys(excused).filter((id) => !known.has(id))).toEqual([])
    expect(Object.keys(exclusions).filter((id) => id in exceptions)).toEqual([])
  })

  it("are excluded only for OAuth or pages", () => {
    expect(Object.entries(exclusions).filter(([, reason]) => !/^(?:OAuth|pages): ./.test(reason))).toEqual([])
  })

  it("are not excepted where a test names them", () => {
    expect(Object.keys(exceptions).filter((id) => named.has(id))).toEqual([])
  })
})

describe("the reading of the facts", () => {
  it("takes rows of an id and a fact, and none of the open readings", () => {
    expect(
      parseFacts("| S1-01 | One seat |\n| S1-02 | More (later) |\n| Fact | What holds |\nS1-03\n| S1-01 | one | two |")
    )
      .toEqual([
        { id: "S1-01", text: "One seat", later: false },
        { id: "S1-02", text: "More (later)", later: true }
      ])
  })

  it("takes titles from calls, whatever their kind", () => {
    expect(
      titles(`
      describe("S1-01: a", () => {
        it.effect("S1-02, S1-03: b", () => Effect.void)
        it.effect.prop(\`S1-04: c \${f("x")} d\`, [Schema.String], () => {})
        it.each([["S9-99", (x) => x], [")"]])("S1-05: %s", () => {})
        test(
          'S1-06: it\\'s', () => {})
      })
    `).flatMap(idsIn)
    ).toEqual(["S1-01", "S1-02", "S1-03", "S1-04", "S1-05", "S1-06"])
  })

  it("takes none from comments, other strings, regular expressions, other calls and skipped tests", () => {
    expect(titles(`
      // it("S1-01: a")
      /* it("S1-02: b") */
      const text = "it('S1-03: c')" + \`it("S1-04: \${"it('S1-05')"}")\`
      const pattern = /it\\("S1-06"\\)/
      limit("S1-07: d")
      suite.it("S1-08: e")
      it.skip("S1-09: f")
      it.effect.skip("S1-10: g")
      const id = "S1-11"
      it(id, () => {})
    `)).toEqual([])
  })
})
