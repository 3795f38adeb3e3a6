/** Many accounts over several workers: how late their looks are, and what each statement about them costs. */
import * as path from "node:path"
import { slotCount } from "../../src/domain/accounts/Slot.ts"
import { fill, spreadLooks, wait } from "../monitor/measure.ts"
import { cpuOfFamily } from "../peers/processes.ts"
import type { Table } from "../support/figure.ts"
import { type Ground, startGround } from "../support/ground.ts"
import { startChild } from "../support/wireWorker.ts"
import type { Order, State } from "./sharer.ts"

/** The time until the latenesses of a minute hold nothing of the beginning, in ms. */
const settled = 65_000

/** The purposes of statements, by their text; the first that fits. */
const kinds: ReadonlyArray<readonly [string, string]> = [
  ["taking what is due", "polled as materialized|with recursive polls"],
  ["giving back what is quiet", "last_polled_at = \\$1, last_ok_at"],
  ["leases of slots", "cluster_(locks|runners)"],
  ["everything else", ""]
]

interface Cost {
  readonly kind: string
  readonly calls: number
  /** In ms, by the database's own count. */
  readonly time: number
  /** In bytes. */
  readonly wal: number
}

const statementCosts = async ({ superuser }: Ground): Promise<ReadonlyArray<Cost>> => {
  const { rows } = await superuser.query<Cost>(
    `select (select kind from unnest($1::text[], $2::text[]) with ordinality as known (kind, pattern, place)
        where query ~ pattern order by place limit 1) as kind,
      sum(calls)::float8 as calls, sum(total_exec_time) as time, sum(wal_bytes)::float8 as wal
    from pg_stat_statements where query !~ 'pg_stat_' group by kind`,
    [kinds.map(([kind]) => kind), kinds.map(([, pattern]) => pattern)]
  )
  return kinds.flatMap(([kind]) => rows.find((row) => row.kind === kind) ?? [])
}

interface Shared {
  readonly accounts: number
  readonly workers: number
  /** Looks a second. */
  readonly looks: number
  /** Of each worker: the median, p99 and the longest, in seconds. */
  readonly late: ReadonlyArray<ReadonlyArray<number>>
  /** Processor time of all workers and of the database a look, in ms. */
  readonly cpu: number
  readonly databaseCpu: number
  /** Of the largest worker, in MiB. */
  readonly memory: number
  /** A look, and statements a second. */
  readonly costs: ReadonlyArray<Cost>
}

const share = async (accounts: number, workers: number, latency: number, seconds: number): Promise<Shared> => {
  const ground = await startGround({ shared_preload_libraries: "pg_stat_statements" })
  const children = Array.from(
    { length: workers },
    () => startChild<Order, State>(path.join(import.meta.dirname, "sharer.ts"))
  )
  const states = () => Promise.all(children.map(({ send }) => send({ _: "state" })))
  const sum = (all: ReadonlyArray<State>, of: (state: State) => number) =>
    all.reduce((total, state) => total + of(state), 0)
  try {
    await ground.superuser.query("create extension pg_stat_statements")
    await fill(ground, accounts)
    const { blobs, pepper, url } = ground
    await Promise.all(children.map(({ send }) => send({ _: "start", ground: { blobs, pepper, url }, latency })))
    for (let all = await states();; all = await states()) {
      if (sum(all, ({ open }) => open) >= accounts && sum(all, ({ slots }) => slots) === slotCount) break
      await wait(1000)
    }
    // Accounts that were taken over together are due together: from here on they are due evenly.
    await spreadLooks(ground, 60)
    await wait(settled)
    await ground.superuser.query("select pg_stat_statements_reset()")
    const [before, database, at] = [await states(), cpuOfFamily(ground.pid), performance.now()]
    await wait(seconds * 1000)
    const [after, elapsed] = [await states(), (performance.now() - at) / 1000]
    const databaseCpu = cpuOfFamily(ground.pid) - database
    const costs = await statementCosts(ground)
    const looks = sum(after, (state) => state.looks) - sum(before, (state) => state.looks)
    return {
      accounts,
      workers,
      looks: looks / elapsed,
      late: after.map(({ late }) => late),
      cpu: (sum(after, ({ cpu }) => cpu) - sum(before, ({ cpu }) => cpu)) / looks,
      databaseCpu: databaseCpu / looks,
      memory: Math.max(...after.map(({ memory }) => memory)),
      costs: costs.map(({ calls, kind, time, wal }) => ({
        kind,
        calls: calls / elapsed,
        time: time / looks,
        wal: wal / looks
      }))
    }
  } finally {
    for (const { stop } of children) stop()
    await ground.remove()
  }
}

