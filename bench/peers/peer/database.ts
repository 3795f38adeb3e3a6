/** The peer's sessions on its database: few, each for many requests at once, since no request holds one for itself. */
import { Client, TypeOverrides, types } from "pg"

/** A statement with a name, under which each session prepares it once. */
export interface Statement {
  readonly name: string
  readonly text: string
}

export type Run = <Row extends object>(
  statement: Statement,
  values: ReadonlyArray<unknown>
) => Promise<ReadonlyArray<Row>>

export interface Database {
  /** Statements that change nothing that has to be on disk. */
  readonly run: Run
  /** Changes, which wait for the disk. */
  readonly change: Run
  readonly close: () => Promise<void>
}

/** PostgreSQL's text of a moment in UTC, such as `2026-01-01 12:00:00.5+00`, as the interface has it. */
const readMoment = (text: string): string =>
  text.length === 26
    ? `${text.slice(0, 10)}T${text.slice(11, 23)}Z`
    : `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, "0")}Z`

const parsers = new TypeOverrides()
parsers.setTypeParser(types.builtins.INT8, Number)
parsers.setTypeParser(types.builtins.TIMESTAMPTZ, readMoment)

/** Every statement goes by keys and is planned once, the small tables of a young installation like large ones. */
const settings = "-c TimeZone=UTC -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off"

const openSession = async (url: string): Promise<Client> => {
  const client = new Client({
    connectionString: url,
    types: parsers,
    pipeline: true,
    options: settings,
    connectionTimeoutMillis: 10_000,
    statement_timeout: 10_000,
    keepAlive: true
  })
  await client.connect()
  return client
}

/** So many sessions in turn; one that has broken is opened again by the next who comes to it. */
const openSessions = (url: string, count: number) => {
  const sessions: Array<Promise<Client> | Client | undefined> = Array.from({ length: count }, () => undefined)
  let turn = 0
  const open = (place: number): Promise<Client> => {
    const opening = openSession(url).then((client) => {
      const gone = () => sessions[place] = undefined
      client.once("error", gone)
      client.once("end", gone)
      sessions[place] = client
      return client
    })
    opening.catch(() => sessions[place] = undefined)
    sessions[place] = opening
    return opening
  }
  const run: Run = async ({ name, text }, values) => {
    turn = (turn + 1) % count
    const session = sessions[turn] ?? open(turn)
    const client = session instanceof Client ? session : await session
    return (await client.query({ name, text, values: values as Array<unknown> })).rows
  }
  const close = async () => {
    for (const session of sessions) await (await session)?.end()
  }
  return { run, close }
}

export const openDatabase = (url: string): Database => {
  const reading = openSessions(url, 4)
  const changing = openSessions(url, 16)
  return {
    run: reading.run,
    change: changing.run,
    close: async () => {
      await reading.close()
      await changing.close()
    }
  }
}
