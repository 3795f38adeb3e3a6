/**
 * Breaks what the service stands on, and counts what is left: `npm run faults -- [names] [--rounds n] [--seconds n]`.
 *
 * Without names every fault is tried. `--rounds` and `--seconds` replace the sizes that the faults have of their own;
 * `--only` names one of those that `cluster` tries in random order, and nothing is kept then; `--at-once` is the number
 * of services that share its rounds.
 * It ends with 1 where anything was lost, duplicated, half-done or orphaned, or something expected did not come.
 */
import { parseArgs } from "node:util"
import { type Figure, record } from "../../bench/support/figure.ts"
import { archive } from "./archive.ts"
import { backends } from "./backends.ts"
import { clock } from "./clock.ts"
import { cluster } from "./cluster.ts"
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
import * as Watch from "./watch.ts"
import { wire } from "./wire.ts"

/** Faults of what watches the accounts: `watch` names all of them. */
const watched: Readonly<Record<string, Fault>> = {
  "watch-killed": Watch.killed,
  "watch-away": Watch.away,
  "watch-clock": Watch.stepped,
  "watch-directory": Watch.directory,
  "watch-pair": Watch.pair,
  "watch-crashes": Watch.crashes
}

const others: Readonly<Record<string, Fault>> = {
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
  wire
}

const shared: Readonly<Record<string, Fault>> = { cluster }

const captured: Readonly<Record<string, Fault>> = { archive }

const faults = { ...others, ...watched, ...shared, ...captured }
const groups: Readonly<Record<string, ReadonlyArray<string>>> = { watch: Object.keys(watched) }

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string" },
    seconds: { type: "string" },
    only: { type: "string" },
    "at-once": { type: "string" },
    help: { type: "boolean" }
  }
})

const named = positionals.flatMap((name) => groups[name] ?? [name])
const unknown = named.filter((name) => faults[name] === undefined)
if (values.help === true || unknown.length > 0) {
  console.log(
    `npm run faults -- [names] [--rounds n] [--seconds n]\nFaults: ${
      [...Object.keys(groups), ...Object.keys(faults)].join(", ")
    }`
  )
  process.exit(unknown.length > 0 ? 2 : 0)
}

const size = (text: string | undefined) => text === undefined ? undefined : Number(text)
const sizes = {
  rounds: size(values.rounds),
  seconds: size(values.seconds),
  only: values.only,
  atOnce: size(values["at-once"])
}
const chosen = named.length === 0 ? Object.keys(faults) : named
const reports: Array<readonly [string, Report]> = []

for (const name of chosen) {
  const started = performance.now()
  const report = await faults[name]!(sizes).catch((cause: unknown): Report => ({
    done: name,
    verdict: undefined,
    seen: "the experiment itself ended with a failure",
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

const failuresOf = (some: typeof reports) =>
  some.flatMap(([name, { failed, verdict }]) => [
    ...(verdict === undefined || isWhole(verdict) ? [] : [`${name}: ${JSON.stringify(verdict)}`]),
    ...failed.map((text) => `${name}: not as expected: ${text}`)
  ])

/** Writes a page where all of its faults were tried. */
const keep = (figure: Pick<Figure, "command" | "name" | "text" | "title">, tried: Readonly<Record<string, Fault>>) => {
  const some = reports.filter(([name]) => tried[name] !== undefined)
  if (some.length < Object.keys(tried).length || values.only !== undefined) return
  const failures = failuresOf(some)
  record({
    ...figure,
    tables: [{
      title: "What is left after each fault",
      columns,
      rows: some.map(row),
      note: failures.length === 0 ? "Everything was as expected." : failures.join("\n\n")
    }],
    charts: []
  })
}

const counts =
  "**acknowledged**: writes answered 2xx. **unknown**: writes whose connection was cut or that were answered 5xx; they may have happened or not, but whole. **lost**: acknowledged, and not in the database or not in the journal afterwards, or a value that its writes do not explain. **duplicated**: took effect or was journaled twice. **half-done**: a change without its journal entry, an entry without its change, an intent without an outcome after the sweep. **journal orphans**: gaps, a chain that `journal verify` calls broken, rows in `pending_change` after their deadline and a sweep. The last four have to be 0."

keep({
  name: "faults",
  title: "Faults",
  command: "npm run faults",
  text: [
    "Processes of `serve` as a user starts them, over HTTP, on a PostgreSQL 15 of the experiment's own with `fsync` on or on the embedded database. Clients write one after the other, each to accounts of its own and under a text that no other write carries: seven role labels, two bios on the simulated messenger and one API key of ten. They remember what they were answered; afterwards everything is read from the database.",
    counts,
    "Where an experiment does not wait for the sweep itself (a minute after the intent, then within 15 s), it brings the deadline forward in the database and starts a process, which sweeps; `replica` waits."
  ]
}, others)

keep({
  name: "faults-watch",
  title: "Faults while strangers sign in",
  command: "npm run faults -- watch",
  text: [
    "Processes of `serve` with the simulated messenger, on a PostgreSQL 15 of the experiment's own with `fsync` on or on the embedded database. In each round a stranger signs in to each of eight accounts and is to be found; then their deadlines come, twelve hours early, and they are to be signed out. Both times something breaks.",
    "As expected is: each stranger is found once and signed out once, by the service and for the deadline, and each finding, sign-out and loss of sight is mailed once; no takeover is seen, no session of the service is lost, no account stays unknown, no intent stays open, and the journal's chain is whole. Clients write nothing meanwhile.",
    "Times that nobody has to wait for are brought forward in the database: the 15 minutes of a messenger that is away, the deadlines, and in `watch-crashes` what a killed process still held."
  ]
}, watched)

keep({
  name: "faults-cluster",
  title: "Faults of several processes",
  command: "npm run faults -- cluster",
  text: [
    "Three processes of `serve`, each with its own way to a PostgreSQL 15 of the experiment's own with `fsync` on, share the accounts over the messenger's own protocol; the data centre and the people are a process of their own, which sees which connection uses which key. In each round a stranger signs in to every account, later their deadlines come, and something breaks with the strangers or with the deadlines. Meanwhile people write in chats that are archived, a backup is asked for, and three clients change profiles at any process that is not dead. Several such services, each with all of this of its own, share the rounds at the same time.",
    "As expected is: no key is used by two connections in turn, no account is without a session for 30 s, each stranger is found, mailed of and signed out once, each change of a profile reaches the messenger at most once and those that were acknowledged do, each message is archived once, and each backup ends. A stranger whose push was lost is found by the next poll, within a minute.",
    counts
  ]
}, shared)

keep({
  name: "faults-archive",
  title: "Faults while chats are archived",
  command: "npm run faults -- archive",
  text: [
    "Two processes of `serve` archive the chats of four accounts over the messenger's own protocol, on a PostgreSQL 15 of the experiment's own with `fsync` on; the data centre and the people are a process of their own. People write, send files, edit and delete, in chats of their own and in a group that all share, and one trouble follows the other. At the end a backup is asked for, and the archive is read over HTTP and compared with everything that was ever written, message by message.",
    "As expected is: each message that is still there is archived once, with its newest text and its file byte for byte; each that is archived and gone is marked; none was never written; no request of the service marks anything as read or shows its presence; no session is lost."
  ]
}, captured)

process.exit(failuresOf(reports).length === 0 ? 0 : 1)
