/** Where the processor time of a request goes in each server, by V8's own profiler, which samples the running function. */
import * as fs from "node:fs"
import * as path from "node:path"
import type { Figure, Table } from "../support/figure.ts"
import type { Load } from "./measure.ts"
import { runTimeOf, type Server } from "./processes.ts"
import type { Run } from "./rounds.ts"
import { workload, type WorkloadName } from "./workloads.ts"

interface Profile {
  readonly nodes: ReadonlyArray<{
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
    readonly children?: ReadonlyArray<number>
  }>
  readonly samples: ReadonlyArray<number>
  readonly timeDeltas: ReadonlyArray<number>
  /** Microseconds of the clock that `process.hrtime` reads. */
  readonly startTime: number
}

/** What a part of the sources is for, in each server; the first pattern that a file's address has is taken. */
const parts: ReadonlyArray<readonly [RegExp, string]> = [
  [/node_modules\/effect\//, "Effect's runtime, schemas and services"],
  [
    /node_modules\/(?:pg|pg-[a-z]+|postgres-[a-z]+)\/|@effect\/sql-pg|src\/layers\/postgres\//,
    "driver of the database"
  ],
  [/node_modules\/(?:@modelcontextprotocol|zod)|src\/mcp\//, "MCP"],
  [/node_modules\/|src\/http\//, "HTTP: routes, headers, bodies, log"],
  [/src\/layers\/(?:crypto|security)\//, "keys and signatures"],
  [/src\/kernel\//, "who may do what, and the answer's form"],
  [/src\/|bench\/peers\/peer\//, "operations and their statements"]
]

const socketWrites = new Set(["writev", "writeBuffer", "writeUtf8String", "writeLatin1String", "writeAsciiString"])

const order = [
  "writing to sockets of the database",
  "writing to sockets of clients",
  ...new Set(parts.map(([, part]) => part)),
  "Node: HTTP, sockets, streams, timers",
  "collecting garbage",
  "outside of JavaScript"
]

/** The part of each node of the profile, by the innermost function of a known file among its callers. */
const partsOf = ({ nodes }: Profile): ReadonlyMap<number, string> => {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const found = new Map<number, string>()
  const pending: Array<{ readonly id: number; readonly owner: string | undefined; readonly database: boolean }> = []
  const root = nodes[0]
  if (root !== undefined) pending.push({ id: root.id, owner: undefined, database: false })
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const node = byId.get(next.id)
    if (node === undefined) continue
    const { functionName, url } = node.callFrame
    const own = parts.find(([pattern]) => pattern.test(url))?.[1]
    const owner = own ?? next.owner
    const database = next.database || own === "driver of the database"
    found.set(
      node.id,
      functionName === "(garbage collector)"
        ? "collecting garbage"
        : functionName === "(program)"
        ? "outside of JavaScript"
        : functionName === "(idle)"
        ? "idle"
        : socketWrites.has(functionName)
        ? `writing to sockets of ${database ? "the database" : "clients"}`
        : owner ?? "Node: HTTP, sockets, streams, timers"
    )
    for (const id of node.children ?? []) pending.push({ id, owner, database })
  }
  return found
}

interface Interval {
  readonly from: number
  readonly to: number
}

/** Microseconds of each part within the interval. */
const timesOf = (profile: Profile, interval: Interval): ReadonlyMap<string, number> => {
  const part = partsOf(profile)
  const times = new Map<string, number>()
  let at = profile.startTime
  for (const [index, delta] of profile.timeDeltas.entries()) {
    at += delta
    if (at < interval.from || at > interval.to) continue
    // A sample is of the time from it to the next.
    const name = part.get(profile.samples[index] ?? 0) ?? "outside of JavaScript"
    times.set(name, (times.get(name) ?? 0) + (profile.timeDeltas[index + 1] ?? 0))
  }
  return times
}

/** The flags that have a server write its profile into the directory at its end. */
export const profiling = (directory: string): ReadonlyArray<string> => [
  "--cpu-prof",
  `--cpu-prof-dir=${directory}`,
  "--cpu-prof-interval=200"
]

const readProfile = (directory: string): Profile => {
  // The main thread's is the largest.
  const [largest] = fs.readdirSync(directory).map((name) => path.join(directory, name))
    .toSorted((a, b) => fs.statSync(b).size - fs.statSync(a).size)
  return JSON.parse(fs.readFileSync(largest ?? "", "utf8"))
}

const now = () => Number(process.hrtime.bigint() / 1000n)

/** A server that writes its profile into a directory. */
export interface Profiled {
  readonly title: string
  readonly server: Server
  readonly directory: string
}

interface Slot {
  readonly name: WorkloadName
  readonly title: string
  readonly interval: Interval
  readonly requests: number
  /** Microseconds that the system counts for the main thread. */
  readonly run: number
}

/** Puts each under load, and stops it; one after another, as in the rounds. */
export const profile = async (
  servers: ReadonlyArray<Profiled>,
  load: Load,
  names: ReadonlyArray<WorkloadName>,
  { connections, seconds, warmUp: warmUpSeconds }: Run
): Promise<Figure> => {
  const slots: Array<Slot> = []
  let slot = 1
  for (const name of names) {
    for (const { server, title } of servers) {
      let from = 0
      let run = 0
      const order = { workload: name, address: server.address, connections, warmUpSeconds, seconds, slot: slot++ }
      const { requests, throughput } = await load.measure(server, order, async () => {
        from = now()
        run = runTimeOf(server.pid)
      })
      const to = now()
      slots.push({ name, title, interval: { from, to }, requests, run: (runTimeOf(server.pid) - run) / 1000 })
      process.stderr.write(`${name}, ${title}: ${throughput.toFixed(0)}/s under the profiler\n`)
    }
  }
  const profiles = new Map<string, Profile>()
  for (const { directory, server, title } of servers) {
    await server.stop()
    profiles.set(title, readProfile(directory))
  }
  const tableOf = (name: WorkloadName): Table => {
    const columns = slots.filter((one) => one.name === name).map(({ interval, requests, run, title }) => {
      const times = timesOf(profiles.get(title)!, interval)
      return { title, run: run / requests, of: (part: string) => (times.get(part) ?? 0) / requests }
    })
    const sum = (of: (part: string) => number) => order.reduce((all, part) => all + of(part), 0)
    const row = (part: string, values: ReadonlyArray<number>) => [part, ...values.map((value) => value.toFixed(0))]
    return {
      title: workload(name).title,
      columns: ["µs a request", ...columns.map(({ title }) => title)],
      rows: [
        ...order.map((part) => row(part, columns.map(({ of }) => of(part))))
          .filter(([, ...values]) => values.some((value) => value !== "0")),
        row("all", columns.map(({ of }) => sum(of))),
        row("processor time of the thread, as the system counts it", columns.map(({ run }) => run))
      ]
    }
  }
  return {
    name: "peers-profile",
    title: "Where the time of a request goes",
    command: "npm run bench -- --profile",
    text: [
      `The service, from its sources, and the peer of [Speed beside peers](peers.md) under the same load, ${seconds} s each, while V8's profiler samples the running function every 0.2 ms. The server has a core of its own, the database and the load share the others: a sample is of the clock, and a server that waits for a core would show that as time of whatever it was about. The last row says by the system's count how near this comes. A sample belongs to the innermost function of a known file; Node's own functions belong to the file that calls them. The profiler itself costs time, so that the sums are above the CPU that the bench measures; what one part has beside the peer's is what counts.`
    ],
    tables: names.map(tableOf),
    charts: []
  }
}
