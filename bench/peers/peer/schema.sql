create table organization (
  id text collate "C" primary key,
  name text not null,
  status text not null,
  closed_at timestamptz(3),
  managed boolean not null,
  billing_state text not null,
  plan text,
  period text,
  licences_protect integer not null,
  licences_archive integer not null,
  licences_governance integer not null,
  trial_ends_at timestamptz(3),
  valid_until timestamptz(3),
  seat_limit integer not null,
  seats_used integer not null,
  seats_reserved integer not null,
  tamper_lockdown_enabled boolean not null,
  archive_key_set boolean not null,
  archive_first_record_at timestamptz(3),
  archive_plan_ended_at timestamptz(3),
  archive_held_at timestamptz(3),
  archive_deletion_started_at timestamptz(3),
  archive_deleted_at timestamptz(3),
  storage_used_bytes bigint not null,
  storage_limit_bytes bigint
);

create table department (
  id uuid primary key,
  organization_id text collate "C" not null references organization,
  name text not null
);
create index on department (organization_id);

create table admin (
  id uuid primary key,
  organization_id text collate "C" not null references organization,
  email text not null,
  name text,
  role text not null,
  archive_access boolean not null,
  disabled_at timestamptz(3),
  password_changed_at timestamptz(3)
);
create unique index on admin (organization_id, lower(email));

create table api_key (
  digest bytea primary key,
  id uuid not null unique,
  organization_id text collate "C" not null references organization,
  admin_id uuid not null references admin,
  label text not null,
  scopes text[] not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);
create index on api_key (organization_id, created_at desc, id desc);
create index on api_key (admin_id);

-- When a key was used: apart from what is looked up at each request.
create table api_key_use (key_id uuid primary key references api_key (id), used_at timestamptz(3) not null)
  with (fillfactor = 50);

-- The hits of each key's last minute, in milliseconds; a crash may forget them.
create unlogged table budget (key_id uuid primary key, hits bigint[] not null, admitted boolean not null)
  with (fillfactor = 50);

create table account (
  id uuid primary key,
  organization_id text collate "C" not null references organization,
  department_id uuid references department,
  -- Everybody sees the same name, and lists go by it without regard to case.
  name text not null,
  sort_name text collate "C" not null,
  messenger_user_id text not null,
  phone_number text not null,
  role_label text,
  licence_tier text,
  -- What does not change with time alone: available, paused, protection_stopped, status_unknown or guarded.
  standing text not null,
  -- A guarded account is hijack_blocked and recently_connected until these, and new_sign_in while a review waits.
  blocked_until timestamptz(3),
  review_pending boolean not null,
  fresh_until timestamptz(3),
  stop_reason text,
  connected boolean not null,
  joined_at timestamptz(3),
  offboarded_at timestamptz(3),
  enrolled_at timestamptz(3),
  enforcement_active_at timestamptz(3),
  locked_at timestamptz(3),
  lock_reason text,
  security_lock boolean not null,
  monitoring_state text not null,
  last_polled_at timestamptz(3),
  last_poll_error text,
  recovery jsonb,
  archive_consent_at timestamptz(3),
  archive_selects boolean not null,
  archive_live boolean not null,
  archive_messages bigint not null,
  archive_media bigint not null,
  archive_bytes bigint not null,
  archive_last_backup_at timestamptz(3),
  archive_next_backup_at timestamptz(3),
  archive_updated_at timestamptz(3),
  archive_last_sync_at timestamptz(3),
  archive_queued_at timestamptz(3),
  archive_started_at timestamptz(3),
  archive_phase text,
  archive_dialogs_done integer not null,
  archive_dialogs_total integer,
  archive_current_chat text,
  archive_error text,
  archive_retry_at timestamptz(3),
  archive_chats_discovered integer not null,
  archive_chats_selected integer not null,
  archive_chats_with_data integer not null,
  archive_chats_complete integer not null,
  archive_chats_review integer not null,
  archive_chats_stopped integer not null,
  archive_cleanup_running boolean not null,
  unique (organization_id, messenger_user_id)
) with (fillfactor = 90);
create index on account (organization_id, sort_name, id);
create index on account (organization_id, department_id, sort_name, id);
create index on account (organization_id, standing, sort_name, id);

create table admin_account (
  admin_id uuid references admin,
  account_id uuid references account,
  primary key (admin_id, account_id)
);
create table admin_department (
  admin_id uuid references admin,
  department_id uuid references department,
  primary key (admin_id, department_id)
);

create table session (
  account_id uuid references account,
  id text,
  service boolean not null,
  current boolean not null,
  approved_at timestamptz(3),
  review_deadline timestamptz(3),
  queued_at timestamptz(3),
  device_model text,
  platform text,
  app_name text,
  app_version text,
  ip text,
  country text,
  last_active_at timestamptz(3),
  created_at timestamptz(3),
  seen_at timestamptz(3) not null,
  primary key (account_id, id)
);

