/**
 * Breaks what the service stands on, and counts what is left: `npm run faults -- [names] [--rounds n] [--seconds n]`.
 *
 * Without names every fault is tried. `--rounds` and `--seconds` replace the sizes that the faults have of their own. It
 * ends with 1 where anything was lost, duplicated, half-done or orphaned, or something expected did not come.
 */
import { parseArgs } from "node:util"
import { record } from "../../bench/support/figure.ts"
import { backends } from "./backends.ts"
import { clock } from "./clock.ts"
import { fullDirectory, fullPostgres } from "./disk.ts"
import type { Fault, Report } from "./fault.ts"
import { isWhole } from "./ledger.ts"
import { messenger } from "./messenger.ts"
import { paused } from "./paused.ts"
import { pglite } from "./pglite.ts"
import { repeated } from "./repeated.ts"
import { replica } from "./replica.ts"
import { restarts } from "./restarts.ts"
import { second } from "./second.ts"
import { watch } from "./watch.ts"
import { wire } from "./wire.ts"

const faults: Readonly<Record<string, Fault>> = {
  restarts,
  backends,
  replica,
  repeated,
  pglite,
  second,
  "full-postgres": fullPostgres,
  "full-directory": fullDirectory,
  paused,
  clock,
  messenger,
  watch,
  wire
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string" }, seconds: { type: "string" }, help: { type: "boolean" } }
})

const unknown = positionals.filter((name) => faults[name] === undefined)
if (values.help === true || unknown.length > 0) {
  console.log(`npm run faults -- [names] [--rounds n] [--seconds n]\nFaults: ${Object.keys(faults).join(", ")}`)
  process.exit(unknown.length > 0 ? 2 : 0)
}

const size = (text: string | undefined) => text === undefined ? undefined : Number(text)
const sizes = { rounds: size(values.rounds), seconds: size(values.seconds) }
const chosen = positionals.length === 0 ? Object.keys(faults) : positionals
const reports: Array<readonly [string, Report]> = []

for (const name of chosen) {
  const started = performance.now()
  const report = await faults[name]!(sizes).catch((cause: unknown): Report => ({
    done: name,
    verdict: undefined,
    seen: "the trial itself ended with a failure",
    failed: [cause instanceof Error ? cause.stack ?? cause.message : String(cause)]
  }))
  reports.push([name, report])
  console.error(`${name}: ${Math.round((performance.now() - started) / 1000)} s`, JSON.stringify(report))
}

const columns = [
  "fault",
  "acknowledged",
  "unknown",
  "lost",
  "duplicated",
  "half-done",
  "journal orphans",
  "what was seen"
]

const row = ([name, { done, seen, verdict }]: typeof reports[number]) =>
  verdict === undefined
    ? [`${name}: ${done}`, "–", "–", "–", "–", "–", "–", seen]
    : [
      `${name}: ${done}`,
      verdict.acknowledged,
      verdict.unknown,
      verdict.lost,
      verdict.duplicated,
      verdict.halfDone,
      verdict.orphans,
      seen
    ]

const failures = reports.flatMap(([name, { failed, verdict }]) => [
  ...(verdict === undefined || isWhole(verdict) ? [] : [`${name}: ${JSON.stringify(verdict)}`]),
  ...failed.map((text) => `${name}: not as expected: ${text}`)
])

record({
  name: "faults",
  title: "Faults",
  command: "npm run faults",
  text: [
    "Processes of `serve` as a user starts them, over HTTP, on a PostgreSQL 15 of the trial's own with `fsync` on or on the embedded database. Clients write one after the other, each to accounts of its own and under a text that no other write carries: seven role labels, two bios on the simulated messenger and one API key of ten. They remember what they were answered; afterwards everything is read from the database.",
    "**acknowledged**: writes answered 2xx. **unknown**: writes whose connection was cut or that were answered 5xx; they may have happened or not, but whole. **lost**: acknowledged, and not in the database or not in the journal afterwards, or a value that its writes do not explain. **duplicated**: took effect or was journaled twice. **half-done**: a change without its journal entry, an entry without its change, an intent without an outcome after the sweep. **journal orphans**: gaps, a chain that `journal verify` calls broken, rows in `pending_change` after their deadline and a sweep. The last four have to be 0.",
    "Where a trial does not wait for the sweep itself (a minute after the intent, then within 15 s), it brings the deadline forward in the database and starts a process, which sweeps; `replica` waits."
  ],
  tables: [{
    title: "What is left after each fault",
    columns,
    rows: reports.map(row),
    note: failures.length === 0 ? "Everything was as expected." : failures.join("\n\n")
  }],
  charts: []
})

process.exit(failures.length === 0 ? 0 : 1)
