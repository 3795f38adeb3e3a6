/** A process that opens the embedded database of a directory and acknowledges one committed row after the other. */
import { Console, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Pglite from "../../../src/layers/postgres/Pglite.ts"

const directory = process.argv[2] ?? ""

const write = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select set_config('role', 'console_owner', true)`.pipe(
    Effect.andThen(sql`create table if not exists entry (id int8 primary key)`),
    Effect.andThen(sql`grant select, insert on entry to console_service`),
    sql.withTransaction
  )
  for (let id = 1;; id++) {
    yield* sql.withTransaction(sql`insert into entry (id) values (${id})`)
    yield* Console.log(id)
  }
})

await Effect.runPromise(Effect.provide(write, Pglite.layer({ directory })))
