/** `npm run bench:monitor`: what it costs to watch accounts, how late looks are, and how soon strangers are found. */
import { parseArgs } from "node:util"
import { record } from "../support/figure.ts"
import { startGround } from "../support/ground.ts"
import { columns, measureSize, type Sizes } from "./measure.ts"

const help = `npm run bench:monitor -- [--accounts 1000,25000,100000] [--seconds 30] [--latency 50] [--note text]

Watches an organization of each size of --accounts on a PostgreSQL of its own, over a messenger that answers after
--latency ms: --seconds of quiet looks, then strangers, deadlines at twice the load and requests. About ten minutes.`

const { values } = parseArgs({
  options: {
    accounts: { type: "string", default: "1000,25000,100000" },
    seconds: { type: "string", default: "30" },
    latency: { type: "string", default: "50" },
    note: { type: "string" },
    help: { type: "boolean", default: false }
  }
})

/** Keeps what has been measured until now. */
const keep = (rows: ReadonlyArray<ReadonlyArray<string | number>>) =>
  record({
    name: "monitor",
    title: "The watch over accounts",
    command: "npm run bench:monitor",
    text: [
      `One process watches every account once a minute on a PostgreSQL of its own, over a messenger that answers each call after ${values.latency} ms. No look finds anything new at first: the looks a second, the lateness and what they cost are those of ${values.seconds} s of it. Then strangers sign in to accounts of which half are told by a push, their deadlines come while the looks of a minute are due in half a minute, and another process answers a page of accounts ten times a second.`,
      "At 50 ms for a call a process with 256 places makes at most 5,120 looks a second, and half as many where sessions have to be opened for them (`--max-live`, 3,000 by default): more accounts than that need a messenger that answers sooner, or more places. Few accounts make few looks a second, which share the statements that ask every three seconds what is due.",
      ...(values.note === undefined ? [] : [values.note])
    ],
    tables: [{ title: "By the number of accounts", columns, rows }],
    charts: []
  })

const run = async () => {
  const sizes: Sizes = { seconds: Number(values.seconds), latency: Number(values.latency) }
  const rows: Array<ReadonlyArray<string | number>> = []
  for (const accounts of values.accounts.split(",").map(Number)) {
    const ground = await startGround()
    try {
      rows.push(await measureSize(ground, accounts, sizes))
      keep(rows)
    } finally {
      await ground.remove()
    }
  }
}

if (values.help) console.log(help)
else await run()
process.exit(0)
