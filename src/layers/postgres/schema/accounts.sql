-- Accounts, which admins have access to them, and what is counted of them. Their triggers are in functions.sql.

create table account (
  organization_id text collate "C" not null references organization (id), -- the organization
  id uuid not null, -- of the API
  messenger_user_id text not null, -- the messenger's id of the person
  phone_number text not null, -- in E.164
  first_name text, -- on the messenger
  last_name text, -- on the messenger
  username text, -- on the messenger, without @
  name_key text collate "C" not null, -- the name as it is ordered
  role_label text, -- set by admins
  department_id uuid, -- null where it is in none
  licence_tier text check (licence_tier in ('protect', 'archive', 'governance')), -- null in a trial and without a plan

  -- Its life
  joined_at timestamptz(3), -- the time when it was connected
  connected_at timestamptz(3), -- the time when the main session of the service was made
  enrolled_at timestamptz(3), -- the time when monitoring began
  enforcement_active_at timestamptz(3), -- from when the messenger lets the service sign others out
  offboarded_at timestamptz(3), -- the time when its seat was freed; null until then
  paused_at timestamptz(3), -- since when an admin has paused protection
  resumed_at timestamptz(3), -- the time when protection last began again
  stopped_at timestamptz(3), -- since when protection is stopped
  stop_reason text -- the reason
    check (stop_reason in ('session_lost', 'licence', 'organization_suspended', 'account_deleted_by_platform')),
  licence_stopped_at timestamptz(3), -- since when a licence stops it, whatever else had stopped it before
  takeover_stopped_at timestamptz(3), -- the time when a takeover was last stopped
  locked_at timestamptz(3), -- since when it is locked after a takeover; a lock ends by itself
  lock_reason text, -- the reason
  security_lock boolean not null default false, -- an admin has new sessions signed out without a review
  baselined boolean not null default false, -- the sessions that were there at first are known
  monitoring_state text not null default 'stopped' -- unknown while it cannot be read
    check (monitoring_state in ('active', 'unknown', 'stopped')),
  recovery jsonb, -- its ways of recovery as last seen; null where they cannot be read

  -- The service's sessions
  session_ref text, -- reference of the main one; null without one
  paired_state text not null default 'none' check (paired_state in ('none', 'active', 'lost')), -- of the second one
  paired_since timestamptz(3), -- since when it is in that state
  paired_error text, -- the reason of its loss

  -- Its status, as it follows from facts and time; written with the facts
  review_pending boolean not null default false, -- a session waits for a review
  status text collate "C" not null -- until status_until
    check (status in ('protected', 'new_sign_in', 'recently_connected', 'hijack_blocked', 'status_unknown',
      'protection_stopped', 'paused', 'available')),
  status_until timestamptz(3), -- the time when time alone ends it; null for never
  later_statuses text[] not null default '{}', -- the statuses that follow, in order
  status_changes timestamptz(3)[] not null default '{}', -- the time when each of those begins

  archive_consent_at timestamptz(3), -- the time when its holder agreed to archiving

  primary key (organization_id, id),
  unique (organization_id, messenger_user_id),
  foreign key (organization_id, department_id) references department (organization_id, id),
  check (cardinality(later_statuses) = cardinality(status_changes)),
  check (status_until is not distinct from status_changes[1])
) with (fillfactor = 85); -- a change that no index is about finds room on its page
-- Lists by name: of the organization, of a department, in a status, and in a status of a department.
create index account_name on account (organization_id, name_key, id);
create index account_department on account (organization_id, department_id, name_key, id);
create index account_status on account (organization_id, status, name_key, id);
create index account_department_status on account (organization_id, department_id, status, name_key, id);
-- Lists in a status those whose kept status has ended and is not refreshed yet.
create index account_status_until on account (organization_id, status_until) where status_until is not null;
-- An organization may have one status alone: without it a list in that status reads all of its accounts, and sorts them.
create statistics account_status_of (mcv) on organization_id, status from account;
-- refresh_statuses: the kept statuses of all organizations that have ended.
create index account_status_due on account (status_until) where status_until is not null;
-- expire_takeover_locks: the locks of all organizations that are over.
create index account_locked on account (locked_at) where locked_at is not null;
-- The accounts that a licence which is back restores.
create index account_unlicensed on account (organization_id) where licence_stopped_at is not null;
alter table account enable row level security, force row level security;
create policy tenant on account to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on account to console_service using (true);
grant select, insert, update, delete on account to console_app;
-- The service refreshes statuses, and finds locks that are over and accounts that a licence concerns; nothing else.
grant select (organization_id, id, status, status_until, later_statuses, status_changes, locked_at, licence_stopped_at,
    stopped_at, offboarded_at),
  update (status, status_until, later_statuses, status_changes) on account to console_service;

