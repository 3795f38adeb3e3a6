/** From the measured slots to the section of figures. */
import type { Chart, Figure, Table } from "../support/figure.ts"
import type { Compared } from "./alike.ts"
import { heading, remains } from "./heading.ts"
import type { Measured } from "./measure.ts"
import { median, spread } from "./spread.ts"
import { type WorkloadName, workloads } from "./workloads.ts"

export interface Round extends Measured {
  readonly workload: WorkloadName
  readonly server: ServerName
}

export const serverNames = ["ours", "peer", "pipelined", "floor"] as const
export type ServerName = typeof serverNames[number]

export interface Run {
  readonly rounds: number
  readonly seconds: number
  readonly warmUp: number
  readonly connections: number
}

const titles: Readonly<Record<ServerName, string>> = {
  ours: "the service",
  peer: "Fastify and pg",
  pipelined: "Fastify and pg, pipelined",
  floor: "floor"
}

/** What was compared with the peer, and with the peer pipelined. */
interface Alike {
  readonly compared: Compared
  readonly pipelined: Compared
}

/** The rounds of one server on one workload, in their order. */
const select = (rounds: ReadonlyArray<Round>, workload: WorkloadName, server: ServerName) =>
  rounds.filter((round) => round.workload === workload && round.server === server)

/** What the service came to over what the other did, round by round. */
const ratios = (
  rounds: ReadonlyArray<Round>,
  workload: WorkloadName,
  other: Exclude<ServerName, "ours">,
  member: "throughput" | "cpu" | "databaseCpu" | "p50" | "p99" | "memory"
): ReadonlyArray<number> => {
  const theirs = select(rounds, workload, other)
  return select(rounds, workload, "ours").map((ours, index) => ours[member] / (theirs[index]?.[member] ?? Number.NaN))
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
    "memory MiB",
    "bytes an answer"
  ],
  rows: names.flatMap((workload) =>
    serverNames.flatMap((server) => {
      const all = select(rounds, workload, server)
      if (all.length === 0) return []
      const of = (member: keyof Measured) => all.map((round) => round[member])
      return [[
        workloads[workload].title,
        titles[server],
        spread(of("throughput"), 0),
        spread(of("cpu"), 3),
        median(of("databaseCpu")).toFixed(3),
        median(of("p50")).toFixed(1),
        median(of("p99")).toFixed(1),
        Math.round(median(of("memory"))),
        Math.round(median(of("bytes")))
      ]]
    })
  ),
  note:
    "Medians of the rounds, in parentheses the lowest and the highest. CPU is user and system time of the server's " +
    "own process; the database's is that of all its processes. Memory is the resident set at the end of a slot."
})

interface Goal {
  readonly workload: WorkloadName
  readonly what: string
  readonly values: ReadonlyArray<number>
  readonly goal: string
  readonly isMet: (value: number) => boolean
}

const goalsOf = (rounds: ReadonlyArray<Round>, names: ReadonlyArray<WorkloadName>): ReadonlyArray<Goal> =>
  names.flatMap((workload): ReadonlyArray<Goal> => [
    {
      workload,
      what: "throughput over the peer's",
      values: ratios(rounds, workload, "peer", "throughput"),
      goal: "at least 1.0",
      isMet: (value) => value >= 1
    },
    {
      workload,
      what: "CPU a request over the peer's",
      values: ratios(rounds, workload, "peer", "cpu"),
      goal: "at most 1.0",
      isMet: (value) => value <= 1
    },
    ...(workload === "list_protected_accounts"
      ? [{
        workload,
        what: "throughput over the floor's",
        values: ratios(rounds, workload, "floor", "throughput"),
        goal: "at least 0.7",
        isMet: (value: number) => value >= 0.7
      }]
      : [])
  ])

const goalTable = (rounds: ReadonlyArray<Round>, names: ReadonlyArray<WorkloadName>): Table => ({
  title: "The service beside its goals",
  columns: ["workload", "ratio", "measured", "goal", "reached"],
  rows: goalsOf(rounds, names).map(({ goal, isMet, values, what, workload }) => [
    workloads[workload].title,
    what,
    spread(values, 2),
    goal,
    isMet(median(values)) ? "yes" : "falls short"
  ]),
  note: "Each ratio is of two slots of one round; given are the median of the rounds, the lowest and the highest."
})

