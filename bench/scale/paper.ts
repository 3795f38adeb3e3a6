/** The needs of many accounts, by costs that were measured: those of looks are played here, the others are kept figures. */
import { keptTables, type Table } from "../support/figure.ts"
import { type Looks, playLooks } from "./looks.ts"

const sessionsPerWorker = 5000
/** Connections to PostgreSQL of a worker at most by default; its leases and notifications are over two of its own. */
const connections = 20

/** The first number in a row of a kept figure. */
const valueOf = (figure: string, title: string, row: string, column = "value"): number => {
  const table = keptTables(figure).get(title)
  const found = table?.rows.find(([measured]) => String(measured).startsWith(row))
  const [value] = /\d+(?:\.\d+)?/.exec(String(found?.[table?.columns.indexOf(column) ?? 0])) ?? []
  if (value === undefined) throw new Error(`The figure ${figure} has no ${row}`)
  return Number(value)
}

const rounded = (value: number): number => Number(value.toPrecision(2))

export const paperTitle = "On paper: many accounts over many workers"

/** Sizes as accounts and organizations. */
const sizes = [[1000, 1], [100_000, 1000], [1_000_000, 10_000]] as const

/** Plays the looks of each size, and calculates what else it needs. */
export const paper = async (): Promise<Table> => {
  const leases = valueOf("cluster", "Three processes", "statements about leases at rest")
  /** Of a core, for an account. */
  const processor = valueOf("wire", "1000 sessions in one process", "CPU while every account") / 100 / 1000
  const memory = valueOf("wire", "1000 sessions in one process", "memory of a session") / 2 ** 20
  const rest = valueOf("scale", "Cold start of the installed package", "PostgreSQL, migrated", "MiB at rest")
  const played: Array<Looks> = []
  for (const [accounts, organizations] of sizes) {
    played.push(await playLooks(accounts, organizations, Math.max(2, Math.ceil(accounts / sessionsPerWorker))))
  }
  return {
    title: paperTitle,
    columns: [
      "accounts",
      "organizations",
      "workers",
      "memory of the workers, GiB",
      "processors of the workers",
      "looks a second",
      "statements that take accounts, a second",
      "statements that give them back, a second",
      "processors of the database for looks",
      "WAL of looks, MB a second",
      "statements about leases, a second",
      "connections to PostgreSQL"
    ],
    rows: played.map(({ accounts, claims, databaseCpu, looks, organizations, returns, wal, workers }) => [
      accounts,
      organizations,
      workers,
      rounded(memory * accounts + rest * workers / 1024),
      rounded(processor * accounts),
      rounded(looks),
      rounded(claims),
      rounded(returns),
      rounded(databaseCpu / 1000 * looks),
      rounded(wal * looks / 1e6),
      rounded(leases * workers),
      connections * workers
    ]),
    note: `The looks of 10 s were played on a clock of their own: ${
      sessionsPerWorker.toLocaleString("en")
    } accounts a worker, each of which takes and gives back its accounts by the service's own statements and at its own pace, one after the other, on monitors of every account; the processor time and the log of the database are measured, the reading of a list of sessions in between is left out. A session's memory and processor time are those of the figure of the wire, a worker's memory at rest that of its start above, statements about leases those of the figure of several processes. No service of this size was run. Statements that wait for one another, and the messenger's limits by address and application, are not in it.`
  }
}
