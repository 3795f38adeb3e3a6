/** `npm run bench`: the service beside a peer with the same duties, and beside a floor with none. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { record } from "../support/figure.ts"
import { compare } from "./compare.ts"
import { startDatabase, type Started } from "./database.ts"
import { startEmbeddedService } from "./embedded.ts"
import { figureOf } from "./figures.ts"
import { type Fixture, makeTokens, settle } from "./fixture.ts"
import { startLoad } from "./measure.ts"
import {
  deployedFlags,
  installed,
  keepTo,
  reporting,
  type Server,
  startFloor,
  startPeer,
  startService
} from "./processes.ts"
import { profile, type Profiled, profiling } from "./profile.ts"
import { printQuick } from "./quick.ts"
import { type Round, runRounds } from "./rounds.ts"
import { counting, statements } from "./statements.ts"
import { isWorkload, type WorkloadName, workloadNames } from "./workloads.ts"

const defaultWorkloads = workloadNames.join(",")
const examined: ReadonlyArray<WorkloadName> = ["list", "organization", "account", "label"]

const help = `npm run bench -- [--rounds 5] [--seconds 3] [--warm-up 2] [--connections 16]
  [--only ${defaultWorkloads}]
  [--quick | --profile | --statements] [--flags="${deployedFlags}"]

Each round puts each server under load for --seconds after --warm-up, workload by workload, one server at a time, with
--flags of Node for the service and its peer. With the defaults it takes about a quarter of an hour.

With --quick there is one short round of the service and the peer alone: about three minutes, one with --only
list,organization. What such a run or one of some workloads comes to is printed, and not kept.

With --profile V8's profiler says where the time of a request goes in the service and in the peer, and with --statements
PostgreSQL says what a request asks of it: about a minute each.`

const { values } = parseArgs({
  options: {
    rounds: { type: "string" },
    seconds: { type: "string" },
    "warm-up": { type: "string" },
    connections: { type: "string", default: "16" },
    flags: { type: "string", default: deployedFlags },
    only: { type: "string", default: defaultWorkloads },
    quick: { type: "boolean", default: false },
    profile: { type: "boolean", default: false },
    statements: { type: "boolean", default: false },
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
  rounds: positive("rounds", values.quick ? 1 : 5),
  seconds: positive("seconds", values.quick ? 2 : 3),
  warmUp: positive("warm-up", 2),
  connections: positive("connections", 16)
}

const chosen = (): ReadonlyArray<WorkloadName> =>
  values.only.split(",").map((name) => {
    if (!isWorkload(name)) throw new Error(`There is no workload ${name}: ${workloadNames.join(", ")}`)
    return name
  })

/** The workloads that are looked into. */
const chosenOrExamined = () => values.only === defaultWorkloads ? examined : chosen()

/** What a part of the workloads comes to is printed, and not kept. */
const isWhole = !values.quick && chosen().length === workloadNames.length

/** Requests a second that no server here comes near. */
const bound = 16_000
const requestsPerMinute = 120
const organizations = 16
const accounts = 1000

/** How many keys an organization needs so that no slot meets the limit of any. */
const keys = Math.ceil(bound / organizations * (run.seconds + run.warmUp) / requestsPerMinute)

const starting = { flags, program: installed }

const alike = async (database: Started): Promise<number> => {
  const { differences, requests } = await compare(database, starting)
  if (differences.length > 0) throw new Error(`The peer is not like the service:\n${differences.join("\n")}`)
  process.stderr.write(`${requests} requests answered alike\n`)
  return requests
}

/** An organization's keys where no slot begins with whole budgets: for so many requests a second without an end. */
const embeddedKeys = Math.ceil(5000 / organizations * 60 / requestsPerMinute)

