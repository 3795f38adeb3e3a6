/** `npm run bench`: the service beside a peer with the same duties, and beside a floor with none. */
import { parseArgs } from "node:util"
import { record } from "../support/figure.ts"
import { compare } from "./alike.ts"
import { type Database, startDatabase } from "./database.ts"
import { figureOf, type Round, type ServerName, serverNames } from "./figures.ts"
import { type Load, startLoad } from "./measure.ts"
import { type Server, startFloor, startPeer, startService } from "./processes.ts"
import { isWorkload, type WorkloadName, workloadNames, workloads } from "./workloads.ts"

const help = `npm run bench -- [--rounds 4] [--seconds 3] [--warm-up 2] [--connections 16] [--workloads ${
  workloadNames.join(",")
}]

Each round puts each server under load for --seconds after --warm-up, workload by workload, one server at a time.
With the defaults it takes about eight minutes.`

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "4" },
    seconds: { type: "string", default: "3" },
    "warm-up": { type: "string", default: "2" },
    connections: { type: "string", default: "16" },
    workloads: { type: "string", default: workloadNames.join(",") },
    help: { type: "boolean", default: false }
  }
})

const positive = (name: "rounds" | "seconds" | "warm-up" | "connections"): number => {
  const value = Number(values[name])
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} is a whole number from 1 on`)
  return value
}

const chosen = (): ReadonlyArray<WorkloadName> =>
  values.workloads.split(",").map((name) => {
    if (!isWorkload(name)) throw new Error(`There is no workload ${name}: ${workloadNames.join(", ")}`)
    return name
  })

/** Requests a second that no server here comes near, in all organizations and in one. */
const bound = { all: 12_000, one: 4000 }
const requestsPerMinute = 120
const organizations = 16

/** How many keys an organization needs so that no slot meets the limit of any. */
const keysFor = (seconds: number): number =>
  2 * Math.ceil(Math.max(bound.all / organizations, bound.one) * seconds / requestsPerMinute / 2)

const floorToo = (workload: WorkloadName) => workloads[workload].kind === "read"

const alike = async (database: Database, names: ReadonlyArray<WorkloadName>, pipelined: boolean) => {
  const compared = await compare(database, names, pipelined)
  if (compared.differences.length > 0) {
    throw new Error(`The peer is not like the service:\n${compared.differences.join("\n")}`)
  }
  process.stderr.write(`${compared.requests} requests answered alike\n`)
  return compared
}

const runRounds = async (
  servers: Readonly<Record<ServerName, Server>>,
  load: Load,
  names: ReadonlyArray<WorkloadName>
): Promise<ReadonlyArray<Round>> => {
  const rounds: Array<Round> = []
  let slot = 1
  for (let number = 1; number <= positive("rounds"); number++) {
    for (const workload of names) {
      // Each round begins with another server.
      const order = serverNames.map((name, index) => serverNames[(index + number) % serverNames.length] ?? name)
      for (const name of order.filter((name) => name !== "floor" || floorToo(workload))) {
        const measured = await load.measure(servers[name], {
          workload,
          address: servers[name].address,
          connections: positive("connections"),
          warmUpSeconds: positive("warm-up"),
          seconds: positive("seconds"),
          slot: slot++,
          alone: name === "floor"
        })
        rounds.push({ workload, server: name, ...measured })
        process.stderr.write(
          `round ${number}, ${workload}, ${name}: ${measured.throughput.toFixed(0)}/s, ${
            measured.cpu.toFixed(3)
          } ms CPU\n`
        )
      }
    }
  }
  return rounds
}

const bench = async (database: Database) => {
  const names = chosen()
  const compared = await alike(database, names, false)
  const pipelined = await alike(database, names, true)
  const servers = {
    ours: await startService(database.url, database.pepper),
    peer: await startPeer(database.url, database.pepper, false),
    pipelined: await startPeer(database.url, database.pepper, true),
    floor: await startFloor(database.superUrl, database.fixture.organizations[0]?.id ?? "")
  }
  const load = await startLoad(database)
  try {
    const rounds = await runRounds(servers, load, names)
    record(figureOf(rounds, { compared, pipelined }, {
      rounds: positive("rounds"),
      seconds: positive("seconds"),
      warmUp: positive("warm-up"),
      connections: positive("connections")
    }))
  } finally {
    load.stop()
    await Promise.all(Object.values(servers).map((server) => server.stop()))
  }
}

if (values.help) {
  console.log(help)
} else {
  const keys = keysFor(positive("seconds") + positive("warm-up"))
  const database = await startDatabase({ organizations, accounts: 1000, keys })
  try {
    await bench(database)
  } finally {
    await database.remove()
  }
}
