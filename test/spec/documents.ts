/** The documents that name tests, as they are read. */
import { readFileSync } from "node:fs"
import { facts } from "./facts.ts"
import type { Documents } from "./proofs.ts"
import { exceptions, exclusions } from "./scope.ts"

const read = (file: string) => readFileSync(new URL(`../../docs/${file}`, import.meta.url), "utf8")

interface Line {
  readonly section: string
  readonly requirement: string
  readonly does: string
  readonly shown: string
}

/** The lines of the security document's tables; one without a requirement belongs to the one before. */
export const securityLines: ReadonlyArray<Line> = (() => {
  let section = ""
  let requirement = ""
  return read("security.md").split("\n").flatMap((line) => {
    if (line.startsWith("## ")) section = line.slice(3)
    const cells = line.split("|").map((cell) => cell.trim())
    if (cells.length !== 5 || cells[3] === "Shown by" || /^-+$/.test(cells[3] ?? "")) return []
    requirement = cells[1] === "" ? requirement : cells[1] ?? ""
    return [{ section, requirement, does: cells[2] ?? "", shown: cells[3] ?? "" }]
  })
})()

/** The test that a line of the security document names by its file and its title. */
export const shownBy = ({ shown }: Line): { readonly file: string; readonly title: string } | undefined => {
  const [, file, title] = /^`([^`]+)`: (.+)$/.exec(shown) ?? []
  return file === undefined || title === undefined ? undefined : { file, title }
}

export const documents: Documents = {
  facts,
  excluded: exclusions,
  excepted: exceptions,
  cases: [...read("specification/13-oauth-cases.md").matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number)),
  shown: securityLines.flatMap((line) => shownBy(line) ?? [])
}
