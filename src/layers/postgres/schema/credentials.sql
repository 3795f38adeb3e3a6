-- API keys and AI connections, and what is counted of their requests.

create table api_key (
  organization_id text collate "C" not null, -- the organization
  id uuid not null, -- of the API
  admin_id uuid not null, -- in whose name it works
  label text not null, -- as shown
  scopes text[] not null, -- its rights
  digest text collate "C" not null unique, -- of the key
  pepper_id text not null, -- the pepper of that digest
  last_four text collate "C" check (last_four ~ '^[0-9A-Za-z]{4}$'), -- the key's last characters, for people
  parent_id uuid, -- the key that made it; null where a person did
  root_id uuid, -- the first key of that family: locked when one of it is made or revoked
  created_at timestamptz(3) not null, -- the time when it was made
  last_used_at timestamptz(3), -- written in the background
  expires_at timestamptz(3), -- null for no end
  expiry_told text check (expiry_told in ('soon', 'ended')), -- the last notification of its end
  revoked_at timestamptz(3), -- null while it works
  check ((parent_id is null) = (root_id is null)),
  primary key (organization_id, id),
  foreign key (organization_id, admin_id) references admin (organization_id, id),
  foreign key (organization_id, parent_id) references api_key (organization_id, id),
  foreign key (organization_id, root_id) references api_key (organization_id, id)
);
-- Lists keys, newest first.
create index api_key_newest on api_key (organization_id, created_at desc, id desc);
-- The keys that a revoked one has made.
create index api_key_parent on api_key (organization_id, parent_id) where parent_id is not null;
-- The last use of an admin's keys, and those that have not ended, without reading those of all years.
create index api_key_used on api_key (organization_id, admin_id, last_used_at);
create index api_key_live on api_key (organization_id, admin_id, expires_at) where revoked_at is null;
-- The keys of all organizations of whose end the admins are still to be notified.
create index api_key_expiry on api_key (expires_at) where revoked_at is null and expiry_told is distinct from 'ended';
alter table api_key enable row level security, force row level security;
create policy tenant on api_key to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on api_key to console_service using (true);
grant select, insert, update on api_key to console_app;
grant select, update (last_used_at) on api_key to console_service;

-- Assistants and other applications: by a token, or by OAuth. The reference to the client is in oauth.sql.
create table ai_connection (
  organization_id text collate "C" not null, -- the organization
  id uuid not null, -- of the API
  admin_id uuid not null, -- in whose name it works
  kind text not null check (kind in ('token', 'oauth')), -- its authentication
  label text not null, -- as shown
  client_id uuid, -- the registered application
  client_document text, -- address of the document that the application is known by instead
  client_name text, -- as the application names itself
  client_host text, -- the host that its grants are sent to
  client_known text check (client_known in ('assistant_a', 'assistant_b')), -- an assistant that the service knows
  mode text not null check (mode in ('cloud', 'local')), -- in the provider's cloud or on the admin's machine
  resource text, -- the address that its tokens are for
  scopes text[] not null, -- its rights
  scope_type text not null check (scope_type in ('accounts', 'departments')), -- the kind of its limit
  all_accounts boolean not null default false, -- everything that its admin has access to
  generation integer not null default 0, -- of its refresh tokens: a used one need not be kept
  has_stored_password boolean not null default false, -- the archive password is stored with it
  created_at timestamptz(3) not null, -- the time when it was made
  last_used_at timestamptz(3), -- written in the background
  expires_at timestamptz(3), -- null for no end
  revoked_at timestamptz(3), -- null while it works
  check ((kind = 'oauth') = (client_name is not null and client_host is not null)),
  check (not all_accounts or scope_type = 'accounts'),
  check (client_document is null or client_id is null),
  primary key (organization_id, id),
  foreign key (organization_id, admin_id) references admin (organization_id, id)
);
-- Lists connections, newest first.
create index ai_connection_newest on ai_connection (organization_id, created_at desc, id desc);
-- The connection that a refresh token names, before its organization is known.
create index ai_connection_id on ai_connection (id) where kind = 'oauth';
-- The clients that no connection uses.
create index ai_connection_client on ai_connection (client_id) where client_id is not null;
-- The last use of an admin's connections, and those that have not ended, without reading those of all years.
create index ai_connection_used on ai_connection (organization_id, admin_id, last_used_at);
create index ai_connection_live on ai_connection (organization_id, admin_id, expires_at) where revoked_at is null;
alter table ai_connection enable row level security, force row level security;
create policy tenant on ai_connection to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on ai_connection to console_service using (true);
grant select, insert, update on ai_connection to console_app;
grant select, update (last_used_at) on ai_connection to console_service;

-- Accounts that were chosen for a connection.
create table ai_connection_account (
  organization_id text collate "C" not null, -- the organization
  connection_id uuid not null, -- the connection
  account_id uuid not null, -- has access to what
  place integer not null, -- its place in the choice
  primary key (organization_id, connection_id, account_id),
  foreign key (organization_id, connection_id) references ai_connection (organization_id, id) on delete cascade,
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
);
-- The choices that go with a deleted account.
create index ai_connection_account_chosen on ai_connection_account (organization_id, account_id);
alter table ai_connection_account enable row level security, force row level security;
create policy tenant on ai_connection_account to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert on ai_connection_account to console_app;

-- Departments that were chosen for a connection.
create table ai_connection_department (
  organization_id text collate "C" not null, -- the organization
  connection_id uuid not null, -- the connection
  department_id uuid not null, -- has access to the accounts in what
  place integer not null, -- its place in the choice
  primary key (organization_id, connection_id, department_id),
  foreign key (organization_id, connection_id) references ai_connection (organization_id, id) on delete cascade,
  foreign key (organization_id, department_id) references department (organization_id, id) on delete cascade
);
-- The choices that go with a deleted department.
create index ai_connection_department_chosen on ai_connection_department (organization_id, department_id);
alter table ai_connection_department enable row level security, force row level security;
create policy tenant on ai_connection_department to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert on ai_connection_department to console_app;

-- The keys by which requests are repeated without effect, and the answers that they had.
create table idempotency_key (
  organization_id text collate "C" not null references organization (id) on delete cascade, -- the organization
  credential_id text collate "C" not null, -- the credential that sent it
  operation text collate "C" not null, -- the operation that was called
  digest text collate "C" not null, -- of the key
  token uuid not null, -- names the request that has claimed it
  body_hmac text collate "C" not null, -- of what was sent: a digest without a secret would let a short code be guessed
  pepper_id text collate "C" not null, -- the pepper of that
  claimed_at timestamptz(3) not null, -- the time when it was claimed
  answer_sealed text, -- null until the change has committed
  primary key (organization_id, credential_id, operation, digest)
);
-- Deletes those that are kept no longer.
create index idempotency_key_claimed on idempotency_key (claimed_at);
alter table idempotency_key enable row level security, force row level security;
create policy tenant on idempotency_key to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on idempotency_key to console_service using (true);
grant select, insert, update, delete on idempotency_key to console_app;
grant select, delete on idempotency_key to console_service;

-- Requests of the last minute. Empty again after a crash of the database, which is what a limit over a minute may be.
create unlogged table rate_limit (
  key text collate "C" primary key, -- the credential or address that is limited
  hits bigint[] not null, -- the times, in milliseconds since 1970, in order
  admitted boolean not null -- the last one was not refused
) with (fillfactor = 50);
grant select, insert, update, delete on rate_limit to console_service;
