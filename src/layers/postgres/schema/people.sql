-- Departments and admins. What an admin has access to is in accounts.sql, how an admin signs in in signin.sql.

create table department (
  organization_id text collate "C" not null references organization (id), -- the organization
  id uuid not null, -- of the API
  name text not null, -- as shown
  name_key text collate "C" not null, -- the name as it is compared and ordered: no two of an organization share one
  accounts integer not null default 0 check (accounts >= 0), -- accounts in it; counted by triggers
  created_at timestamptz(3) not null, -- the time when it was created
  primary key (organization_id, id),
  -- Lists departments by name.
  unique (organization_id, name_key)
);
alter table department enable row level security, force row level security;
create policy tenant on department to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update, delete on department to console_app;

-- A removed admin is disabled too, so that nothing works in their name wherever only that is checked.
create table admin (
  organization_id text collate "C" not null references organization (id), -- the organization
  id uuid not null, -- of the API
  email text not null, -- unique among those that are not removed, without regard to case
  name text, -- null until they say it
  role text not null check (role in ('owner', 'superadmin', 'admin', 'billing', 'archive')), -- exactly one owner
  archive_access boolean not null default false, -- may read the archive
  created_at timestamptz(3) not null, -- the time when they were invited or made
  joined_at timestamptz(3), -- the time when they first had a password; null until then
  disabled_at timestamptz(3), -- since when they may do nothing
  removed_at timestamptz(3), -- since when they are not listed
  password_hash text, -- Argon2id; null without a console password
  password_changed_at timestamptz(3), -- console sessions from before have ended
  mail_security boolean not null default true, -- wants security mails
  mail_storage boolean not null default true, -- wants mails about storage
  mail_news boolean not null default false, -- wants news
  mail_offers boolean not null default false, -- wants offers
  invitation_digest text collate "C" unique, -- of the link's secret; null where no invitation is open
  invitation_pepper_id text, -- the pepper of that digest
  invitation_expires_at timestamptz(3), -- the time when the link ends
  invited_by uuid, -- the admin who invited them; null for the operator
  primary key (organization_id, id),
  check ((invitation_digest is null) = (invitation_pepper_id is null)),
  check (invitation_digest is null or joined_at is null and invitation_expires_at is not null),
  check (removed_at is null or disabled_at is not null and role <> 'owner' and invitation_digest is null)
);
-- Finds who signs in or is invited, and keeps addresses unique.
create unique index admin_email on admin (organization_id, lower(email collate "C")) where removed_at is null;
-- Lists admins: the owner first, then by address.
create index admin_listed on admin (organization_id, (role <> 'owner'), lower(email collate "C"), id)
  where removed_at is null;
-- Finds the owner, and keeps it one.
create unique index admin_owner on admin (organization_id) where role = 'owner';
alter table admin enable row level security, force row level security;
create policy tenant on admin to console_app using (organization_id = current_setting('console.organization_id', true));
create policy directory on admin to console_service using (true);
grant select, insert, update, delete on admin to console_app;
grant select on admin to console_service;

alter table support_request add foreign key (organization_id, created_by) references admin (organization_id, id);

-- Invitations of the last day: their number is limited.
create table invitation_sent (
  organization_id text collate "C" not null references organization (id) on delete cascade, -- the organization
  id uuid not null, -- made for the row
  address text collate "C" not null, -- digest of where it went
  sent_at timestamptz(3) not null, -- the time
  primary key (organization_id, id)
);
-- Counts those of a day, and deletes older ones.
create index invitation_sent_at on invitation_sent (organization_id, sent_at);
alter table invitation_sent enable row level security, force row level security;
create policy tenant on invitation_sent to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, delete on invitation_sent to console_app;