const measure = async (database: Started): Promise<ReadonlyArray<Round>> => {
  const { fixture, peer, pepper, superUrl, superuser, url } = database
  const stops: Array<() => unknown> = []
  const running = async (starting: Promise<Server>) => {
    const server = await starting
    stops.push(server.stop)
    return server
  }
  const asking = async (asked: Fixture, settled: () => Promise<void>, pid?: number) => {
    const load = await startLoad(asked, settled, pid)
    stops.push(load.stop)
    return load
  }
  try {
    const ours = await running(startService(url, pepper, starting))
    const theirs = await running(startPeer(peer.url, pepper, { flags }))
    const load = await asking(
      await makeTokens(superuser, pepper, fixture, ours.address, keys),
      () => settle(superuser, peer.client),
      database.pid
    )
    const beside = { ours: { server: ours, load }, peer: { server: theirs, load } }
    if (values.quick) return await runRounds(beside, chosen(), run)
    const floor = await running(startFloor(superUrl, fixture.organizations[0]?.id ?? ""))
    const embedded = await startEmbeddedService({ organizations, accounts, keys: embeddedKeys }, starting)
    stops.push(embedded.stop)
    const alone = await asking(embedded.fixture, async () => {})
    return await runRounds(
      { ...beside, floor: { server: floor, load }, embedded: { server: embedded.server, load: alone } },
      chosen(),
      run
    )
  } finally {
    await Promise.all(stops.map((stop) => stop()))
  }
}

/** The cores of the server that is profiled, and of all others. */
const [ownCore, otherCores] = ["0", os.availableParallelism() > 2 ? `1-${os.availableParallelism() - 1}` : "1"]

const runProfile = async (database: Started): Promise<void> => {
  const { fixture, peer, pepper, superuser, url } = database
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "profiles-"))
  const profiled = async (title: string, start: (own: ReadonlyArray<string>) => Promise<Server>): Promise<Profiled> => {
    const directory = path.join(home, title)
    const server = await start([...flags, ...profiling(directory)])
    keepTo(ownCore, server.pid)
    return { title, directory, server }
  }
  try {
    const servers = [
      await profiled("the service", (own) => startService(url, pepper, { flags: own })),
      await profiled("the peer", (own) => startPeer(peer.url, pepper, { flags: own }))
    ]
    const load = await startLoad(
      await makeTokens(superuser, pepper, fixture, servers[0]?.server.address ?? "", keys),
      () => settle(superuser, peer.client)
    )
    try {
      record(await profile(servers, load, chosenOrExamined(), run))
    } finally {
      load.stop()
    }
  } finally {
    fs.rmSync(home, { recursive: true })
  }
}

const runStatements = async (database: Started): Promise<void> => {
  const { fixture, peer, pepper, superuser, url } = database
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "reports-"))
  const ours = path.join(home, "ours")
  const other = path.join(home, "other")
  for (const directory of [ours, other]) fs.mkdirSync(directory)
  const service = await startService(url, pepper, { ...starting, flags: [...flags, ...reporting(ours)] })
  const theirs = await startPeer(peer.url, pepper, { flags: [...flags, ...reporting(other)] })
  const load = await startLoad(
    await makeTokens(superuser, pepper, fixture, service.address, keys),
    () => settle(superuser, peer.client)
  )
  const servers = [
    { title: "the service", server: service, directory: ours, client: superuser },
    { title: "the peer", server: theirs, directory: other, client: peer.client }
  ]
  try {
    record(await statements(database, servers, load, chosenOrExamined(), run))
  } finally {
    load.stop()
    await Promise.all([service.stop(), theirs.stop()])
    fs.rmSync(home, { recursive: true })
  }
}

if (values.help) {
  console.log(help)
} else {
  // What is started from here on has the same cores.
  if (values.profile) keepTo(otherCores, process.pid)
  const database = await startDatabase({ organizations, accounts, keys }, values.statements ? counting : {})
  try {
    if (values.profile) {
      await runProfile(database)
    } else if (values.statements) {
      await runStatements(database)
    } else {
      const requests = await alike(database)
      const rounds = await measure(database)
      if (isWhole) record(figureOf(rounds, chosen(), requests, run))
      else printQuick(rounds, chosen())
    }
  } finally {
    await database.remove()
  }
}
