import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What sessions on a messenger over the wire keep, sealed under a key of each session. A session is known by its
 * reference alone: it may be begun before there is an account, and no tenant reads it.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table messenger_session (
      session_ref text collate "C" primary key,
      sealed text not null,
      doubted_at timestamptz(3)
    )`
  yield* sql`
    create table messenger_key (
      session_ref text collate "C" not null references messenger_session on delete cascade,
      name text collate "C" not null,
      sealed text not null,
      version bigint not null,
      primary key (session_ref, name)
    )`
  yield* sql`grant select, insert, delete, update (sealed, doubted_at) on messenger_session to console_service`
  yield* sql`grant select, insert, update (sealed, version) on messenger_key to console_service`
})
