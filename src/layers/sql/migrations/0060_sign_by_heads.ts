import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What is to be signed follows from the heads and the last checkpoints: a list of it could be emptied for as long as an
 * event is changed. Signing locks no head.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ definition: string }>`
    select pg_get_functiondef(oid) as definition from pg_proc
    where proname = 'append_event' and pronamespace = 'public'::regnamespace`
  const listing = /\n *-- [^\n]*\n *insert into journal_unsigned [^;]*;/
  if (found === undefined || !listing.test(found.definition)) {
    return yield* Effect.die(new Error("append_event is not the function that this migration changes"))
  }
  yield* sql.unsafe(found.definition.replace(listing, ""))
  yield* sql`drop table journal_unsigned`
  yield* sql`revoke update (at) on journal_head from console_service`
})