/** The longest time between two rounds of claims, in seconds: no look of a process that does nothing else is later. */
const inTime = 3

/** The worst of the workers, by place: the median, p99 and the longest. */
const worst = ({ late }: Shared, place: number): number => Math.max(...late.map((one) => one[place] ?? Number.NaN))
const lateOf = (shared: Shared): string => [0, 1, 2].map((place) => `${worst(shared, place).toFixed(2)} s`).join(", ")
const count = (value: number): string => value.toLocaleString("en")

export const shareTitles = ["Shared accounts", "Statements about looks"] as const

/** The tables of 25,000 accounts over three workers beside a third of them over one, and of 100,000 over four. */
export const measureShares = async (latency: number, seconds: number): Promise<ReadonlyArray<Table>> => {
  const third = await share(Math.floor(25_000 / 3), 1, latency, seconds)
  const three = await share(25_000, 3, latency, seconds)
  const four = await share(100_000, 4, latency, seconds)
  const all = [third, three, four]
  const named = ({ accounts, workers }: Shared) =>
    `${count(accounts)} accounts over ${workers} ${workers === 1 ? "worker" : "workers"}`
  const measured = all.flatMap((shared): ReadonlyArray<readonly [string, string, string]> => {
    const name = named(shared)
    return [
      [`${name}: looks a second`, `${shared.looks.toFixed(0)} (${(shared.accounts / 60).toFixed(0)} are due)`, ""],
      [`${name}: late p50, p99, longest of the worst worker`, lateOf(shared), `${inTime} s`],
      [`${name}: processors of all workers`, `${(shared.cpu * shared.looks / 10).toFixed(0)} % of one`, ""],
      [`${name}: processors of the database`, `${(shared.databaseCpu * shared.looks / 10).toFixed(0)} % of one`, ""],
      [`${name}: memory of the largest worker`, `${shared.memory.toFixed(0)} MiB`, ""]
    ]
  })
  return [
    {
      title: shareTitles[0],
      columns: ["measured", "value", "goal"],
      rows: [
        ...measured,
        [
          "25,000 accounts over 3 workers: late p99, to that of a third of them alone",
          (worst(three, 1) / worst(third, 1)).toFixed(2),
          "1.1"
        ]
      ],
      note:
        `Each look reads one list of a messenger that is part of the worker's process and answers after ${latency} ms, so that nearly all of the processor time is the service's and the database's; what a session over the messenger's own protocol costs is in the figures of the wire. Accounts are due evenly over a minute. Workers, database and measurement share the machine.`
    },
    {
      title: shareTitles[1],
      columns: ["accounts", "workers", "statements", "a second", "database time a look, ms", "WAL a look, B"],
      rows: all.flatMap(({ accounts, costs, workers }) =>
        costs.map(({ calls, kind, time, wal }) => [
          accounts,
          workers,
          kind,
          Number(calls.toFixed(1)),
          Number(time.toFixed(4)),
          Math.round(wal)
        ])
      ),
      note:
        "By `pg_stat_statements`. A look's part in the processor time of the database is that table's above; the rest of it is for connections, planning and the log."
    }
  ]
}
