/** The peer's pool, and its two ways to the database: outside any organization, and inside one behind its policies. */
import { Pool, type PoolClient, TypeOverrides, types } from "pg"
import { begin, commit, enter, type Statement } from "../statements.ts"

/** Counts come as numbers. */
const parsers = new TypeOverrides()
parsers.setTypeParser(types.builtins.INT8, Number)

/** A pool, and whether its clients send a statement before the one ahead of it is answered. */
export interface Database {
  readonly pool: Pool
  readonly pipelined: boolean
}

export const openDatabase = (url: string, pipelined: boolean): Database => ({
  pool: new Pool({
    connectionString: url,
    max: 10,
    types: parsers,
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
    pipeline: pipelined
  }),
  pipelined
})

export type Run = <Row extends object>(
  statement: Statement,
  values: ReadonlyArray<unknown>
) => Promise<ReadonlyArray<Row>>

const runOn = (client: Pool | PoolClient): Run => async ({ name, text }, values) =>
  (await client.query({ name, text, values: [...values] })).rows

/** Runs one statement as the tables' owner. */
export const directory = ({ pool }: Database): Run => runOn(pool)

/** What asks for several things that do not depend on each other: at once where that is safe, else in their order. */
export type RunAll = <A extends ReadonlyArray<unknown>>(
  asks: { readonly [Index in keyof A]: () => Promise<A[Index]> }
) => Promise<A>

const oneByOne: RunAll = async (asks) => {
  const answers: Array<unknown> = []
  for (const ask of asks) answers.push(await ask())
  return answers as never
}

const atOnce: RunAll = (asks) => Promise.all(asks.map((ask) => ask())) as never

/**
 * Runs the work in one transaction of the organization. On a pipelined connection the transaction's beginning is sent
 * with its first statement, what is independent is sent at once, and nobody waits for the end of one that only reads.
 */
export const inOrganization = async <A>(
  { pipelined, pool }: Database,
  organizationId: string,
  access: "read" | "write",
  work: (run: Run, all: RunAll) => Promise<A>
): Promise<A> => {
  const client = await pool.connect()
  const release = () => client.release()
  const giveUp = (broken: Error) => client.release(broken)
  try {
    const run = runOn(client)
    const begun = run(begin[access], [])
    if (!pipelined) await begun
    await Promise.all([begun, run(enter, [organizationId])])
    const answer = await work(run, pipelined ? atOnce : oneByOne)
    const ended = run(commit, []).then(release)
    if (pipelined && access === "read") ended.catch(giveUp)
    else await ended
    return answer
  } catch (error) {
    await client.query("ROLLBACK").then(release, giveUp)
    throw error
  }
}
