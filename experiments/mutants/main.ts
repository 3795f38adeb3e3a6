/**
 * Applies each listed change to a copy of the sources, alone, and runs the tests that must see it.
 *
 * `npm run mutants` tries all of them; `--only 12` one by its number in the list, `--only 3,7-9` several, `--module
 * oauth` those of a module; `--workers 2` says how many are tried at a time; `--no-baseline` leaves out the run of the
 * same tests over unchanged sources, without which a red test says little. Of a part of the list, the others are kept as
 * they were recorded.
 */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { record } from "../../bench/support/figure.ts"
import { figureOf, type Tried } from "./figure.ts"
import { mutants } from "./list.ts"
import { apply, copyTo, faultsOf } from "./source.ts"
import { run } from "./tests.ts"

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    module: { type: "string" },
    workers: { type: "string", default: "2" },
    baseline: { type: "boolean", default: true }
  },
  allowNegative: true
})

/** Whether a list such as `3,7-9` names the number. */
const names = (list: string, number: number): boolean =>
  list.split(",").some((range) => {
    const [from = 0, to = from] = range.split("-").map(Number)
    return number >= from && number <= to
  })

const chosen = mutants.map((mutant, index) => ({ mutant, number: index + 1 })).filter(({ mutant, number }) =>
  (values.only === undefined || names(values.only, number)) &&
  (values.module === undefined || mutant.file.startsWith(`src/${values.module}/`))
)

const end = (message: string): never => {
  console.error(message)
  process.exit(1)
}

const faults = mutants.flatMap(faultsOf)
if (faults.length > 0) end(faults.join("\n"))

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "mutants-"))
process.on("exit", () => fs.rmSync(scratch, { recursive: true, force: true }))
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1))

const copies = Array.from({ length: Number(values.workers) }, (_, index) => {
  const directory = path.join(scratch, String(index))
  copyTo(directory)
  return directory
})

const started = performance.now()
if (values.baseline) {
  const files = [...new Set(chosen.flatMap(({ mutant }) => mutant.tests))]
  const unchanged = await run(copies[0] ?? "", files, copies.length)
  if (unchanged.how !== "green") end(`The tests are not green over unchanged sources: ${JSON.stringify(unchanged)}`)
  console.log(`${files.length} files of tests are green over unchanged sources.`)
}

const waiting = [...chosen]
const tried: Array<Tried> = []
await Promise.all(copies.map(async (directory) => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { mutant, number } = next
    const takeBack = apply(mutant, directory)
    const shown = await run(directory, mutant.tests, 1)
    takeBack()
    tried.push({ number, mutant, shown })
    const verdict = shown.how === "red" ? "killed" : shown.how === "green" ? "SURVIVED" : "BROKEN"
    console.log(`${String(number).padStart(3)} ${verdict} ${mutant.file}: ${mutant.why}`)
    if (shown.how === "red") console.log(`      by: ${shown.title}`)
    if (shown.how === "broken") console.log(shown.log)
  }
}))

const minutes = (performance.now() - started) / 60_000
const ordered = tried.toSorted((one, other) => one.number - other.number)
// Without the baseline a red test says too little to be kept.
if (values.baseline) record(figureOf(ordered, new Date().toISOString().slice(0, 10)))
const left = ordered.filter(({ shown }) => shown.how !== "red")
console.log(`\n${ordered.length - left.length} of ${ordered.length} killed, in ${minutes.toFixed(1)} minutes.`)
process.exitCode = left.length === 0 ? 0 : 1
