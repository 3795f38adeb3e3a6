-- The journal: a chain of events for each organization, append-only, and its signed checkpoints. append_event in
-- functions.sql adds to it.

-- The end of each organization's chain, locked last by every change.
create table journal_head (
  organization_id text collate "C" primary key references organization (id), -- the organization
  sequence bigint not null, -- of the last event
  hash text not null, -- of the last event
  at timestamptz(3) not null, -- of the last event: times never go back
  checked_sequence bigint, -- up to which the chain was last checked
  checked_hash text, -- of that event; null where the chain is broken
  checked_at timestamptz(3), -- the time of that
  checked_ok boolean -- the chain was whole
);
alter table journal_head enable row level security, force row level security;
create policy tenant on journal_head to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on journal_head to console_service using (true);
grant select, insert, update on journal_head to console_app;
grant select on journal_head to console_service;

-- Every column but the generated one is covered by the hash.
create table journal_event (
  organization_id text collate "C" not null references organization (id), -- the organization
  sequence bigint not null, -- from 1, without gaps
  id uuid not null, -- of the API
  at timestamptz(3) not null, -- not before the event before it
  action text collate "C" not null, -- object.verb
  object text collate "C" not null generated always as (split_part(action, '.', 1)) stored, -- of the action
  outcome text not null check (outcome in ('done', 'refused', 'failed', 'pending')), -- pending: an intent
  actor_type text not null check (actor_type in ('admin', 'service', 'holder', 'external', 'operator')), -- its author
  actor_admin_id uuid, -- the admin; no reference, as the event outlives them
  actor_name text, -- their name then
  credential_kind text, -- by what they were authenticated
  credential_id text, -- by which
  credential_label text, -- its label then
  via text not null, -- the transport
  account_id uuid, -- the account that it concerns; no reference, as the event outlives it
  target_type text, -- the kind of object that was changed
  target_id text, -- the object
  details jsonb not null, -- of the action
  ip text, -- of the caller
  request_id text, -- the Request-Id
  closes bigint, -- sequence of the intent whose outcome this is
  prev_hash text not null, -- of the event before
  hash text not null, -- of this one
  check ((credential_kind is null) = (credential_id is null)),
  check ((credential_kind is null) = (credential_label is null)),
  check ((target_type is null) = (target_id is null)),
  primary key (organization_id, sequence),
  -- The event of a cursor, or of its page.
  unique (organization_id, id)
);
-- The outcome of an intent, and keeps it one.
create unique index journal_event_closes on journal_event (organization_id, closes) where closes is not null;
-- Lists events by each of the filters.
create index journal_event_at on journal_event (organization_id, at, sequence);
create index journal_event_account on journal_event (organization_id, account_id, sequence);
create index journal_event_admin on journal_event (organization_id, actor_admin_id, sequence);
create index journal_event_action on journal_event (organization_id, action, sequence);
create index journal_event_object on journal_event (organization_id, object, sequence);
create index journal_event_credential on journal_event (organization_id, credential_id, sequence);
-- Events that are not done: most are, and those are found in the order of the journal.
create index journal_event_outcome on journal_event (organization_id, outcome, sequence) where outcome <> 'done';
-- The events without an account, for callers with access to some accounts only: all, and those of one admin, action,
-- credential or outcome.
create index journal_event_alone on journal_event (organization_id, sequence) where account_id is null;
create index journal_event_admin_alone on journal_event (organization_id, actor_admin_id, sequence)
  where account_id is null;
create index journal_event_action_alone on journal_event (organization_id, action, sequence) where account_id is null;
create index journal_event_credential_alone on journal_event (organization_id, credential_id, sequence)
  where account_id is null;
create index journal_event_outcome_alone on journal_event (organization_id, outcome, sequence)
  where account_id is null and outcome <> 'done';
alter table journal_event enable row level security, force row level security;
create policy tenant on journal_event to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert on journal_event to console_app;

-- The department by which an event is found; it follows the account, so that it is no column of the event.
create table journal_place (
  organization_id text collate "C" not null, -- the organization, which the event refers to
  sequence bigint not null, -- the event
  department_id uuid not null, -- that the event's account is in now
  primary key (organization_id, sequence)
);
-- Lists the events of departments.
create index journal_place_department on journal_place (organization_id, department_id, sequence);
alter table journal_place enable row level security, force row level security;
create policy tenant on journal_place to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, delete on journal_place to console_app;

-- Intents that no event has closed.
create table pending_change (
  organization_id text collate "C" not null, -- the organization
  sequence bigint not null, -- the event
  deadline timestamptz(3) not null, -- the time when the background work closes it
  primary key (organization_id, sequence),
  foreign key (organization_id, sequence) references journal_event (organization_id, sequence)
);
-- Those of all organizations that a crash left open.
create index pending_change_deadline on pending_change (deadline);
alter table pending_change enable row level security, force row level security;
create policy tenant on pending_change to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on pending_change to console_service using (true);
grant select, insert, update (deadline), delete on pending_change to console_app;
grant select on pending_change to console_service;

-- A deployment's checkpoints are one chain over all organizations.
create table journal_checkpoint (
  number bigint primary key, -- from 1, without gaps
  organization_id text collate "C" not null references organization (id), -- the organization whose journal it signs
  sequence bigint not null, -- up to which event
  hash text not null, -- of that event
  at timestamptz(3) not null, -- the time when it was signed
  previous text not null, -- digest of the checkpoint before, of any organization
  key_id text not null, -- the key that signed it
  signature text not null, -- Ed25519
  unique (organization_id, sequence)
);
alter table journal_checkpoint enable row level security, force row level security;
create policy tenant on journal_checkpoint to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on journal_checkpoint to console_service using (true);
grant select on journal_checkpoint to console_app;
grant select, insert on journal_checkpoint to console_service;

-- The targets of checkpoints, each with the last one that it took.
create table journal_push (
  target text collate "C" primary key, -- the target's name
  number bigint not null, -- of the last checkpoint that it took
  failures integer not null, -- in a row
  free_at timestamptz(3) not null -- until then a process has it, or it is left alone after a failure
);
grant select, insert, update on journal_push to console_service;
