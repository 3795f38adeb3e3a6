/** What `npm run mutants` has shown, as a figure. */
import * as fs from "node:fs"
import * as path from "node:path"
import { directory, type Figure, type Recorded } from "../../bench/support/figure.ts"
import { mutants } from "./list.ts"
import type { Mutant } from "./mutant.ts"
import type { Shown } from "./tests.ts"

/** A change with its number in the list, and what the tests showed of it. */
export interface Tried {
  readonly number: number
  readonly mutant: Mutant
  readonly shown: Shown
}

const name = "mutants"
const every = "Every change"

const code = (text: string): string => text === "" ? "(dropped)" : text

const verdicts = { red: "killed", green: "survived", broken: "did not run" } as const

type Row = ReadonlyArray<string | number>

/** The part of a row that names the change, by which it is found again. */
const changeOf = ({ change, file, why }: Mutant): Row => [
  file.replace("src/", ""),
  change.in,
  code(change.replace),
  code(change.by),
  why
]

const rowOf = ({ mutant, shown }: Tried, date: string): Row => [
  ...changeOf(mutant),
  verdicts[shown.how],
  shown.how === "red" ? shown.title : "",
  date
]

const keyOf = (row: Row): string => JSON.stringify(row.slice(0, 4))

/** The rows that were recorded before, by their changes. */
const keptRows = (): ReadonlyMap<string, Row> => {
  const file = path.join(directory, `${name}.json`)
  if (!fs.existsSync(file)) return new Map()
  const { date, tables }: Recorded = JSON.parse(fs.readFileSync(file, "utf8"))
  const rows = tables.find(({ title }) => title === every)?.rows ?? []
  return new Map(rows.map(([, ...row]) => [keyOf(row), row.length < 8 ? [...row, date] : row]))
}

/** The figure of all changes of the list; those that were not tried now are as they were recorded, where they were. */
export const figureOf = (tried: ReadonlyArray<Tried>, date: string, kept = keptRows()): Figure => {
  const now = new Map(tried.map((one) => [one.number, rowOf(one, date)]))
  const rows = mutants.flatMap((mutant, index): ReadonlyArray<Row> => {
    const row = now.get(index + 1) ?? kept.get(keyOf(changeOf(mutant)))
    return row === undefined ? [] : [[index + 1, ...row]]
  })
  const moduleOf = (row: Row) => `src/${String(row[1]).split("/")[0]}`
  const count = (module: string, verdict: string) =>
    rows.filter((row) => moduleOf(row) === module && row[6] === verdict).length
  return {
    name,
    title: "Mutants: changes to the sources that the tests must see",
    command: "npm run mutants",
    text: [
      `Each of ${rows.length} small changes to the sources, chosen by hand because a person would regret it, is applied alone to a copy of the checkout; the test files named for it then run, and at least one test has to fail. The same files pass over unchanged sources first. ${
        rows.filter((row) => row[6] === verdicts.red).length
      } of ${rows.length} were killed${
        rows.length < mutants.length ? `; ${mutants.length - rows.length} more are listed and were not tried` : ""
      }.`,
      "A change that breaks a file so that no test runs does not count as killed. The list is a sample, and says nothing of lines that are not in it."
    ],
    tables: [
      {
        title: "By module of the sources",
        columns: ["Module", "Changes", "Killed", "Survived", "Did not run"],
        rows: [...new Set(rows.map(moduleOf))].map((module) => [
          module,
          rows.filter((row) => moduleOf(row) === module).length,
          ...[verdicts.red, verdicts.green, verdicts.broken].map((verdict) => count(module, verdict))
        ])
      },
      {
        title: every,
        columns: [
          "No.",
          "File",
          "In",
          "Code",
          "Becomes",
          "What would be lost",
          "Result",
          "First test that saw it",
          "On"
        ],
        rows
      }
    ],
    charts: []
  }
}
