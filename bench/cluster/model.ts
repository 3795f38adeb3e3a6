/** What more accounts need, by the costs that a run has measured. */
import type { Measured } from "./measure.ts"

const sessionsPerWorker = 5000
/** Connections to PostgreSQL that a worker has at most by default. */
const connections = 20

export const modelColumns = [
  "accounts",
  "workers",
  "sessions' memory, GiB",
  "processors of the workers",
  "looks a second",
  "processors of the database for looks",
  "WAL of looks, MB a second",
  "statements about leases a second",
  "connections to PostgreSQL"
]

const rounded = (value: number): number => Number(value.toPrecision(2))

/** Rows for so many accounts; each is looked at once a minute by one of the workers. */
export const model = (
  { accounts: measured, databaseCpu, leases, memory, processCpu, processes, wal }: Measured,
  base: number,
  sizes: ReadonlyArray<number>
): ReadonlyArray<ReadonlyArray<number>> =>
  sizes.map((accounts) => {
    const workers = Math.max(2, Math.ceil(accounts / sessionsPerWorker))
    const looks = accounts / 60
    const eachMemory = Math.max(0, memory - base) * processes / measured
    return [
      accounts,
      workers,
      rounded((eachMemory * accounts + base * workers) / 1024),
      rounded(processCpu / 100 / measured * accounts),
      rounded(looks),
      rounded(databaseCpu / 1000 * looks),
      rounded(wal * looks / 1e6),
      rounded(leases * workers),
      connections * workers
    ]
  })