-- The texts that accounts are found by: apart, so that no other change of an account writes the index of their parts.
create table account_search (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account
  department_id uuid, -- of the account
  search_text text collate "C" not null, -- everything that it is found by, as it is compared
  primary key (organization_id, account_id),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
);
-- matching_accounts: searches by any part of a text.
create index account_search_text on account_search using gin (search_text gin_trgm_ops);
alter table account_search enable row level security, force row level security;
create policy tenant on account_search to console_app
  using (organization_id = current_setting('console.organization_id', true));
-- matching_accounts runs as the owner.
create policy search on account_search for select to current_user using (true);
grant select, insert, update on account_search to console_app;

-- A person is protected by one account of one organization. A tenant sees its own people alone: that a person is taken
-- elsewhere it learns by a claim that adds no row.
create table messenger_identity (
  messenger_user_id text collate "C" primary key, -- the messenger's id of the person
  organization_id text collate "C" not null, -- the organization that protects them
  account_id uuid not null, -- by which account
  unique (organization_id, account_id),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
);
alter table messenger_identity enable row level security, force row level security;
create policy tenant on messenger_identity to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, delete on messenger_identity to console_app;

-- Links by which people connect their account; an open one reserves a seat.
create table sign_up_link (
  organization_id text collate "C" not null references organization (id), -- the organization
  id uuid not null, -- made for the row
  created_at timestamptz(3) not null, -- it ends 7 days later
  used_at timestamptz(3), -- null while it is open
  primary key (organization_id, id)
);
-- Counts the open ones.
create index sign_up_link_unused on sign_up_link (organization_id) where used_at is null;
-- The open ones of all organizations that have ended.
create index sign_up_link_ending on sign_up_link (created_at) where used_at is null;
alter table sign_up_link enable row level security, force row level security;
create policy tenant on sign_up_link to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on sign_up_link to console_service using (true);
grant select, insert, update, delete on sign_up_link to console_app;
grant select (organization_id, created_at, used_at) on sign_up_link to console_service;

-- Accounts that were granted to an admin.
create table admin_account (
  organization_id text collate "C" not null, -- the organization
  admin_id uuid not null, -- the admin who has access
  account_id uuid not null, -- to what
  primary key (organization_id, admin_id, account_id),
  foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade,
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
);
alter table admin_account enable row level security, force row level security;
create policy tenant on admin_account to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, delete on admin_account to console_app;

-- Departments whose accounts were granted to an admin.
create table admin_department (
  organization_id text collate "C" not null, -- the organization
  admin_id uuid not null, -- the admin who has access
  department_id uuid not null, -- to the accounts in what
  primary key (organization_id, admin_id, department_id),
  foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade,
  foreign key (organization_id, department_id) references department (organization_id, id) on delete cascade
);
-- The admins whom the deletion of a department concerns.
create index admin_department_department on admin_department (organization_id, department_id);
alter table admin_department enable row level security, force row level security;
create policy tenant on admin_department to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, delete on admin_department to console_app;

-- The number of accounts in each status over time, for charts.
create table status_sample (
  organization_id text collate "C" not null references organization (id) on delete cascade, -- the organization
  at timestamptz(3) not null, -- the time when they were counted
  accounts jsonb not null, -- the number by status
  primary key (organization_id, at)
);
-- Deletes the oldest of all organizations.
create index status_sample_at on status_sample (at);
alter table status_sample enable row level security, force row level security;
create policy tenant on status_sample to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on status_sample to console_service using (true);
grant select on status_sample to console_app;
grant select, insert, delete on status_sample to console_service;
