import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What the simulated platform knows of its accounts and of the devices in them besides their texts.
 *
 * A session of the service is shown to itself under `shown_as`; those that are there already stay under the ids that
 * their rows have. Its key is in use at `place`. How an ended one ended is kept, so that it can be told.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table simulated_account
      add column two_fa_version integer not null default 0,
      add column recovery_pending_pattern text,
      add column reset_at timestamptz(3),
      add column passkey_ids text[] not null default '{}',
      add column ended text check (ended in ('deleted', 'banned')),
      add column unreachable boolean not null default false,
      add column frozen boolean not null default false`
  yield* sql`update simulated_account set passkey_ids = array[passkey_id] where passkey_id is not null`
  yield* sql`alter table simulated_account drop column passkey_id`

  yield* sql`
    alter table simulated_authorization
      add column shown_as text not null default '0',
      add column signed_in_at timestamptz(3),
      add column password_pending boolean not null default false,
      add column unconfirmed boolean not null default false,
      add column place text,
      alter column created_at drop not null,
      alter column last_active_at drop not null`
  yield* sql`update simulated_authorization set shown_as = id, signed_in_at = created_at`
  yield* sql`alter table simulated_authorization alter column signed_in_at set not null`

  yield* sql`
    create table simulated_ended_session (
      session_ref text primary key,
      reason text not null
    )`
  yield* sql`grant update on simulated_authorization to console_service`
  yield* sql`grant select, insert, update on simulated_ended_session to console_service`
})
