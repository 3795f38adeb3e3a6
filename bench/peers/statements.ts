/** What a request of each workload asks of the database and of the system, counted by both. */
import { Client } from "pg"
import type { Figure, Table } from "../support/figure.ts"
import type { Started } from "./database.ts"
import type { Load } from "./measure.ts"
import { callsOf, memoryPartsOf, type Server } from "./processes.ts"
import type { Run } from "./rounds.ts"
import { workload, type WorkloadName } from "./workloads.ts"

/** The settings that a database needs to count its statements, those of functions included. */
export const counting = { shared_preload_libraries: "pg_stat_statements", "pg_stat_statements.track": "all" }

export interface Counted {
  readonly title: string
  readonly server: Server
  /** Where it writes its reports. */
  readonly directory: string
  /** As a superuser, in the server's database. */
  readonly client: Client
}

interface StatementRow {
  readonly text: string
  readonly within: boolean
  readonly calls: number
  readonly mean: number
  readonly total: number
}

const statementRows = `
  select query as text, not toplevel as within, calls::float8, mean_exec_time as mean, total_exec_time as total
  from pg_stat_statements join pg_database on pg_database.oid = dbid
  where datname = $1 and query not like '%pg_stat_%'
  order by total_exec_time desc`

interface Written {
  readonly name: string
  readonly changed: number
  readonly inPlace: number
}

const writtenRows = `
  select relname as name, n_tup_upd::float8 as changed, n_tup_hot_upd::float8 as "inPlace"
  from pg_stat_user_tables`

/** Statements of which a request takes less are left out, in milliseconds. */
const least = 0.002
const shown = 110

const shorten = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length <= shown ? line : `${line.slice(0, shown)}…`
}

/** What sessions have counted is told a second after they have. */
const told = () => new Promise((resolve) => setTimeout(resolve, 1200))

/** Puts each under load, one after another. */
export const statements = async (
  { superUrl }: Started,
  servers: ReadonlyArray<Counted>,
  load: Load,
  names: ReadonlyArray<WorkloadName>,
  { connections, seconds, warmUp: warmUpSeconds }: Run
): Promise<Figure> => {
  // An extension in the service's database would be a part of its schema.
  const address = new URL(superUrl)
  address.pathname = "/postgres"
  const counter = new Client(address.href)
  await counter.connect()
  await counter.query("create extension if not exists pg_stat_statements")
  const tables: Array<Table> = []
  const system: Array<Array<string>> = []
  const written: Array<Array<string>> = []
  let slot = 1
  for (const name of names) {
    const { title: asked } = workload(name)
    const rows: Array<Array<string>> = []
    for (const { client, server, title } of servers) {
      let calls = callsOf(server.pid)
      let before: ReadonlyArray<Written> = []
      const order = { workload: name, address: server.address, connections, warmUpSeconds, seconds, slot: slot++ }
      const { requests } = await load.measure(server, order, async () => {
        before = (await client.query<Written>(writtenRows)).rows
        await counter.query("select pg_stat_statements_reset()")
        calls = callsOf(server.pid)
      })
      const after = callsOf(server.pid)
      const found = await counter.query<StatementRow>(statementRows, [client.database])
      system.push([
        asked,
        title,
        ((after.reads - calls.reads) / requests).toFixed(1),
        ((after.writes - calls.writes) / requests).toFixed(1)
      ])
      rows.push(
        ...found.rows.filter(({ total }) => total / requests >= least).map(({ calls, mean, text, total, within }) => [
          title,
          `${within ? "↳ " : ""}\`${shorten(text).replaceAll("`", "'")}\``,
          (calls / requests).toFixed(2),
          mean.toFixed(3),
          (total / requests).toFixed(3)
        ])
      )
      await told()
      for (const { changed, inPlace, name: table } of (await client.query<Written>(writtenRows)).rows) {
        const earlier = before.find((one) => one.name === table) ?? { changed: 0, inPlace: 0 }
        const changes = changed - earlier.changed
        if (changes < requests / 10) continue
        written.push([asked, title, table, `${Math.round(100 * (inPlace - earlier.inPlace) / changes)} %`])
      }
    }
    tables.push({
      title: asked,
      columns: ["server", "statement", "calls a request", "mean ms", "ms a request"],
      rows
    })
  }
  await counter.end()
  const memory: Array<Array<string | number>> = []
  for (const { directory, server, title } of servers) {
    memory.push([title, ...(await memoryPartsOf(server.pid, directory)).map(Math.round)])
  }
  return {
    name: "peers-statements",
    title: "What a request asks of the database and the system",
    command: "npm run bench -- --statements",
    text: [
      `The service and the peer of [Speed beside peers](peers.md) under the same load, ${seconds} s each, while PostgreSQL counts by \`pg_stat_statements\`. Its times are of execution on the clock, without planning and without what a message costs, and of more sessions than cores: they say which statement takes long beside the others. Below a \`select\` of a function its own statements follow with an arrow, whose times are a part of it.`
    ],
    tables: [
      ...tables,
      {
        title: "System calls of the server's process a request",
        columns: ["workload", "server", "reads", "writes"],
        rows: system,
        note: "As Linux counts them: of sockets to clients and to the database, of the log, and between its threads."
      },
      {
        title: "Changed rows that no index had to learn of",
        columns: ["workload", "server", "table", "share (HOT)"],
        rows: written,
        note: "Of tables of which every tenth request or more changes a row."
      },
      {
        title: "Memory of the process after all of these, MiB",
        columns: ["server", "all", "files of programs", "heap, new objects", "heap, others", "buffers", "the rest"],
        rows: memory,
        note:
          "By Node's report. The rest is what Node and V8 hold outside of the heap: compiled code's data, threads, sockets, and what the allocator keeps."
      }
    ],
    charts: []
  }
}
