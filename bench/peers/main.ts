/** `npm run bench`: the service beside a peer with the same duties, and beside a floor with none. */
import { parseArgs } from "node:util"
import { record } from "../support/figure.ts"
import { compare } from "./compare.ts"
import { startDatabase, type Started } from "./database.ts"
import { figureOf } from "./figures.ts"
import { makeTokens, settle } from "./fixture.ts"
import { type Load, startLoad } from "./measure.ts"
import { installed, startFloor, startPeer, startService } from "./processes.ts"
import { printQuick } from "./quick.ts"
import { type Round, runRounds } from "./rounds.ts"
import { isWorkload, type WorkloadName, workloadNames } from "./workloads.ts"

const help =
  `npm run bench -- [--rounds 5] [--seconds 3] [--warm-up 2] [--connections 16] [--quick] [--flags="--max-semi-space-size=8"]
  [--only ${workloadNames.join(",")}]

Each round puts each server under load for --seconds after --warm-up, workload by workload, one server at a time.
With the defaults it takes about a quarter of an hour. With --quick there are two short rounds, whose ratios are
printed and not kept.`

const { values } = parseArgs({
  options: {
    rounds: { type: "string" },
    seconds: { type: "string" },
    "warm-up": { type: "string" },
    connections: { type: "string", default: "16" },
    flags: { type: "string", default: "" },
    only: { type: "string", default: workloadNames.join(",") },
    quick: { type: "boolean", default: false },
    help: { type: "boolean", default: false }
  }
})

const positive = (name: "rounds" | "seconds" | "warm-up" | "connections", otherwise: number): number => {
  const value = Number(values[name] ?? otherwise)
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} is a whole number from 1 on`)
  return value
}

/** Flags of Node for the service and for the peer. */
const flags = values.flags.split(" ").filter((flag) => flag !== "")

const run = {
  rounds: positive("rounds", values.quick ? 2 : 5),
  seconds: positive("seconds", values.quick ? 2 : 3),
  warmUp: positive("warm-up", values.quick ? 1 : 2),
  connections: positive("connections", 16)
}

const chosen = (): ReadonlyArray<WorkloadName> =>
  values.only.split(",").map((name) => {
    if (!isWorkload(name)) throw new Error(`There is no workload ${name}: ${workloadNames.join(", ")}`)
    return name
  })

/** Requests a second that no server here comes near. */
const bound = 16_000
const requestsPerMinute = 120
const organizations = 16

/** How many keys an organization needs so that no slot meets the limit of any. */
const keys = Math.ceil(bound / organizations * (run.seconds + run.warmUp) / requestsPerMinute)

const alike = async (database: Started): Promise<number> => {
  const { differences, requests } = await compare(database)
  if (differences.length > 0) throw new Error(`The peer is not like the service:\n${differences.join("\n")}`)
  process.stderr.write(`${requests} requests answered alike\n`)
  return requests
}

const measure = async (database: Started): Promise<ReadonlyArray<Round>> => {
  const servers = {
    ours: await startService(database.url, database.pepper, { flags, program: installed }),
    peer: await startPeer(database.peer.url, database.pepper, { flags }),
    floor: await startFloor(database.superUrl, database.fixture.organizations[0]?.id ?? "")
  }
  let load: Load | undefined
  try {
    const fixture = await makeTokens(
      database.superuser,
      database.pepper,
      database.fixture,
      servers.ours.address,
      keys
    )
    load = await startLoad(fixture, () => settle(database.superuser, database.peer.client), database.pid)
    return await runRounds(servers, load, chosen(), run)
  } finally {
    load?.stop()
    await Promise.all(Object.values(servers).map((server) => server.stop()))
  }
}

if (values.help) {
  console.log(help)
} else {
  const database = await startDatabase({ organizations, accounts: 1000, keys })
  try {
    const requests = await alike(database)
    const rounds = await measure(database)
    if (values.quick) printQuick(rounds, chosen())
    else record(figureOf(rounds, chosen(), requests, run))
  } finally {
    await database.remove()
  }
}
