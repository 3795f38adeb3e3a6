import { describe, expect, it } from "vitest"
import { securityLines as lines, shownBy } from "../spec/documents.ts"
import { files, read } from "./repository.ts"

const of = (section: string) => [
  ...new Set(lines.filter((line) => line.section.startsWith(section)).map(({ requirement }) => requirement))
]

const numbers = (requirements: ReadonlyArray<string>) => requirements.map((text) => text.split(" ", 1)[0])

describe("the document of security", () => {
  it("has a line for each of the ten risks", () => {
    expect(numbers(of("OWASP"))).toEqual(Array.from({ length: 10 }, (_, index) => `API${index + 1}:2023`))
  })

  it("has a line for each requirement of RFC 9700, sections 2 and 4", () => {
    expect(numbers(of("RFC 9700, section 2"))).toEqual(
      ["2.1", "2.1.1", "2.1.2", "2.2", "2.2.1", "2.2.2", "2.3", "2.4", "2.5", "2.6"]
    )
    expect(numbers(of("RFC 9700, section 4"))).toEqual(Array.from({ length: 17 }, (_, index) => `4.${index + 1}`))
  })

  it("names in every line a test by its file and its title", () => {
    const tests = files("test/**/*.test.ts")
    const wrong = lines.filter((line) => {
      const shown = shownBy(line)
      return shown === undefined || !tests.includes(`test/${shown.file}`)
        || !read(`test/${shown.file}`).includes(shown.title)
    })
    expect(wrong.map(({ shown }) => shown)).toEqual([])
    expect(lines.length).toBeGreaterThan(50)
  })

  it("says for every requirement what is done", () => {
    const said = new Set(lines.filter(({ does }) => does !== "").map(({ requirement }) => requirement))
    expect([...new Set(lines.map(({ requirement }) => requirement))].filter((one) => !said.has(one))).toEqual([])
  })
})