create table termination (
  id bigint generated by default as identity primary key,
  account_id uuid not null references account,
  session_id text not null,
  device_label text,
  detected_at timestamptz(3) not null,
  actor text not null,
  reason text
);
create index on termination (account_id, detected_at desc, id desc);

-- The newest entry of each journal, and when the journal is to be signed.
create table journal_head (
  organization_id text collate "C" primary key references organization,
  sequence bigint not null,
  hash bytea not null,
  at timestamptz(3) not null,
  sign_at timestamptz(3)
) with (fillfactor = 50);

create table journal (
  organization_id text collate "C" references organization,
  sequence bigint,
  id uuid not null unique,
  at timestamptz(3) not null,
  action text not null,
  outcome text not null,
  actor_type text not null,
  actor_admin_id uuid,
  actor_name text,
  credential_kind text,
  credential_id uuid,
  credential_label text,
  via text not null,
  account_id uuid,
  department_id uuid,
  target_type text,
  target_id text,
  details jsonb not null,
  ip text,
  request_id text,
  closes bigint,
  prev_hash bytea not null,
  hash bytea not null,
  primary key (organization_id, sequence)
);
create index on journal (organization_id, at, sequence);
create index on journal (organization_id, account_id, sequence);
create index on journal (organization_id, department_id, sequence) where department_id is not null;
create index on journal (organization_id, actor_admin_id, sequence);
create index on journal (organization_id, action, sequence);
create index on journal (organization_id, credential_id, sequence);
create index on journal (organization_id, outcome, sequence) where outcome <> 'done';

-- What an entry's hash is of, beside the hash before it.
create function journal_text(entry journal) returns bytea language sql immutable parallel safe as $$
  select convert_to(json_build_array(entry.organization_id, entry.sequence, entry.id,
    (extract(epoch from entry.at) * 1000)::bigint, entry.action, entry.outcome, entry.actor_type, entry.actor_admin_id,
    entry.actor_name, entry.credential_kind, entry.credential_id, entry.credential_label, entry.via, entry.account_id,
    entry.department_id, entry.target_type, entry.target_id, entry.details, entry.ip, entry.request_id,
    entry.closes)::text, 'UTF8')
$$;

-- Appends an entry; its place, its time and its hashes are made here, behind the lock on the journal's head.
create function append_journal(entry journal) returns void language plpgsql as $$
declare
  head journal_head;
begin
  select * into head from journal_head where organization_id = entry.organization_id for update;
  if not found then
    insert into journal_head values
      (entry.organization_id, 0, sha256(convert_to(entry.organization_id, 'UTF8')), clock_timestamp())
      on conflict do nothing;
    select * into head from journal_head where organization_id = entry.organization_id for update;
  end if;
  entry.sequence := head.sequence + 1;
  entry.at := greatest(clock_timestamp(), head.at);
  entry.prev_hash := head.hash;
  entry.hash := sha256(head.hash || journal_text(entry));
  insert into journal values (entry.*);
  update journal_head
    set sequence = entry.sequence, hash = entry.hash, at = entry.at,
      sign_at = coalesce(sign_at, date_trunc('minute', entry.at) + interval '1 minute')
    where organization_id = entry.organization_id;
end
$$;

-- Sets the label of an account that the admin reaches, journals it where it changed, and answers the account.
create function set_role_label(
  organization text, account_id uuid, granted_to uuid, label text,
  event_id uuid, admin_id uuid, admin_name text, key_id uuid, key_label text, via text, ip text, request_id text
) returns setof account language plpgsql as $$
declare
  target account;
  entry journal;
begin
  select * into target from account
    where account.id = set_role_label.account_id and organization_id = organization and (granted_to is null
      or department_id in (select granted.department_id from admin_department granted where granted.admin_id = granted_to)
      or account.id in (select granted.account_id from admin_account granted where granted.admin_id = granted_to))
    for no key update;
  if not found then return; end if;
  if target.role_label is distinct from label then
    target.role_label := label;
    update account set role_label = label where account.id = target.id;
    entry.organization_id := organization;
    entry.id := event_id;
    entry.action := 'account.role_label_set';
    entry.outcome := 'done';
    entry.actor_type := 'admin';
    entry.actor_admin_id := set_role_label.admin_id;
    entry.actor_name := admin_name;
    entry.credential_kind := 'api_key';
    entry.credential_id := key_id;
    entry.credential_label := key_label;
    entry.via := set_role_label.via;
    entry.account_id := target.id;
    entry.department_id := target.department_id;
    entry.target_type := 'account';
    entry.target_id := target.id;
    entry.details := json_strip_nulls(json_build_object('role_label', label));
    entry.ip := set_role_label.ip;
    entry.request_id := set_role_label.request_id;
    perform append_journal(entry);
  end if;
  return next target;
end
$$;
