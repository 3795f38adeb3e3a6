-- Mails that are to be sent, and those that were sent lately.

create table mail (
  organization_id text collate "C" not null references organization (id) on delete cascade, -- the sender's organization
  id uuid not null, -- one for all recipients of a mail
  recipient text not null, -- the address
  cause text collate "C" not null, -- the event or other reason: no recipient gets two mails for one
  kind text collate "C" not null, -- the kind of mail
  joins boolean not null, -- may be sent in one mail with others that wait
  letter_sealed text, -- text with its links, which are secrets; null once it is sent or has failed
  created_at timestamptz(3) not null, -- time of the cause
  next_at timestamptz(3), -- time of the next attempt; null once it is sent or has failed
  attempts integer not null default 0, -- attempts so far
  claimed_by uuid, -- the run that sends it
  claimed_until timestamptz(3), -- end of that claim
  sent_at timestamptz(3), -- time at which a mail server took it
  failed_at timestamptz(3), -- time of the last attempt that it was given
  error text, -- cause of the last failure
  check ((next_at is null) = (letter_sealed is null)),
  check ((next_at is null) = (sent_at is not null or failed_at is not null)),
  primary key (organization_id, id, recipient),
  unique (organization_id, cause, recipient)
);
-- The mails of all organizations that are due.
create index mail_due on mail (next_at) where next_at is not null;
-- The waiting mails that one to the same recipient joins.
create index mail_waiting on mail (organization_id, recipient, created_at) where next_at is not null;
-- get_status: the latest mail of an organization that failed.
create index mail_failed on mail (organization_id, failed_at) where failed_at is not null;
-- Deletes the old ones of all organizations.
create index mail_created on mail (created_at);
alter table mail enable row level security, force row level security;
create policy tenant on mail to console_app using (organization_id = current_setting('console.organization_id', true));
create policy directory on mail to console_service using (true);
grant select, insert (organization_id, id, recipient, cause, kind, joins, letter_sealed, created_at, next_at) on mail
  to console_app;
grant select, update (letter_sealed, next_at, attempts, claimed_by, claimed_until, sent_at, failed_at, error), delete
  on mail to console_service;
