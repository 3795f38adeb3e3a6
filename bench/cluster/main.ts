/** `npm run bench:cluster`: several processes that share the accounts, and how soon they replace one another. */
import { parseArgs } from "node:util"
import { record, recordTables } from "../support/figure.ts"
import { startGround } from "../support/ground.ts"
import { measure, type Measured, middle } from "./measure.ts"
import { measureShares, shareTitles } from "./share.ts"

const help =
  `npm run bench:cluster -- [--accounts 3000] [--seconds 60] [--parts faults,share] [--latency 50] [--note text]

faults: Three processes of serve share so many accounts over a data centre on loopback in a process of its own, on a
PostgreSQL of its own; one is killed some times, one stopped, and PostgreSQL is away for 5 s. About nine minutes.
share: 25,000 accounts over three workers, a third of them over one, and 100,000 over four, whose messenger answers
after --latency ms; its tables replace those of the last run. About seven minutes.`

const { values } = parseArgs({
  options: {
    accounts: { type: "string", default: "3000" },
    seconds: { type: "string", default: "60" },
    parts: { type: "string", default: "faults,share" },
    latency: { type: "string", default: "50" },
    note: { type: "string" },
    help: { type: "boolean", default: false }
  }
})

const inSeconds = (millis: number): string => `${(millis / 1000).toFixed(1)} s`
const spread = (times: ReadonlyArray<number>): string => `${inSeconds(middle(times))}, ${inSeconds(Math.max(...times))}`
const inMillis = (millis: number): string => `${millis.toFixed(1)} ms`

const rowsOf = (found: Measured): ReadonlyArray<readonly [string, string, string]> => [
  ["all sessions open after the start of three processes", inSeconds(found.started), ""],
  [
    `all sessions of a process open elsewhere after kill -9: median of ${found.failover.length}, longest`,
    spread(found.failover),
    "15 s"
  ],
  [
    "requests about its accounts refused meanwhile, from the first to the last: median, longest",
    spread(found.refused),
    "15 s"
  ],
  ["all sessions of a process open elsewhere after SIGTERM", inSeconds(found.handover), "5 s"],
  ["a new process has its share, and all sessions are open: median, longest", spread(found.joined), ""],
  [
    "a call to the messenger at another process takes longer by, p50",
    inMillis(middle(found.elsewhere) - middle(found.here)),
    "5 ms"
  ],
  ["the call at the process that has the session, p50", inMillis(middle(found.here)), ""],
  ["statements about leases at rest, a second and process", found.leases.toFixed(2), "1"],
  [
    `connections to the messenger that are made because PostgreSQL is away for ${inSeconds(found.away)}`,
    String(found.closedWhileAway),
    "0"
  ],
  ["keys used by two", String(found.duplicated), "0"],
  [
    `looks a second (${(found.accounts / 60).toFixed(0)} are due)`,
    found.looks.toFixed(0),
    ""
  ],
  ["accounts late at one moment: p50, p99, longest", found.late.map((late) => `${late.toFixed(1)} s`).join(", "), ""],
  ["memory of a process that never had more than its share", `${Math.round(found.memory)} MiB`, ""],
  ["processors of all three processes", `${found.processCpu.toFixed(1)} % of one`, ""],
  ["database CPU a look, all of its work included", `${found.databaseCpu.toFixed(2)} ms`, ""],
  ["WAL a look", `${Math.round(found.wal)} B`, ""]
]

const runFaults = async () => {
  const ground = await startGround({ shared_preload_libraries: "pg_stat_statements" })
  try {
    const found = await measure(ground, Number(values.accounts), Number(values.seconds))
    record({
      name: "cluster",
      title: "Several processes",
      command: "npm run bench:cluster",
      text: [
        `Three processes with the roles api and worker share ${values.accounts} accounts over the messenger's own protocol; the data centre is a process of its own on loopback, and so is PostgreSQL. All five share the machine. At rest every account is looked at once a minute, for ${values.seconds} s.`,
        "Then calls are made at the process that has the accounts' sessions and at another one, a process is killed and started again, five times, another one is stopped, and PostgreSQL is stopped for 5 s. A session is open elsewhere when the data centre has a connection that uses its key.",
        ...(values.note === undefined ? [] : [values.note])
      ],
      tables: [
        { title: "Three processes", columns: ["measured", "value", "goal"], rows: rowsOf(found) }
      ],
      charts: []
    }, shareTitles)
  } finally {
    await ground.remove()
  }
}

if (values.help) console.log(help)
else {
  const parts = values.parts.split(",")
  if (parts.includes("faults")) await runFaults()
  if (parts.includes("share")) {
    recordTables("cluster", await measureShares(Number(values.latency), Number(values.seconds)))
  }
}
process.exit(0)
