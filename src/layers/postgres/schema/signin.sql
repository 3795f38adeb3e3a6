-- Sign-in of admins to the console: sessions, browsers, passwords, second factors, identity providers.

create table console_session (
  organization_id text collate "C" not null, -- the admin's organization
  id uuid not null, -- made for the row
  admin_id uuid not null, -- the admin who signed in
  digest text collate "C" not null unique, -- of the cookie's secret
  created_at timestamptz(3) not null, -- time of the first factor: a later password change ends the session
  last_used_at timestamptz(3) not null, -- written at most once a minute
  address text, -- of the browser
  browser text, -- its name, for people
  factor text check (factor in ('totp', 'passkey', 'recovery_code', 'identity_provider')), -- the second one
  factor_at timestamptz(3), -- time of the second factor
  long_known boolean not null default false, -- begun in a browser that was known for long
  check ((factor is null) = (factor_at is null)),
  primary key (organization_id, id),
  foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
);
-- The sessions of an admin.
create index console_session_admin on console_session (organization_id, admin_id);
-- Deletes the idle ones of all organizations.
create index console_session_idle on console_session (last_used_at);
alter table console_session enable row level security, force row level security;
create policy tenant on console_session to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on console_session to console_service using (true);
grant select, insert, update, delete on console_session to console_app;
grant select, update (last_used_at), delete on console_session to console_service;

-- Sign-ins between the first factor and the second, in the browser of their cookie alone.
create table pending_sign_in (
  organization_id text collate "C" not null, -- the admin's organization
  id uuid not null, -- made for the row
  admin_id uuid not null, -- the admin who signs in
  digest text collate "C" not null unique, -- of the cookie's secret
  created_at timestamptz(3) not null, -- time of the first factor
  failures integer not null default 0, -- wrong codes
  details jsonb not null default '{}', -- of the journal's event of the sign-in
  address text, -- the address that it began at, whose sign-ins it displaces
  browser text collate "C", -- digest of a known browser's cookie; null of an unknown one
  primary key (organization_id, id),
  foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
);
-- Those of an admin, of which the oldest are deleted.
create index pending_sign_in_admin on pending_sign_in (organization_id, admin_id);
-- Deletes the old ones of all organizations.
create index pending_sign_in_created on pending_sign_in (created_at);
alter table pending_sign_in enable row level security, force row level security;
create policy tenant on pending_sign_in to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on pending_sign_in to console_service using (true);
grant select, insert, update (failures), delete on pending_sign_in to console_app;
grant select, delete on pending_sign_in to console_service;

-- Browsers that an admin has signed in with.
create table known_browser (
  organization_id text collate "C" not null, -- the admin's organization
  admin_id uuid not null, -- the admin who signed in
  digest text collate "C" not null, -- of the cookie's secret, which lives longer than the session
  address text collate "C", -- group of addresses that the admin last came from
  seen_sequence bigint not null default 0, -- the journal's event up to which notices were shown
  known_since timestamptz(3) not null, -- time of the first sign-in
  last_used_at timestamptz(3) not null, -- time of the last sign-in
  primary key (organization_id, admin_id, digest),
  foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
);
-- A browser that gets a new secret, for every admin who has signed in with it.
create index known_browser_digest on known_browser (digest);
-- Deletes those of all organizations that were not used for long.
create index known_browser_used on known_browser (last_used_at);
alter table known_browser enable row level security, force row level security;
create policy tenant on known_browser to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on known_browser to console_service using (true);
grant select, insert, update, delete on known_browser to console_app;
grant select, update (digest), delete on known_browser to console_service;

