-- Monitoring of accounts, and their background tasks.

-- One narrow row for each account, written at every poll; claiming an account changes no index.
create table monitor (
  organization_id text collate "C" not null, -- the account's organization
  account_id uuid not null, -- the account that is monitored
  -- One of 1,024 parts of all accounts, by which several workers may share them.
  slot smallint not null generated always as (
    (((get_byte(uuid_send(account_id), 14) & 3) << 8) | get_byte(uuid_send(account_id), 15))::smallint) stored,
  epoch integer not null default 0, -- grows with each change of facts that a step relies on
  next_at timestamptz(3), -- time of the next poll; null while the account is not monitored
  urgent boolean not null default false, -- an operation or the messenger asks for a poll
  due_at timestamptz(3), -- the next deadline of a session
  look_at timestamptz(3), -- time of the next reading of security and profile
  busy_by uuid, -- the step or change that has the account
  busy_until timestamptz(3), -- end of that claim
  fence bigint not null default 0, -- number of that claim; a step with an older one writes nothing
  started_at timestamptz(3), -- since then monitoring is active
  last_polled_at timestamptz(3), -- time of the last poll
  last_ok_at timestamptz(3), -- time of the last poll that succeeded
  last_poll_error text, -- cause of the last poll's failure
  failures integer not null default 0, -- polls that failed in a row
  first_failure_at timestamptz(3), -- time of the first of those
  flood_until timestamptz(3), -- the messenger has asked to wait until then
  sign_out_retry_at timestamptz(3), -- time of the next try to sign out
  seen_mark text collate "C", -- digest of the list of sessions that the last poll read
  facets jsonb not null default '{}', -- the settings that raise signals, as last read
  primary key (organization_id, account_id),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
) with (fillfactor = 50);
-- MonitorClaims: accounts to be polled, by time; of all organizations, and of one whose turn it is.
create index monitor_poll on monitor ((greatest(next_at, flood_until))) where next_at is not null and not urgent;
create index monitor_poll_of on monitor (organization_id, (greatest(next_at, flood_until)))
  where next_at is not null and not urgent;
-- MonitorClaims: accounts that an operation, a push or a deadline waits for; of all organizations, and of one.
create index monitor_pressing on monitor
  ((case when urgent then greatest(next_at, flood_until) else greatest(next_at, due_at, flood_until) end))
  where next_at is not null and (urgent or due_at is not null);
create index monitor_pressing_of on monitor (organization_id,
  (case when urgent then greatest(next_at, flood_until) else greatest(next_at, due_at, flood_until) end))
  where next_at is not null and (urgent or due_at is not null);
alter table monitor enable row level security, force row level security;
create policy tenant on monitor to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on monitor to console_service using (true);
grant select, insert, update on monitor to console_app;
grant select, update on monitor to console_service;

-- Workers that share the accounts, and the slots that each has: the tables of effect/cluster, which reads and writes
-- them; `timestamp` is in UTC, as every session's time zone is.
create table cluster_runners (
  machine_id serial primary key, -- number of the worker
  address varchar(255) not null, -- host, name of the process and port
  runner text not null, -- the worker as the library writes it
  healthy boolean not null default true, -- always true: the database alone says whether a worker lives
  last_heartbeat timestamp not null default now(), -- time of its last renewal
  unique (address)
);
create table cluster_locks (
  shard_id varchar(50) primary key, -- the slot: its number plus one
  address varchar(255) not null, -- the worker that has it
  acquired_at timestamp not null, -- time of the last renewal
  held_since timestamp not null default now() -- time at which it got it; the library does not know this column
);
grant select, insert, update, delete on cluster_runners, cluster_locks to console_service;
grant usage on sequence cluster_runners_machine_id_seq to console_service;

-- Work on the messenger that is left to do for an account.
create table account_task (
  organization_id text collate "C" not null, -- the account's organization
  account_id uuid not null, -- the account that it is for
  kind text not null check (kind in ('rotate_two_fa', 'cancel_recovery_email', 'pair', 'log_out')), -- the work
  due_at timestamptz(3) not null, -- time of the next try
  tries integer not null default 0, -- tries so far
  primary key (organization_id, account_id, kind),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
);
-- The tasks of all organizations that are due.
create index account_task_due on account_task (due_at);
alter table account_task enable row level security, force row level security;
create policy tenant on account_task to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on account_task to console_service using (true);
grant select, insert, update, delete on account_task to console_app;
grant select on account_task to console_service;
