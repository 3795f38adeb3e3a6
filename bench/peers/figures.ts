/** From the measured slots to the section of figures. */
import type { Chart, Figure, Table } from "../support/figure.ts"
import { goalsOf } from "./goals.ts"
import { heading } from "./heading.ts"
import type { Measured } from "./measure.ts"
import { ratios, type Round, type Run, select, type ServerName, serverNames } from "./rounds.ts"
import { median, spread } from "./spread.ts"
import { workload, type WorkloadName } from "./workloads.ts"

const titles: Readonly<Record<ServerName, string>> = {
  ours: "the service",
  peer: "Fastify and pg",
  floor: "floor",
  embedded: "the service, embedded"
}

const measuredTable = (rounds: ReadonlyArray<Round>, names: ReadonlyArray<WorkloadName>): Table => ({
  title: "What each server came to",
  columns: [
    "workload",
    "server",
    "requests a second",
    "CPU ms a request",
    "database CPU ms a request",
    "p50 ms",
    "p99 ms",
    "p99 over p50",
    "memory MiB",
    "bytes an answer"
  ],
  rows: names.flatMap((name) =>
    serverNames.flatMap((server) => {
      const all = select(rounds, name, server)
      if (all.length === 0) return []
      const of = (member: keyof Measured) => all.map((round) => round[member])
      return [[
        workload(name).title,
        titles[server],
        spread(of("throughput"), 0),
        spread(of("cpu"), 3),
        median(of("databaseCpu")).toFixed(3),
        median(of("p50")).toFixed(1),
        median(of("p99")).toFixed(1),
        median(all.map(({ p50, p99 }) => p99 / p50)).toFixed(1),
        Math.round(median(of("memory"))),
        Math.round(median(of("bytes")))
      ]]
    })
  ),
  note:
    "Medians of the rounds, in parentheses the lowest and the highest. CPU is user and system time of the server's " +
    "own process; the database's is that of all its processes. Memory is the resident set at the end of a slot."
})

const goalTable = (rounds: ReadonlyArray<Round>, names: ReadonlyArray<WorkloadName>): Table => ({
  title: "The service beside its goals",
  columns: ["workload", "ratio", "measured", "goal", "reached"],
  rows: goalsOf(rounds, names).map(({ digits, goal, reached, values, what, workload: name }) => [
    workload(name).title,
    what,
    spread(values, digits),
    goal,
    reached ? "yes" : "falls short"
  ]),
  note: "Each ratio is of two slots of one round; given are the median of the rounds, the lowest and the highest."
})

const otherTable = (rounds: ReadonlyArray<Round>, names: ReadonlyArray<WorkloadName>): Table => ({
  title: "Further ratios",
  columns: ["workload", "p50", "memory", "database CPU", "throughput over the floor's"],
  rows: names.filter((name) => workload(name).variant !== true).map((name) => [
    workload(name).title,
    ...(["p50", "memory", "databaseCpu"] as const).map((member) => spread(ratios(rounds, name, "peer", member), 2)),
    workload(name).floor === true ? spread(ratios(rounds, name, "floor", "throughput"), 2) : ""
  ]),
  note: "The service's over the peer's, but for the last column."
})

const chart = (
  rounds: ReadonlyArray<Round>,
  names: ReadonlyArray<WorkloadName>,
  about: Pick<Chart, "title" | "name" | "unit"> & { readonly member: keyof Measured }
): Chart => ({
  title: about.title,
  name: about.name,
  kind: "bar",
  unit: about.unit,
  x: names.map((name) => workload(name).title),
  series: serverNames.map((server) => ({
    name: titles[server],
    values: names.map((name) => {
      const all = select(rounds, name, server)
      return all.length === 0 ? null : Number(median(all.map((round) => round[about.member])).toPrecision(4))
    })
  }))
})

export const figureOf = (
  rounds: ReadonlyArray<Round>,
  names: ReadonlyArray<WorkloadName>,
  requests: number,
  run: Run
): Figure => {
  const short = goalsOf(rounds, names).filter(({ reached }) => !reached)
  const plain = names.filter((name) => workload(name).variant !== true)
  return {
    name: "peers",
    title: "Speed beside peers",
    command: "npm run bench",
    text: [
      ...heading(requests, run),
      short.length === 0
        ? "Every goal is reached in this run."
        : `In this run ${short.length} of the goals below are not reached; the column at their end says which.`
    ],
    tables: [goalTable(rounds, names), measuredTable(rounds, names), otherTable(rounds, names)],
    charts: [
      chart(rounds, plain, {
        title: "Requests a second",
        name: "peers-throughput",
        unit: "requests per second",
        member: "throughput"
      }),
      chart(rounds, plain, { title: "CPU a request", name: "peers-cpu", unit: "ms", member: "cpu" })
    ]
  }
}
