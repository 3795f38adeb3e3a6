import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The tables of organizations: every row names its organization, and the wall lets a tenant see its own alone. */
const tenantTables = [
  ["organization", "id", "select, insert, update"],
  ["department", "organization_id", "select, insert, update, delete"],
  ["admin", "organization_id", "select, insert, update, delete"],
  ["account", "organization_id", "select, insert, update, delete"],
  ["admin_account", "organization_id", "select, insert, delete"],
  ["admin_department", "organization_id", "select, insert, delete"],
  ["sign_up_link", "organization_id", "select, insert, update, delete"],
  ["session", "organization_id", "select, insert, update, delete"],
  ["termination", "organization_id", "select, insert, delete"],
  ["api_key", "organization_id", "select, insert, update"],
  ["ai_connection", "organization_id", "select, insert, update"],
  ["journal_head", "organization_id", "select, insert, update"],
  ["journal_event", "organization_id", "select, insert"],
  ["pending_change", "organization_id", "select, insert, delete"]
] as const

/** The tables that are read before the organization is known, by digest or key alone, or to find what is left open. */
const directoryTables = ["organization", "admin", "api_key", "pending_change"] as const

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table organization (
      id text collate "C" primary key,
      name text not null,
      status text not null check (status in ('active', 'pending', 'suspended')),
      created_at timestamptz(3) not null,
      closed_at timestamptz(3),
      simulated boolean not null default false,
      managed boolean not null,
      billing_state text not null check (billing_state in ('none', 'trial', 'active', 'retry', 'lapsed')),
      plan text check (plan in ('protect', 'archive', 'governance')),
      period text check (period in ('monthly', 'annual')),
      licences_protect integer not null default 0 check (licences_protect >= 0),
      licences_archive integer not null default 0 check (licences_archive >= 0),
      licences_governance integer not null default 0 check (licences_governance >= 0),
      trial_ends_at timestamptz(3),
      valid_until timestamptz(3),
      seat_limit integer not null check (seat_limit >= 0),
      tamper_lockdown_enabled boolean not null default true,
      notification_recipients text not null default 'owner'
        check (notification_recipients in ('owner', 'owner_superadmins')),
      archive_key_set boolean not null default false,
      archive_first_record_at timestamptz(3),
      archive_plan_ended_at timestamptz(3),
      archive_held_at timestamptz(3),
      archive_deletion_started_at timestamptz(3),
      archive_deleted_at timestamptz(3),
      storage_used_bytes bigint not null default 0 check (storage_used_bytes >= 0),
      storage_limit_bytes bigint check (storage_limit_bytes >= 0)
    )`

  yield* sql`
    create table department (
      organization_id text collate "C" not null references organization (id),
      id uuid not null,
      name text not null,
      created_at timestamptz(3) not null,
      primary key (organization_id, id)
    )`

  yield* sql`
    create table admin (
      organization_id text collate "C" not null references organization (id),
      id uuid not null,
      email text not null,
      name text,
      role text not null check (role in ('owner', 'superadmin', 'admin', 'billing', 'archive')),
      archive_access boolean not null default false,
      created_at timestamptz(3) not null,
      joined_at timestamptz(3),
      disabled_at timestamptz(3),
      password_hash text,
      password_changed_at timestamptz(3),
      mail_security boolean not null default true,
      mail_storage boolean not null default true,
      mail_news boolean not null default false,
      mail_offers boolean not null default false,
      primary key (organization_id, id)
    )`
  yield* sql`create unique index admin_email on admin (organization_id, lower(email collate "C"))`
  yield* sql`create unique index admin_owner on admin (organization_id) where role = 'owner'`

  yield* sql`
    create table account (
      organization_id text collate "C" not null references organization (id),
      id uuid not null,
      messenger_user_id text not null,
      phone_number text not null,
      first_name text,
      last_name text,
      username text,
      name_key text collate "C" not null,
      role_label text,
      department_id uuid,
      licence_tier text check (licence_tier in ('protect', 'archive', 'governance')),
      joined_at timestamptz(3),
      connected_at timestamptz(3),
      enrolled_at timestamptz(3),
      enforcement_active_at timestamptz(3),
      offboarded_at timestamptz(3),
      paused_at timestamptz(3),
      resumed_at timestamptz(3),
      stopped_at timestamptz(3),
      stop_reason text
        check (stop_reason in ('session_lost', 'licence', 'organization_suspended', 'account_deleted_by_platform')),
      baselined boolean not null default false,
      takeover_stopped_at timestamptz(3),
      locked_at timestamptz(3),
      lock_reason text,
      security_lock boolean not null default false,
      monitoring_state text not null default 'stopped' check (monitoring_state in ('active', 'unknown', 'stopped')),
      failures integer not null default 0,
      last_ok_at timestamptz(3),
      last_polled_at timestamptz(3),
      last_poll_error text,
      recovery jsonb,
      session_ref text,
      two_fa_sealed text,
      passkey_id text,
      paired_state text not null default 'none' check (paired_state in ('none', 'active', 'lost')),
      paired_since timestamptz(3),
      paired_error text,
      archive_consent_at timestamptz(3),
      archive_selects boolean not null default true,
      archive_live boolean not null default false,
      archive_messages bigint not null default 0,
      archive_media bigint not null default 0,
      archive_bytes bigint not null default 0,
      archive_last_backup_at timestamptz(3),
      archive_next_backup_at timestamptz(3),
      archive_updated_at timestamptz(3),
      archive_last_sync_at timestamptz(3),
      archive_queued_at timestamptz(3),
      archive_started_at timestamptz(3),
      archive_phase text check (archive_phase in ('starting', 'dialogs', 'messages', 'media', 'finishing')),
      archive_dialogs_done integer not null default 0,
      archive_dialogs_total integer,
      archive_current_chat text,
      archive_error text,
      archive_retry_at timestamptz(3),
      archive_chats_discovered integer not null default 0,
      archive_chats_selected integer not null default 0,
      archive_chats_with_data integer not null default 0,
      archive_chats_complete integer not null default 0,
      archive_chats_review integer not null default 0,
      archive_chats_stopped integer not null default 0,
      archive_cleanup_running boolean not null default false,
      primary key (organization_id, id),
      unique (organization_id, messenger_user_id),
      foreign key (organization_id, department_id) references department (organization_id, id)
    )`
  yield* sql`create index account_name on account (organization_id, name_key, id)`
  yield* sql`create index account_department on account (organization_id, department_id, name_key, id)`
  yield* sql`create index account_available on account (organization_id, name_key, id) where offboarded_at is not null`
  yield* sql`
    create index account_paused on account (organization_id, name_key, id)
    where offboarded_at is null and paused_at is not null`
  yield* sql`
    create index account_stopped on account (organization_id, name_key, id)
    where offboarded_at is null and paused_at is null and stopped_at is not null`
  yield* sql`
    create index account_unknown on account (organization_id, name_key, id)
    where offboarded_at is null and paused_at is null and stopped_at is null and monitoring_state = 'unknown'`
  yield* sql`
    create index account_takeover on account (organization_id, takeover_stopped_at)
    where takeover_stopped_at is not null`
  yield* sql`
    create index account_enforcement on account (organization_id, enforcement_active_at)
    where enforcement_active_at is not null`

  yield* sql`
    create table admin_account (
      organization_id text collate "C" not null,
      admin_id uuid not null,
      account_id uuid not null,
      primary key (organization_id, admin_id, account_id),
      foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade,
      foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
    )`
  yield* sql`
    create table admin_department (
      organization_id text collate "C" not null,
      admin_id uuid not null,
      department_id uuid not null,
      primary key (organization_id, admin_id, department_id),
      foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade,
      foreign key (organization_id, department_id) references department (organization_id, id) on delete cascade
    )`

  yield* sql`
    create table sign_up_link (
      organization_id text collate "C" not null references organization (id),
      id uuid not null,
      created_at timestamptz(3) not null,
      used_at timestamptz(3),
      primary key (organization_id, id)
    )`
  yield* sql`create index sign_up_link_unused on sign_up_link (organization_id) where used_at is null`

  yield* sql`
    create table session (
      organization_id text collate "C" not null,
      account_id uuid not null,
      id text not null,
      service boolean not null default false,
      current boolean not null default false,
      baseline boolean not null default false,
      approved_at timestamptz(3),
      approved_by uuid,
      review_deadline timestamptz(3),
      queued_at timestamptz(3),
      withheld_at timestamptz(3),
      device_model text,
      platform text,
      app_name text,
      app_version text,
      ip text,
      country text,
      last_active_at timestamptz(3),
      created_at timestamptz(3),
      seen_at timestamptz(3) not null,
      primary key (organization_id, account_id, id),
      foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
    )`
  yield* sql`
    create index session_review on session (organization_id, account_id)
    where review_deadline is not null and approved_at is null and not service`
  yield* sql`create unique index session_current on session (organization_id, account_id) where current`

  yield* sql`
    create table termination (
      organization_id text collate "C" not null,
      account_id uuid not null,
      id bigint generated always as identity,
      session_id text not null,
      device_label text,
      detected_at timestamptz(3) not null,
      actor text not null check (actor in ('service', 'external', 'unknown')),
      reason text check (reason in ('rejected', 'autokill', 'hijacked')),
      check ((actor = 'service') = (reason is not null)),
      primary key (organization_id, account_id, id),
      foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
    )`
  yield* sql`create index termination_latest on termination (organization_id, account_id, detected_at desc, id desc)`

  yield* sql`
    create table api_key (
      organization_id text collate "C" not null,
      id uuid not null,
      admin_id uuid not null,
      label text not null,
      scopes text[] not null,
      digest text collate "C" not null unique,
      pepper_id text not null,
      created_at timestamptz(3) not null,
      last_used_at timestamptz(3),
      expires_at timestamptz(3),
      revoked_at timestamptz(3),
      primary key (organization_id, id),
      foreign key (organization_id, admin_id) references admin (organization_id, id)
    )`
  yield* sql`create index api_key_newest on api_key (organization_id, created_at desc, id desc)`

  yield* sql`
    create table ai_connection (
      organization_id text collate "C" not null,
      id uuid not null,
      admin_id uuid not null,
      kind text not null check (kind in ('token', 'oauth')),
      label text not null,
      client_name text,
      client_host text,
      client_known text check (client_known in ('assistant_a', 'assistant_b')),
      mode text not null check (mode in ('cloud', 'local')),
      scopes text[] not null,
      scope_type text not null check (scope_type in ('accounts', 'departments')),
      account_ids uuid[] not null default '{}',
      department_ids uuid[] not null default '{}',
      has_stored_password boolean not null default false,
      created_at timestamptz(3) not null,
      last_used_at timestamptz(3),
      expires_at timestamptz(3),
      revoked_at timestamptz(3),
      check ((kind = 'oauth') = (client_name is not null and client_host is not null)),
      primary key (organization_id, id),
      foreign key (organization_id, admin_id) references admin (organization_id, id)
    )`
  yield* sql`create index ai_connection_newest on ai_connection (organization_id, created_at desc, id desc)`

  yield* sql`
    create table journal_head (
      organization_id text collate "C" primary key references organization (id),
      sequence bigint not null,
      hash text not null,
      at timestamptz(3) not null
    )`
  yield* sql`
    create table journal_event (
      organization_id text collate "C" not null references organization (id),
      sequence bigint not null,
      id uuid not null,
      at timestamptz(3) not null,
      action text collate "C" not null,
      outcome text not null check (outcome in ('done', 'refused', 'failed', 'pending')),
      actor_type text not null check (actor_type in ('admin', 'service', 'holder', 'external', 'operator')),
      actor_admin_id uuid,
      actor_name text,
      credential_kind text,
      credential_id text,
      credential_label text,
      via text not null,
      account_id uuid,
      target_type text,
      target_id text,
      details jsonb not null,
      ip text,
      request_id text,
      closes bigint,
      prev_hash text not null,
      hash text not null,
      check ((credential_kind is null) = (credential_id is null)),
      check ((credential_kind is null) = (credential_label is null)),
      check ((target_type is null) = (target_id is null)),
      primary key (organization_id, sequence),
      unique (organization_id, id)
    )`
  yield* sql`create unique index journal_event_closes on journal_event (organization_id, closes) where closes is not null`
  yield* sql`create index journal_event_at on journal_event (organization_id, at, sequence)`
  yield* sql`create index journal_event_account on journal_event (organization_id, account_id, sequence)`
  yield* sql`create index journal_event_admin on journal_event (organization_id, actor_admin_id, sequence)`
  yield* sql`create index journal_event_action on journal_event (organization_id, action, sequence)`
  yield* sql`create index journal_event_credential on journal_event (organization_id, credential_id, sequence)`
  yield* sql`
    create index journal_event_outcome on journal_event (organization_id, outcome, sequence) where outcome <> 'done'`

  yield* sql`
    create table pending_change (
      organization_id text collate "C" not null,
      sequence bigint not null,
      deadline timestamptz(3) not null,
      primary key (organization_id, sequence),
      foreign key (organization_id, sequence) references journal_event (organization_id, sequence)
    )`
  yield* sql`create index pending_change_deadline on pending_change (deadline)`

  // Empty again after a crash of the database, which is what a limit over a minute may be.
  yield* sql`
    create unlogged table rate_limit (
      key text collate "C" primary key,
      hits bigint[] not null,
      admitted boolean not null
    ) with (fillfactor = 50)`

  for (const [table, column, privileges] of tenantTables) {
    yield* sql`alter table ${sql(table)} enable row level security`
    yield* sql`alter table ${sql(table)} force row level security`
    yield* sql`
      create policy tenant on ${sql(table)} to console_app
      using (${sql(column)} = current_setting('console.organization_id', true))`
    yield* sql`grant ${sql.literal(privileges)} on ${sql(table)} to console_app`
  }
  for (const table of directoryTables) {
    yield* sql`create policy directory on ${sql(table)} to current_user using (true)`
  }
})