-- Wrong passwords that are not journaled yet, of admins and of addresses that are no admin's. Without foreign keys: those
-- would cost a failure of an admin more time than one of nobody.
create table password_failure (
  key text collate "C" primary key, -- the admin, or the address that is no admin's
  organization_id text collate "C", -- the admin's organization; null for nobody's address
  admin_id uuid, -- the admin whose password was tried; null for nobody's address
  failures integer not null, -- since the last event
  since timestamptz(3) not null, -- time of the first of those
  addresses text[] not null, -- that they came from, up to a number
  ip text, -- of the latest
  request_id text, -- of the latest
  via text not null, -- of the latest
  journaled_at timestamptz(3), -- time of the last event
  burst boolean not null default false, -- that event was for many at a time
  check ((organization_id is null) = (admin_id is null))
);
-- Those of an admin.
create index password_failure_admin on password_failure (organization_id, admin_id);
alter table password_failure enable row level security, force row level security;
create policy tenant on password_failure to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on password_failure to console_service using (true);
grant select, update on password_failure to console_app;
grant select, insert, update, delete on password_failure to console_service;

-- Counters of wrong passwords and codes, over all organizations; times are in milliseconds since 1970.
create table password_throttle (
  key text collate "C" primary key, -- the admin, network or browser that is limited
  failures integer not null, -- in a row
  last_at bigint not null, -- time of the last attempt
  blocked_until bigint not null, -- the next attempt is refused until then
  admitted boolean not null -- the last attempt was not refused
);
grant select, insert, update, delete on password_throttle to console_service;

-- Links by which admins replace a password that they have forgotten. Rows stay for a day: they count the mails.
create table password_reset (
  organization_id text collate "C" not null, -- the admin's organization
  id uuid not null, -- made for the row
  admin_id uuid not null, -- the admin whose password is replaced
  digest text collate "C" unique, -- of the link's secret; null once the link has ended
  pepper_id text collate "C", -- the pepper of that digest
  known_browser boolean not null, -- requested in a browser that the admin had signed in with
  mailed boolean not null, -- sent to the admin, not handed out by the operator
  created_at timestamptz(3) not null, -- time of the request
  expires_at timestamptz(3) not null, -- end of the link
  check ((digest is null) = (pepper_id is null)),
  primary key (organization_id, id),
  foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
);
-- Counts those of an organization and of an admin.
create index password_reset_made on password_reset (organization_id, created_at);
create index password_reset_admin on password_reset (organization_id, admin_id, created_at);
-- Deletes the old ones of all organizations.
create index password_reset_created on password_reset (created_at);
alter table password_reset enable row level security, force row level security;
create policy tenant on password_reset to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on password_reset to console_service using (true);
grant select, insert, update (digest, pepper_id) on password_reset to console_app;
grant select, delete on password_reset to console_service;

-- Requests for such a link. It is not known yet whether the address belongs to an admin.
create table password_reset_request (
  id uuid primary key, -- made for the row
  request_sealed text not null, -- the text that was typed
  created_at timestamptz(3) not null, -- time of the request
  address text collate "C" not null, -- digest of the address that it came from
  network text collate "C" not null -- digest of that address's network: none keeps the others from the queue
);
-- The queue, oldest first.
create index password_reset_request_created on password_reset_request (created_at, id);
grant select, insert, delete on password_reset_request to console_service;

-- Authenticator apps.
create table totp (
  organization_id text collate "C" not null, -- the admin's organization
  admin_id uuid not null, -- the admin who has it
  secret_sealed text not null, -- the secret that the codes follow from
  pepper_id text collate "C" generated always as (split_part(secret_sealed, '.', 1)) stored, -- the pepper that seals it
  used_step bigint not null, -- time step of the last used code: no code of it or of an earlier one works again
  created_at timestamptz(3) not null, -- time of the set-up
  primary key (organization_id, admin_id),
  foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
);
alter table totp enable row level security, force row level security;
create policy tenant on totp to console_app using (organization_id = current_setting('console.organization_id', true));
create policy directory on totp to console_service using (true);
grant select, insert, update (secret_sealed, used_step, created_at), delete on totp to console_app;
grant select (organization_id, pepper_id) on totp to console_service;

create table recovery_code (
  organization_id text collate "C" not null, -- the admin's organization
  admin_id uuid not null, -- the admin who has it
  digest text collate "C" not null, -- of the code
  pepper_id text collate "C", -- the pepper of that digest
  created_at timestamptz(3) not null, -- time of its making
  used_at timestamptz(3), -- null while it works
  primary key (organization_id, admin_id, digest),
  foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
);
alter table recovery_code enable row level security, force row level security;
create policy tenant on recovery_code to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on recovery_code to console_service using (true);
grant select, insert, update (used_at), delete on recovery_code to console_app;
grant select (pepper_id, used_at) on recovery_code to console_service;

