/** What `npm run mutants` has shown, as a figure. */
import type { Figure } from "../../bench/support/figure.ts"
import type { Mutant } from "./mutant.ts"
import type { Shown } from "./tests.ts"

/** A change with its number in the list, and what the tests showed of it. */
export interface Tried {
  readonly number: number
  readonly mutant: Mutant
  readonly shown: Shown
}

const moduleOf = (file: string): string => file.split("/")[1] ?? file

const code = (text: string): string => text === "" ? "(dropped)" : text

const verdicts = { red: "killed", green: "survived", broken: "did not run" } as const

export const figureOf = (tried: ReadonlyArray<Tried>, minutes: number, baseline: boolean): Figure => {
  const modules = [...new Set(tried.map(({ mutant }) => moduleOf(mutant.file)))]
  const count = (module: string, how: Tried["shown"]["how"]) =>
    tried.filter(({ mutant, shown }) => moduleOf(mutant.file) === module && shown.how === how).length
  const killed = tried.filter(({ shown }) => shown.how === "red").length
  return {
    name: "mutants",
    title: "Mutants: changes to the sources that the tests must see",
    command: "npm run mutants",
    text: [
      `Each of ${tried.length} small changes to the sources, chosen by hand because a person would regret it, is applied alone to a copy of the checkout; the test files named for it then run, and at least one test has to fail. ${
        baseline ? "The same files pass over unchanged sources first" : "They were not run over unchanged sources first"
      }. ${killed} of ${tried.length} were killed; the run took ${minutes.toFixed(0)} minutes.`,
      "A change that breaks a file so that no test runs does not count as killed. The list is a sample, and says nothing of lines that are not in it."
    ],
    tables: [
      {
        title: "By module of the sources",
        columns: ["Module", "Changes", "Killed", "Survived", "Did not run"],
        rows: modules.map((module) => [
          `src/${module}`,
          tried.filter(({ mutant }) => moduleOf(mutant.file) === module).length,
          count(module, "red"),
          count(module, "green"),
          count(module, "broken")
        ])
      },
      {
        title: "Every change",
        columns: ["No.", "File", "In", "Code", "Becomes", "What would be lost", "Result", "First test that saw it"],
        rows: tried.map(({ mutant, number, shown }) => [
          number,
          mutant.file.replace("src/", ""),
          mutant.change.in,
          code(mutant.change.replace),
          code(mutant.change.by),
          mutant.why,
          verdicts[shown.how],
          shown.how === "red" ? shown.title : ""
        ])
      }
    ],
    charts: []
  }
}
