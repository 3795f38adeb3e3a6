-- The key pairs of organizations' archives. The seed of each is kept only in wraps, which a secret of people opens.

create table archive_key (
  organization_id text collate "C" not null references organization (id), -- the organization
  key_id uuid not null, -- in what is sealed to it
  suite smallint not null, -- the constructions of everything under it
  public_key bytea not null, -- X-Wing
  public_key_proof text collate "C", -- that the service stored it, under a pepper; null once it is retired
  pepper_id text collate "C" generated always as (split_part(public_key_proof, '.', 1)) stored, -- the pepper of that
  made_by uuid, -- the admin; null for the operator
  made_at timestamptz(3) not null, -- from then on epochs are sealed to it
  retired_at timestamptz(3), -- from then on epochs are sealed to another
  lost_at timestamptz(3), -- the time when it was replaced because nobody could open it
  check ((public_key_proof is null) = (retired_at is not null)),
  primary key (organization_id, key_id),
  foreign key (organization_id, made_by) references admin (organization_id, id)
);
-- The one that is in use.
create unique index archive_key_current on archive_key (organization_id) where retired_at is null;
alter table archive_key enable row level security, force row level security;
create policy tenant on archive_key to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on archive_key to console_service using (true);
grant select, insert, update (public_key_proof, retired_at, lost_at) on archive_key to console_app;
grant select (organization_id, pepper_id) on archive_key to console_service;

-- The seed of a key pair, sealed under the archive password or under the printed recovery code.
create table archive_wrap (
  organization_id text collate "C" not null, -- the organization
  key_id uuid not null, -- the key pair
  kind text not null check (kind in ('password', 'recovery')), -- the secret that opens it
  kdf jsonb not null, -- the derivation of its keys from the secret
  nonce bytea not null, -- of the seal
  sealed bytea not null, -- the seed
  proof bytea not null, -- compared before anything is opened; commits to the secret
  made_at timestamptz(3) not null, -- the time when the secret was set
  primary key (organization_id, key_id, kind),
  foreign key (organization_id, key_id) references archive_key (organization_id, key_id)
);
alter table archive_wrap enable row level security, force row level security;
create policy tenant on archive_wrap to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update, delete on archive_wrap to console_app;

-- Wrong archive passwords of the last hour.
create table archive_attempt (
  organization_id text collate "C" not null references organization (id), -- the organization
  subject text collate "C" not null, -- the credential, or the admin; empty for all of the organization
  times timestamptz(3)[] not null, -- the time when each was tried, in order
  last_at timestamptz(3) not null, -- the last of those
  opened_at timestamptz(3), -- the time when the credential last gave the right one
  primary key (organization_id, subject)
);
-- Deletes those of all organizations that limit nothing any more.
create index archive_attempt_last on archive_attempt (last_at);
alter table archive_attempt enable row level security, force row level security;
create policy tenant on archive_attempt to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on archive_attempt to console_service using (true);
grant select, insert, update on archive_attempt to console_app;
grant select, delete on archive_attempt to console_service;
