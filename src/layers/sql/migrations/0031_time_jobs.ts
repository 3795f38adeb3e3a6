import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Lets time end things by itself: an account says when it was stopped for the licence's sake, whatever else had stopped
 * it before, the service finds the locks that are over and the accounts that a licence concerns, and a key says what
 * was told of its end.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(yield* Clock.currentTimeMillis)
  yield* sql`alter table account no force row level security`
  yield* sql`alter table account add column licence_stopped_at timestamptz(3)`
  yield* sql`
    update account set licence_stopped_at = stopped_at
    where stopped_at is not null and stop_reason in ('licence', 'organization_suspended') and offboarded_at is null`
  yield* sql`create index account_locked on account (locked_at) where locked_at is not null`
  yield* sql`create index account_unlicensed on account (organization_id) where licence_stopped_at is not null`
  yield* sql`
    grant select (locked_at, licence_stopped_at, stopped_at, offboarded_at) on account to console_service`
  yield* sql`alter table account force row level security`

  // What is told of a key's end; of those that have ended nobody is told any more.
  yield* sql`alter table api_key no force row level security`
  yield* sql`alter table api_key add column expiry_told text check (expiry_told in ('soon', 'ended'))`
  yield* sql`update api_key set expiry_told = 'ended' where expires_at <= ${now}`
  yield* sql`
    create index api_key_expiry on api_key (expires_at)
    where revoked_at is null and expiry_told is distinct from 'ended'`
  yield* sql`alter table api_key force row level security`
})