const otherTable = (rounds: ReadonlyArray<Round>, names: ReadonlyArray<WorkloadName>): Table => ({
  title: "Further ratios",
  columns: [
    "workload",
    "p50",
    "p99",
    "memory",
    "database CPU",
    "throughput, peer pipelined",
    "CPU a request, peer pipelined"
  ],
  rows: names.map((workload) => [
    workloads[workload].title,
    ...(["p50", "p99", "memory", "databaseCpu"] as const).map((member) =>
      spread(ratios(rounds, workload, "peer", member), 2)
    ),
    ...(["throughput", "cpu"] as const).map((member) => spread(ratios(rounds, workload, "pipelined", member), 2))
  ]),
  note: "The service's over the peer's: below 1 the service takes less, and answers fewer requests."
})

const statementTable = ({ compared, pipelined }: Alike): Table => ({
  title: "What a request asks of the database",
  columns: ["workload", "statements", "times sent by the service", "by the peer", "by the peer, pipelined"],
  rows: compared.asked.map(({ peer, service, workload }, index) => [
    workloads[workload].title,
    service.statements.length,
    service.sent,
    peer.sent,
    pipelined.asked[index]?.peer.sent ?? 0
  ]),
  note:
    "Heard on the wire between each server and the database, transaction control included; what is sent at once counts " +
    "once. The statements are the " +
    "same texts in the same order on both sides, or the run fails."
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
  x: names.map((workload) => workloads[workload].title),
  series: serverNames.map((server) => ({
    name: titles[server],
    values: names.map((workload) => {
      const all = select(rounds, workload, server)
      return all.length === 0 ? null : Number(median(all.map((round) => round[about.member])).toPrecision(4))
    })
  }))
})

/** What stands between the service and the floor on the list, whoever carries the duties. */
const aboutFloor = (rounds: ReadonlyArray<Round>): ReadonlyArray<string> => {
  const of = (server: ServerName, member: "cpu" | "databaseCpu") =>
    median(select(rounds, "list_protected_accounts", server).map((round) => round[member]))
  if (select(rounds, "list_protected_accounts", "floor").length === 0) return []
  const floor = of("floor", "cpu") + of("floor", "databaseCpu")
  return [
    `On the list the floor takes ${floor.toFixed(2)} ms of CPU a request, its database's included. The duties' ` +
    `statements alone take ${of("ours", "databaseCpu").toFixed(2)} ms of the database under the service and ` +
    `${of("peer", "databaseCpu").toFixed(2)} ms under the peer, before either server has done anything: on a machine ` +
    "that server, database and load share, that bounds what can be reached of the floor's throughput."
  ]
}

export const figureOf = (rounds: ReadonlyArray<Round>, { compared, pipelined }: Alike, run: Run): Figure => {
  const names = compared.asked.map(({ workload }) => workload)
  const short = goalsOf(rounds, names).filter(({ isMet, values }) => !isMet(median(values)))
  return {
    name: "peers",
    title: "Speed beside peers",
    command: "npm run bench",
    text: [
      ...heading(compared.requests, run),
      ...aboutFloor(rounds),
      short.length === 0
        ? "Every goal is reached in this run."
        : `In this run ${short.length} of the goals below are not reached; the column at their end says which.`,
      ...(short.length === 0 ? [] : [remains])
    ],
    tables: [
      goalTable(rounds, names),
      measuredTable(rounds, names),
      otherTable(rounds, names),
      statementTable({ compared, pipelined })
    ],
    charts: [
      chart(rounds, names, {
        title: "Requests a second",
        name: "peers-throughput",
        unit: "requests per second",
        member: "throughput"
      }),
      chart(rounds, names, { title: "CPU a request", name: "peers-cpu", unit: "ms", member: "cpu" })
    ]
  }
}