create table passkey (
  organization_id text collate "C" not null, -- the admin's organization
  id uuid not null, -- made for the row
  admin_id uuid not null, -- the admin who has it
  credential_id text collate "C" not null, -- the authenticator's id of it
  rp_id text collate "C" not null, -- host of the site that it was made for
  public_key text not null, -- COSE
  counter bigint not null, -- of the authenticator; a lower one shows a copy
  transports text[] not null, -- ways to reach the authenticator
  name text not null, -- chosen by the admin
  backed_up boolean not null, -- kept by a password manager too
  created_at timestamptz(3) not null, -- time of the set-up
  last_used_at timestamptz(3), -- time of the last sign-in with it
  asked_at timestamptz(3), -- making of the last answered challenge: no challenge of then or earlier is answered again
  primary key (organization_id, id),
  unique (organization_id, credential_id),
  foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
);
-- The passkeys of an admin.
create index passkey_admin on passkey (organization_id, admin_id);
-- The admin whom a browser signs in without an address.
create index passkey_credential on passkey (credential_id);
alter table passkey enable row level security, force row level security;
create policy tenant on passkey to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on passkey to console_service using (true);
grant select, insert, update (counter, backed_up, last_used_at, asked_at), delete on passkey to console_app;
grant select (organization_id, admin_id, credential_id) on passkey to console_service;

-- Identity providers (OpenID Connect), one for an organization.
create table identity_provider (
  organization_id text collate "C" primary key references organization (id) on delete cascade, -- its organization
  version uuid not null, -- a new one with each change
  issuer text collate "C" not null, -- its address
  client_id text collate "C" not null, -- the console's id at it
  client_secret_sealed text not null, -- the console's secret at it
  pepper_id text collate "C" -- the pepper that seals that
    generated always as (split_part(client_secret_sealed, '.', 1)) stored,
  required boolean not null, -- admins sign in only by it
  second_factor text not null check (second_factor in ('console', 'claim', 'provider')), -- the side that checks it
  private_network boolean not null, -- may be at a private address
  max_age_minutes integer check (max_age_minutes between 0 and 10080), -- of the sign-in there; null: any age
  changed_at timestamptz(3) not null -- time of the last change
);
alter table identity_provider enable row level security, force row level security;
create policy tenant on identity_provider to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on identity_provider to console_service using (true);
grant select, insert, update, delete on identity_provider to console_app;
grant select (organization_id, required, pepper_id) on identity_provider to console_service;

-- The admins as their provider knows them.
create table identity_link (
  organization_id text collate "C" not null, -- the admin's organization
  admin_id uuid not null, -- the admin who is known
  issuer text collate "C" not null, -- by the provider of this address
  subject text collate "C" not null, -- under this id
  linked_at timestamptz(3) not null, -- time of the first sign-in by it
  primary key (organization_id, admin_id),
  unique (organization_id, issuer, subject),
  foreign key (organization_id, admin_id) references admin (organization_id, id) on delete cascade
);
alter table identity_link enable row level security, force row level security;
create policy tenant on identity_link to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, delete on identity_link to console_app;

-- Sign-ins by a provider that an admin of the organization has completed: none is completed twice.
create table identity_sign_in (
  organization_id text collate "C" not null references organization (id) on delete cascade, -- the admin's organization
  digest text collate "C" not null, -- of the sign-in's state
  used_at timestamptz(3) not null, -- time of its completion
  primary key (organization_id, digest)
);
-- Deletes those of all organizations that have expired anyway.
create index identity_sign_in_used on identity_sign_in (used_at);
alter table identity_sign_in enable row level security, force row level security;
create policy tenant on identity_sign_in to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on identity_sign_in to console_service using (true);
grant select, insert on identity_sign_in to console_app;
grant select, delete on identity_sign_in to console_service;
