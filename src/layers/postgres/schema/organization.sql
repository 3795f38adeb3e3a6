-- Organizations, with their billing, their settings and their requests to the support.

create table organization (
  id text collate "C" primary key, -- chosen by the operator, as in the console's address
  name text not null, -- as shown
  status text not null check (status in ('active', 'pending', 'suspended')), -- of use
  created_at timestamptz(3) not null, -- the time when the operator created it
  closed_at timestamptz(3), -- the time when it was wound down; null while it is open
  simulated boolean not null default false, -- made by a seed: its messenger is simulated
  managed boolean not null, -- its plan is billed; false where it is licensed by agreement
  suspended_at timestamptz(3), -- null unless suspended
  suspend_reason text check (suspend_reason in ('operator', 'licence')), -- by the operator, or by the end of a licence

  -- Billing
  billing_state text not null -- of the subscription
    check (billing_state in ('none', 'trial', 'active', 'retry', 'lapsed')),
  plan text check (plan in ('protect', 'archive', 'governance')), -- null in a trial and without a plan
  period text check (period in ('monthly', 'annual')), -- of the subscription
  licences_protect integer not null default 0 check (licences_protect >= 0), -- bought of this tier
  licences_archive integer not null default 0 check (licences_archive >= 0), -- bought of this tier
  licences_governance integer not null default 0 check (licences_governance >= 0), -- bought of this tier
  trial_ends_at timestamptz(3), -- null without a trial
  valid_until timestamptz(3), -- the time when a licence by agreement ends; null for no end
  cancel_at timestamptz(3), -- the time when a cancelled subscription ends
  current_period_ends_at timestamptz(3), -- the time when the paid period ends
  amount_minor integer check (amount_minor >= 0), -- price of a period, in the currency's smallest unit
  currency text check (currency ~ '^[A-Z]{3}$'), -- ISO 4217
  payer_email text, -- the address for invoices
  next_invoice_at timestamptz(3), -- null where none is due

  -- Seats
  seat_limit integer not null check (seat_limit >= 0), -- accounts that may be protected
  seats_used integer not null default 0 check (seats_used >= 0), -- accounts not offboarded; counted by triggers
  seats_reserved integer not null default 0 check (seats_reserved >= 0), -- open sign-up links; counted by triggers

  -- Settings
  tamper_lockdown_enabled boolean not null default true, -- a takeover signs the other sessions out; false only alerts
  notification_recipients text not null default 'owner' -- the recipients of security mails
    check (notification_recipients in ('owner', 'owner_superadmins')),
  approve_applications boolean not null default false, -- admins connect only approved applications
  requires_second_factor boolean not null default false, -- every admin needs one for the console
  time_zone text not null default 'UTC', -- name in the tz database: what is done at night is done in its nights

  -- Archive
  archive_key_set boolean not null default false, -- the archive password was set
  archive_first_record_at timestamptz(3), -- the time when something was first archived
  archive_plan_ended_at timestamptz(3), -- since when the plan has no archive
  archive_held_at timestamptz(3), -- since when a legal hold keeps it from being deleted
  archive_deletion_started_at timestamptz(3), -- null unless it is being deleted
  archive_deleted_at timestamptz(3), -- the time when it was gone
  archive_phase_noted text not null default 'empty', -- its phase as journaled last: time alone changes it too
  storage_used_bytes bigint not null default 0 check (storage_used_bytes >= 0), -- by the archive
  storage_limit_bytes bigint check (storage_limit_bytes >= 0), -- null for no limit
  storage_warned boolean not null default false, -- the recipients know that the archive is near its limit, or at it

  -- State
  support_number integer not null default 0, -- number of the latest request to the support
  messenger_away_at timestamptz(3), -- since when it knows that the messenger cannot be reached; null while it can
  silent_accounts integer, -- accounts that it was told of in one event as not monitored; null once they are back

  check ((amount_minor is null) = (currency is null)),
  check ((suspended_at is null) = (suspend_reason is null))
);
alter table organization enable row level security, force row level security;
create policy tenant on organization to console_app using (id = current_setting('console.organization_id', true));
create policy directory on organization to console_service using (true);
grant select, insert, update on organization to console_app;
grant select on organization to console_service;

-- The reference to the admin is in people.sql, where there is the table.
create table support_request (
  organization_id text collate "C" not null references organization (id), -- the organization
  id uuid not null, -- of the API
  number integer not null, -- counted in the organization, for people
  category text not null check (category in ('protection', 'archive', 'billing', 'api', 'other')), -- the admin's choice
  subject text not null, -- as the admin wrote it
  message text not null, -- as the admin wrote it
  account_id uuid, -- the account that it is about; no reference, as the request outlives it
  related_request_id text, -- the Request-Id of the call that it is about
  state text not null default 'open' check (state in ('open', 'answered', 'closed')), -- set by the operator
  answer text, -- the latest of the operator
  answered_at timestamptz(3), -- the time of that
  created_by uuid not null, -- the admin
  created_at timestamptz(3) not null, -- the time when it was sent
  updated_at timestamptz(3) not null, -- the time when its state last changed
  check ((answer is null) = (answered_at is null)),
  primary key (organization_id, id),
  unique (organization_id, number)
);
-- The requests of one admin, newest first.
create index support_request_of_admin on support_request (organization_id, created_by, number);
alter table support_request enable row level security, force row level security;
create policy tenant on support_request to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update (state, answer, answered_at, updated_at) on support_request to console_app;
