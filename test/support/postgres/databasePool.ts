/**
 * The databases of a worker: opened once, made empty and lent again; one of which more is changed than rows is given
 * up.
 */
import { PGlite } from "@electric-sql/pglite"
import { Effect, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import { inject } from "vitest"
import * as Pglite from "../../../src/layers/postgres/Pglite.ts"
import * as Postgres from "../../../src/layers/postgres/Postgres.ts"
import * as Pristine from "./pristine.ts"
import { superuserUrl } from "./superuser.ts"

/** As many of each kind as are kept. */
const kept = 4

const embedded: Array<Lent> = []

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
    loadDataDir: new Blob([fs.readFileSync(inject("databases").dump)]),
    startParams: Pglite.startParams,
    extensions: Pglite.extensions
  })
  await database.waitReady
  return database
}

/** A PGlite in memory without tables, which is closed by its opener; a new one would take three times as long. */
export const openEmpty = async (): Promise<PGlite> => {
  const database = await PGlite.create({
    loadDataDir: new Blob([fs.readFileSync(inject("databases").dump)]),
    startParams: Pglite.startParams,
    extensions: Pglite.extensions
  })
  await database.exec("drop schema public cascade; create schema public; grant usage on schema public to public")
  return database
}

const served: Array<string> = []

const asSuperuser = (database?: string) => <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) => {
  const url = database === undefined ? inject("databases").adminUrl : superuserUrl(database)
  return Effect.orDie(Effect.provide(effect, Postgres.layer({ url: Redacted.make(url), maxConnections: 1 })))
}

/** Whether nobody is left on the database; a session that was just closed takes a moment to end. */
const isVacant = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ vacant: boolean }>`
    select not exists (select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()) as vacant`
  return found?.vacant === true
}).pipe(Effect.repeat({ times: 100, until: (vacant) => vacant }))

const restored = (name: string) =>
  Effect.gen(function*() {
    if (!(yield* isVacant)) return false
    const sql = yield* SqlClient.SqlClient
    const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
    const ask: Pristine.Ask = (statement) => runPromise(sql.unsafe<{ answer: string | null }>(statement))
    return yield* Effect.promise(() => Pristine.restore(ask, inject("databases").pristine.postgres))
  }).pipe(asSuperuser(name), Effect.catchDefect(() => Effect.succeed(false)))

const freshName = () => `test_${crypto.randomUUID().replaceAll("-", "")}`

const create = Effect.gen(function*() {
  const spare = served.pop()
  if (spare !== undefined) return spare
  const name = freshName()
  yield* asSuperuser()(
    SqlClient.SqlClient.use((sql) => sql`create database ${sql(name)} template console_template owner console_owner`)
  )
  return name
})

const drop = (name: string) =>
  asSuperuser()(SqlClient.SqlClient.use((sql) => sql`drop database ${sql(name)} with (force)`))

/** The name of a database without tables on the run's PostgreSQL, dropped when the scope closes. */
export const createEmpty: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.suspend(() => {
    const name = freshName()
    return Effect.as(
      asSuperuser()(SqlClient.SqlClient.use((sql) => sql`create database ${sql(name)} owner console_owner`)),
      name
    )
  }),
  drop
)

const giveBack = Effect.fnUntraced(function*(name: string) {
  if (served.length < kept && (yield* restored(name))) served.push(name)
  else yield* drop(name)
})

/** The name of a migrated database on the run's PostgreSQL, given back when the scope closes. */
export const lendServed: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(create, giveBack)
