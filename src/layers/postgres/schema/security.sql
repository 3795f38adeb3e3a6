-- The secrets of accounts, each sealed under a key of its account, and what changes them.

-- The keys of accounts, sealed under a pepper or by a key management system.
create table account_key (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- of which account
  sealed text not null, -- the key
  primary key (organization_id, account_id),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
);
alter table account_key enable row level security, force row level security;
create policy tenant on account_key to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on account_key to console_service using (true);
grant select, insert on account_key to console_app;
grant select, update (sealed) on account_key to console_service;

-- 2FA passwords and passkeys. It is not known of a retired one without a time whether the messenger still takes it.
create table account_secret (
  organization_id text collate "C" not null, -- the organization
  id uuid not null, -- made for the row
  account_id uuid not null, -- of which account
  kind text not null check (kind in ('two_fa', 'passkey')), -- the kind of secret
  slot text not null check (slot in ('held', 'next', 'retired')), -- in use, being set, or from before
  passkey_id text, -- the messenger's id of the passkey
  sealed text not null, -- the secret, under the account's key
  made_at timestamptz(3) not null, -- the time when the service made it
  erase_at timestamptz(3), -- the time when it is deleted
  revealed_at timestamptz(3), -- the time when it was last shown to an admin
  end_told_at timestamptz(3), -- the time when the admins were reminded that it is about to be deleted
  check ((kind = 'passkey') = (passkey_id is not null)),
  primary key (organization_id, id),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
);
-- The one in use and the next one of an account.
create unique index account_secret_slot on account_secret (organization_id, account_id, kind, slot)
  where slot <> 'retired';
-- All of an account.
create index account_secret_account on account_secret (organization_id, account_id);
-- Those of all organizations that are to be deleted.
create index account_secret_erased on account_secret (erase_at) where erase_at is not null;
alter table account_secret enable row level security, force row level security;
create policy tenant on account_secret to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on account_secret to console_service using (true);
grant select, insert, update (slot, erase_at, revealed_at, end_told_at), delete on account_secret to console_app;
grant select on account_secret to console_service;

-- Addresses that wait for the code that the messenger has sent to them.
create table email_change (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- of which account
  kind text not null check (kind in ('recovery', 'login')), -- the address's purpose
  pattern text not null, -- the address, masked
  code_length integer, -- digits; null where the messenger does not say
  attempts_left integer not null, -- wrong codes until it ends
  expires_at timestamptz(3) not null, -- the time when it ends
  primary key (organization_id, account_id, kind),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
);
-- Finds those of all organizations that have ended.
create index email_change_expiry on email_change (expires_at);
alter table email_change enable row level security, force row level security;
create policy tenant on email_change to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on email_change to console_service using (true);
grant select, insert, update, delete on email_change to console_app;
grant select on email_change to console_service;

-- Limits of what is tried on the messenger for an account.
create table account_attempt (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- of which account
  what text not null, -- the attempt that is limited
  times timestamptz(3)[] not null, -- the time when it was tried, in order
  last_at timestamptz(3) not null, -- the last of those
  primary key (organization_id, account_id, what),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
);
-- Deletes those of all organizations that limit nothing any more.
create index account_attempt_last on account_attempt (last_at);
alter table account_attempt enable row level security, force row level security;
create policy tenant on account_attempt to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on account_attempt to console_service using (true);
grant select, insert, update on account_attempt to console_app;
grant select, delete on account_attempt to console_service;
