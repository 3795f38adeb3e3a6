/**
 * The databases of a worker: opened once, made empty and lent again; one of which more is changed than rows is given
 * up.
 */
import { PGlite } from "@electric-sql/pglite"
import { Effect, type Scope } from "effect"
import * as crypto from "node:crypto"
import { Client } from "pg"
import { inject } from "vitest"
import * as Pglite from "../../../src/layers/postgres/Pglite.ts"
import * as Files from "./databaseFiles.ts"
import * as Pristine from "./pristine.ts"
import { superuserUrl } from "./superuser.ts"

/** As many of each kind as are kept. */
const kept = 4

const embedded: Array<Lent> = []

let files: ReturnType<typeof Files.read> | undefined

/** The files of a migrated PGlite for one that is opened, read once. */
const databaseFiles = () => new Files.DatabaseFiles(files ??= Files.read(inject("databases").directory))

/** An embedded database that goes back to the worker when it is closed. */
class Lent extends PGlite {
  override async close(): Promise<void> {
    if (embedded.length < kept && await this.#restored()) embedded.push(this)
    else await super.close()
  }

  async #restored(): Promise<boolean> {
    try {
      // Statements sent together are one transaction, which refuses the second of these.
      await this.exec("rollback")
      await this.exec("discard all")
      return await Pristine.restore(Pristine.embedded(this), inject("databases").pristine.pglite)
    } catch {
      return false
    }
  }
}

/** A migrated PGlite in memory, which is closed by whoever opens it. */
export const openEmbedded = async (): Promise<PGlite> => {
  const spare = embedded.pop()
  if (spare !== undefined) return spare
  const database = new Lent({
    fs: databaseFiles(),
    startParams: Pglite.startParams,
    extensions: Pglite.extensions
  })
  await database.waitReady
  return database
}

/** A PGlite in memory without tables, which is closed by its opener; a new one would take three times as long. */
export const openEmpty = async (): Promise<PGlite> => {
  const database = await PGlite.create({
    fs: databaseFiles(),
    startParams: Pglite.startParams,
    extensions: Pglite.extensions
  })
  await database.exec("drop schema public cascade; create schema public; grant usage on schema public to public")
  return database
}

const served: Array<string> = []

/** Sessions of the superuser by database, which are kept: a new one reads the catalogs anew, four times as long. */
const sessions = new Map<string, Promise<Client>>()

const openSession = async (name: string): Promise<Client> => {
  const session = new Client(superuserUrl(name))
  const forget = () => void sessions.delete(name)
  // A test may end every session of a database.
  session.on("error", forget).on("end", forget)
  try {
    await session.connect()
    return session
  } catch (cause) {
    forget()
    throw cause
  }
}

const sessionOn = (name: string): Promise<Client> => {
  const session = sessions.get(name) ?? openSession(name)
  sessions.set(name, session)
  return session
}

/** Runs a statement that no transaction takes, such as one that makes a database. */
const execute = (statement: string) =>
  Effect.promise(async () => void await (await sessionOn("postgres")).query(statement))

/** Whether nobody else is left on the database; a session that was just closed takes a moment to end. */
const isVacant = async (session: Client): Promise<boolean> => {
  for (let times = 0; times < 100; times++) {
    const { rows: [found] } = await session.query<{ vacant: boolean }>(
      `select not exists (select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid())
        as vacant`
    )
    if (found?.vacant === true) return true
  }
  return false
}

const restored = (name: string) =>
  Effect.promise(async () => {
    try {
      const session = await sessionOn(name)
      const ask: Pristine.Ask = async (statement) => (await session.query<{ answer: string | null }>(statement)).rows
      return await isVacant(session) && await Pristine.restore(ask, inject("databases").pristine.postgres)
    } catch {
      return false
    }
  })

const freshName = () => `test_${crypto.randomUUID().replaceAll("-", "")}`

const create = Effect.gen(function*() {
  const spare = served.pop()
  if (spare !== undefined) return spare
  const name = freshName()
  yield* execute(`create database ${name} template console_template owner console_owner`)
  return name
})

const drop = (name: string) => execute(`drop database ${name} with (force)`)

/** The name of a database without tables on the run's PostgreSQL, dropped when the scope closes. */
export const createEmpty: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.suspend(() => {
    const name = freshName()
    return Effect.as(execute(`create database ${name} owner console_owner`), name)
  }),
  drop
)

const giveBack = Effect.fnUntraced(function*(name: string) {
  if (served.length < kept && (yield* restored(name))) served.push(name)
  else yield* drop(name)
})

/** The name of a migrated database on the run's PostgreSQL, given back when the scope closes. */
export const lendServed: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(create, giveBack)
