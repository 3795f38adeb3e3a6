-- Logins by which accounts are connected, step by step.

-- The row holds, sealed, everything that a step needs of the one before, so that any process goes on with it. The state
-- is kept until nothing of the login is left on the messenger.
create table login (
  organization_id text collate "C" not null references organization (id) on delete cascade, -- the organization
  id uuid not null, -- of the API
  kind text not null check (kind in ('connect', 'relogin')), -- of a new account, or again of a known one
  account_id uuid, -- the account; null until a new one is made
  phone_number text collate "C" not null, -- in E.164
  role_label text, -- given to the account at the end
  department_id uuid, -- given to the account at the end
  state text not null -- the step that it is at
    check (state in ('code_sent', 'password_needed', 'completed', 'failed', 'expired', 'cancelled')),
  code_delivery text check (code_delivery in ('app', 'sms', 'call', 'email', 'other')), -- the channel of the code
  code_length integer, -- digits; null where the messenger does not say
  resend_at timestamptz(3), -- from when the code may be sent again
  resends integer not null default 0, -- times that it was
  password_hint text, -- the holder's hint, where the password is needed
  attempts_left integer not null check (attempts_left >= 0), -- wrong entries until it fails
  error text, -- cause of its failure
  expires_at timestamptz(3) not null, -- the time when it ends unless a step is taken
  created_at timestamptz(3) not null, -- the time when it was started
  ended_at timestamptz(3), -- null while it is open
  started_by uuid not null, -- the admin
  session_ref text not null unique, -- reference of the new session, made before anything happens on the messenger
  state_sealed text, -- needed by the next step; null where nothing is left on the messenger
  busy_by uuid, -- the step that has claimed it
  busy_until timestamptz(3), -- until when; after that the step's result is not known
  check ((ended_at is null) = (state in ('code_sent', 'password_needed'))),
  check ((busy_by is null) = (busy_until is null)),
  check (kind = 'connect' or account_id is not null),
  primary key (organization_id, id),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade,
  foreign key (organization_id, department_id) references department (organization_id, id)
    on delete set null (department_id),
  foreign key (organization_id, started_by) references admin (organization_id, id) on delete cascade
);
-- The open login of a number, and keeps it one.
create unique index login_open on login (organization_id, phone_number)
  where state in ('code_sent', 'password_needed');
-- Counts the starts of an hour, and those of a number on a day.
create index login_started on login (organization_id, created_at);
create index login_number on login (organization_id, phone_number, created_at);
-- The logins of an account, of a department and of an admin that go with it.
create index login_account on login (organization_id, account_id) where account_id is not null;
create index login_department on login (organization_id, department_id) where department_id is not null;
create index login_admin on login (organization_id, started_by);
-- The logins of all organizations that left something on the messenger.
create index login_left on login (expires_at)
  where state in ('code_sent', 'password_needed') or state_sealed is not null;
-- Deletes those that ended long ago.
create index login_ended on login (ended_at) where ended_at is not null;
alter table login enable row level security, force row level security;
create policy tenant on login to console_app using (organization_id = current_setting('console.organization_id', true));
create policy directory on login to console_service using (true);
grant select, insert, update on login to console_app;
grant select, delete on login to console_service;
