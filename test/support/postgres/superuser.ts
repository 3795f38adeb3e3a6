/** The databases of the run's PostgreSQL as its superuser sees them, whom no policy holds back. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Client } from "pg"
import { inject } from "vitest"

/** The superuser's address of the database of that name. */
export const superuserUrl = (name: string): string => {
  const url = new URL(inject("databases").adminUrl)
  url.pathname = `/${name}`
  return url.href
}

/** The superuser's address of the database that the effect works on. */
export const superuserUrlHere = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    Effect.map(
      Effect.orDie(sql<{ name: string }>`select current_database()::text as name`),
      ([here]) => superuserUrl(here?.name ?? "")
    )
)

/** The superuser's address of the same database as another address names. */
export const asSuperuser = (url: string): string => superuserUrl(new URL(url).pathname.slice(1))

/** A session of the superuser on the database of the address, until the scope closes. */
export const superuser = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client(asSuperuser(url))
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )
