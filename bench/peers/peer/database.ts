/** The peer's pool, and its two ways to the database: outside any organization, and inside one behind its policies. */
import { Pool, type PoolClient, TypeOverrides, types } from "pg"
import { begin, commit, enter, type Statement } from "../statements.ts"

/** Counts come as numbers. */
const parsers = new TypeOverrides()
parsers.setTypeParser(types.builtins.INT8, Number)

export const openPool = (url: string): Pool =>
  new Pool({ connectionString: url, max: 10, types: parsers, connectionTimeoutMillis: 10_000, query_timeout: 10_000 })

export type Run = <Row extends object>(
  statement: Statement,
  values: ReadonlyArray<unknown>
) => Promise<ReadonlyArray<Row>>

const runOn = (client: Pool | PoolClient): Run => async ({ name, text }, values) =>
  (await client.query({ name, text, values: [...values] })).rows

/** Runs one statement as the tables' owner. */
export const directory = (pool: Pool): Run => runOn(pool)

/** Runs the work in one transaction of the organization. */
export const inOrganization = async <A>(
  pool: Pool,
  organizationId: string,
  work: (run: Run) => Promise<A>
): Promise<A> => {
  const client = await pool.connect()
  try {
    const run = runOn(client)
    await run(begin, [])
    await run(enter, [organizationId])
    const answer = await work(run)
    await run(commit, [])
    client.release()
    return answer
  } catch (error) {
    await client.query("ROLLBACK").then(() => client.release(), (broken: Error) => client.release(broken))
    throw error
  }
}
