-- The authorization server: applications, their codes and tokens. The connections are in credentials.sql.

create table oauth_client (
  id uuid primary key, -- given at the registration
  issuer text not null, -- the site where it registered
  name text not null, -- as it names itself
  redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 10), -- addresses that codes are sent to
  auth_method text not null check (auth_method in ('none', 'client_secret_basic', 'client_secret_post')), -- its proof
  secret_digest text, -- of its secret; null without one
  pepper_id text, -- the pepper of that digest
  address text, -- group of addresses that it registered from, for the limit; null after a day
  created_at timestamptz(3) not null, -- time of the registration
  check ((auth_method = 'none') = (secret_digest is null)),
  check ((secret_digest is null) = (pepper_id is null))
);
-- Counts the registrations of a day, and deletes the unused ones.
create index oauth_client_created on oauth_client (created_at);
grant select, insert, update (address), delete on oauth_client to console_service;

alter table ai_connection add foreign key (client_id) references oauth_client (id);

-- The applications that an organization lets its admins connect, where it does not let them connect any.
create table approved_application (
  organization_id text collate "C" not null references organization (id), -- the organization that approves
  application text collate "C" not null, -- id of a client, or address of a document
  approved_at timestamptz(3) not null, -- time of the approval
  primary key (organization_id, application)
);
alter table approved_application enable row level security, force row level security;
create policy tenant on approved_application to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, delete on approved_application to console_app;

create table oauth_code (
  organization_id text collate "C" not null, -- the connection's organization
  digest text collate "C" not null unique, -- of the code
  pepper_id text not null, -- the pepper of that digest
  connection_id uuid not null, -- the connection that it is for
  redirect_uri text not null, -- the address that it was sent to
  challenge text not null, -- PKCE, S256
  scopes text[] not null, -- of the tokens that it is exchanged for
  created_at timestamptz(3) not null, -- time of its making
  expires_at timestamptz(3) not null, -- its end
  unlock bytea, -- the seed of the archive's key, sealed under the code; null where none is kept
  redeemed_at timestamptz(3), -- time of its exchange; a second one ends the connection
  primary key (organization_id, digest),
  foreign key (organization_id, connection_id) references ai_connection (organization_id, id)
);
-- The codes of a connection.
create index oauth_code_connection on oauth_code (organization_id, connection_id);
-- Deletes the expired ones of all organizations.
create index oauth_code_expiry on oauth_code (expires_at);
alter table oauth_code enable row level security, force row level security;
create policy tenant on oauth_code to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on oauth_code to console_service using (true);
grant select, insert, update, delete on oauth_code to console_app;
grant select, delete on oauth_code to console_service;

create table oauth_token (
  organization_id text collate "C" not null, -- the connection's organization
  digest text collate "C" not null unique, -- of the token
  pepper_id text not null, -- the pepper of that digest
  connection_id uuid not null, -- the connection that it is for
  kind text not null check (kind in ('access', 'refresh')), -- of the token
  scopes text[] not null, -- its rights
  created_at timestamptz(3) not null, -- time of its making
  expires_at timestamptz(3) not null, -- its end
  unlock bytea, -- the seed of the archive's key, sealed under the token; null where none is kept
  used_at timestamptz(3), -- time of the refresh token's use
  generation integer, -- of the refresh token: one of an earlier generation was used before
  check (kind = 'refresh' or used_at is null),
  check (kind = 'refresh' or generation is null),
  primary key (organization_id, digest),
  foreign key (organization_id, connection_id) references ai_connection (organization_id, id)
);
-- The tokens of a connection.
create index oauth_token_connection on oauth_token (organization_id, connection_id);
-- Deletes the expired ones of all organizations.
create index oauth_token_expiry on oauth_token (expires_at);
alter table oauth_token enable row level security, force row level security;
create policy tenant on oauth_token to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on oauth_token to console_service using (true);
grant select, insert, update, delete on oauth_token to console_app;
grant select, delete on oauth_token to console_service;
