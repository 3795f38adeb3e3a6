import { describe, expect, it } from "vitest"
import { titles } from "../spec/facts.ts"
import { files, read } from "./repository.ts"

interface Line {
  readonly section: string
  readonly requirement: string
  readonly does: string
  readonly shown: string
}

/** The lines of the document's tables; one without a requirement belongs to the one before. */
const lines: ReadonlyArray<Line> = (() => {
  let section = ""
  let requirement = ""
  return read("docs/security.md").split("\n").flatMap((line) => {
    if (line.startsWith("## ")) section = line.slice(3)
    const cells = line.split("|").map((cell) => cell.trim())
    if (cells.length !== 5 || cells[3] === "Shown by" || /^-+$/.test(cells[3] ?? "")) return []
    requirement = cells[1] === "" ? requirement : cells[1] ?? ""
    return [{ section, requirement, does: cells[2] ?? "", shown: cells[3] ?? "" }]
  })
})()

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

  it("names in every line a test by its file and its whole title", () => {
    const wrong = lines.filter(({ shown }) => {
      const [, file, title] = /^`([^`]+)`: (.+)$/.exec(shown) ?? []
      return file === undefined || title === undefined || !files("test/**/*.test.ts").includes(`test/${file}`) ||
        !titles(read(`test/${file}`)).includes(title)
    })
    expect(wrong.map(({ shown }) => shown)).toEqual([])
    expect(lines.length).toBeGreaterThan(50)
  })

  it("says for every requirement what is done", () => {
    const said = new Set(lines.filter(({ does }) => does !== "").map(({ requirement }) => requirement))
    expect([...new Set(lines.map(({ requirement }) => requirement))].filter((one) => !said.has(one))).toEqual([])
  })
})
