-- Sessions in accounts: those that the messenger lists, those that have ended, and those of the service.

-- The order of the list of reviews is kept in columns: by the deadline, then the newest first, so that ascending
-- indexes find a page however many sessions there are.
create table session (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- in which account
  id text not null, -- the messenger's id of it
  record_id uuid not null default gen_random_uuid(), -- of the API's lists over several accounts
  department_id uuid, -- that of the account; kept by triggers
  service boolean not null default false, -- one of the service
  current boolean not null default false, -- the service's main one, which has read the list
  baseline boolean not null default false, -- was there when the account was connected
  approved_at timestamptz(3), -- the time when an admin approved it
  approved_by uuid, -- the admin who did
  review_deadline timestamptz(3), -- the time when it is signed out unless it is approved; null without one
  queued_at timestamptz(3), -- since when it waits to be signed out
  withheld_at timestamptz(3), -- the time when a pause withheld a sign-out that was queued
  withheld_reason text check (withheld_reason in ('rejected', 'autokill', 'lock', 'hijacked')), -- the reason of that sign-out
  ending_reason text check (ending_reason in ('rejected', 'autokill', 'lock', 'hijacked')), -- reason of its sign-out
  ending_at timestamptz(3), -- from when on
  ending_by uuid, -- the admin who wants it; null for the service
  ending_intent bigint, -- sequence of the journal's intent, once the sign-out may have been sent
  device_model text, -- as the messenger shows it
  platform text, -- as the messenger shows it
  app_name text, -- as the messenger shows it
  app_version text, -- as the messenger shows it
  ip text, -- as the messenger shows it
  country text, -- as the messenger shows it
  last_active_at timestamptz(3), -- by the messenger
  created_at timestamptz(3), -- the time when it signed in, by the messenger
  seen_at timestamptz(3) not null, -- the time when the service first saw it
  -- Its place in the list of reviews; null where the list does not show it.
  listed_as text collate "C" generated always as (
    case
      when service or current then null
      when review_deadline is not null and approved_at is null then 'due'
      when queued_at is not null then 'queued'
      when approved_at is not null then 'approved'
      when baseline then 'unreviewed'
      else 'other'
    end) stored,
  -- Its deadline there.
  listed_due timestamptz(3) not null generated always as (
    case when approved_at is null then coalesce(review_deadline, 'infinity'::timestamptz)
      else 'infinity'::timestamptz end) stored,
  -- Its age there: of an interval from when it was seen, the newest is the least.
  listed_after interval not null generated always as ('2000-01-01 00:00:00Z'::timestamptz - seen_at) stored,
  primary key (organization_id, account_id, id),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
);
-- The accounts of which a session waits for a review.
create index session_review on session (organization_id, account_id)
  where review_deadline is not null and approved_at is null and not service;
-- Keeps the main session one.
create unique index session_current on session (organization_id, account_id) where current;
-- The place of a cursor in the list of reviews.
create unique index session_record on session (organization_id, record_id);
-- The list of reviews, of the organization and of a department.
create index session_listed on session (organization_id, listed_as, listed_due, listed_after, record_id)
  where listed_as is not null;
create index session_filed on session (organization_id, department_id, listed_as, listed_due, listed_after, record_id)
  where listed_as is not null and department_id is not null;
alter table session enable row level security, force row level security;
create policy tenant on session to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update, delete on session to console_app;

-- Sessions that have ended.
create table termination (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- in which account
  id bigint generated always as identity, -- orders those of one moment
  session_id text not null, -- the messenger's id of the session
  device_label text, -- the device, for people
  detected_at timestamptz(3) not null, -- the time when the service signed it out, or found it gone
  actor text not null check (actor in ('service', 'external', 'unknown')), -- the side that ended it
  reason text check (reason in ('rejected', 'autokill', 'hijacked')), -- the reason, where the service did
  check ((actor = 'service') = (reason is not null)),
  primary key (organization_id, account_id, id),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
);
-- The latest of an account.
create index termination_latest on termination (organization_id, account_id, detected_at desc, id desc);
-- The rejections of a session that is back.
create index termination_session on termination (organization_id, account_id, session_id);
alter table termination enable row level security, force row level security;
create policy tenant on termination to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, delete on termination to console_app;

-- The sessions of the service: the main one, a second one, and those that were replaced and are still to be logged out.
create table service_session (
  organization_id text collate "C" not null, -- the organization
  id uuid not null default gen_random_uuid(), -- made for the row
  account_id uuid not null, -- in which account
  slot text not null check (slot in ('main', 'paired', 'pairing', 'retired')), -- its use
  session_ref text not null, -- the reference that the messenger's implementation opens it by
  seen_as text, -- the id under which the main one sees it; null for the main one, and where it is not known
  created_at timestamptz(3) not null, -- the time when it signed in, by the messenger
  erase_at timestamptz(3), -- the time when a retired one is given up; null for the others
  log_out_intent bigint, -- sequence of the journal's intent while it is logged out: a lost outcome has an author
  primary key (organization_id, id),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
);
-- The sessions of an account, at most one in each slot but for the retired.
create unique index service_session_slot on service_session (organization_id, account_id, slot)
  where slot <> 'retired';
alter table service_session enable row level security, force row level security;
create policy tenant on service_session to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on service_session to console_service using (true);
grant select, insert, update, delete on service_session to console_app;
grant select on service_session to console_service;

-- Sessions on a messenger over the wire. A session is known by its reference alone, without an organization: it may be
-- begun before there is an account, and no tenant reads it.
create table messenger_session (
  session_ref text collate "C" primary key, -- the reference that it is opened by
  sealed text not null, -- the key of this session, sealed; it seals what the session keeps
  doubted_at timestamptz(3) -- since when the messenger may have ended it; null while it works
);
grant select, insert, delete, update (sealed, doubted_at) on messenger_session to console_service;

-- The values of such a session.
create table messenger_key (
  session_ref text collate "C" not null references messenger_session on delete cascade, -- the session
  name text collate "C" not null, -- of the value
  sealed text not null, -- the value, sealed under the session's key
  version bigint not null, -- grows with each write: an older one never replaces a newer one
  primary key (session_ref, name)
);
grant select, insert, update (sealed, version) on messenger_key to console_service;
