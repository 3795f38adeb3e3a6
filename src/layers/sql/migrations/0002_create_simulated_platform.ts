import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The simulated platform's state (src/layers/messenger).
 *
 * It lies outside of every organization, as the messenger itself does: its tables carry no organization, and the
 * tenants' role has no right to them.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  yield* sql`create sequence simulated_number as integer`

  yield* sql`
    create table simulated_platform (
      id smallint primary key check (id = 1)
    )
  `
  yield* sql`insert into simulated_platform (id) values (1)`

  yield* sql`
    create table simulated_account (
      user_id text primary key,
      phone text unique,
      first_name text,
      last_name text,
      username text,
      about text,
      photo_id text,
      premium boolean not null,
      two_fa_digest text,
      login_email_pattern text,
      recovery_email_pattern text,
      passkey_id text
    )
  `
  yield* sql`create unique index simulated_account_username on simulated_account (lower(username collate "C"))`

  yield* sql`
    create table simulated_authorization (
      id text primary key,
      user_id text not null references simulated_account (user_id) on delete cascade,
      session_ref text unique,
      device_model text,
      platform text,
      app_name text,
      app_version text,
      ip text,
      country text,
      last_active_at timestamptz(3) not null,
      created_at timestamptz(3) not null
    )
  `
  yield* sql`create index simulated_authorization_user on simulated_authorization (user_id)`

  yield* sql`
    create table simulated_username_for_sale (
      username_key text primary key
    )
  `

  yield* sql`
    create table simulated_script (
      number integer primary key,
      user_id text,
      operation text,
      answer text not null,
      remaining integer not null
    )
  `

  yield* sql`
    create table simulated_call (
      number integer primary key,
      user_id text,
      operation text not null,
      at timestamptz(3) not null
    )
  `
})
