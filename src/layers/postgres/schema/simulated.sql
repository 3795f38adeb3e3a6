-- The simulated messenger's state, created only where there is one: for the demo, a seed, or tests. It has no
-- organization, like a messenger, and console_app has no right to it.

-- Phone numbers, ids and the order of calls.
create sequence simulated_number as integer;
grant usage on sequence simulated_number to console_service;

-- A single row, locked by each change.
create table simulated_platform (
  id smallint primary key check (id = 1) -- of the only row
);
insert into simulated_platform (id) values (1);
grant select, update on simulated_platform to console_service;

create table simulated_account (
  user_id text primary key, -- the messenger's id of the person
  phone text unique, -- without +; null once the account has ended
  first_name text, -- of the profile
  last_name text, -- of the profile
  username text, -- of the profile
  about text, -- of the profile
  photo_id text, -- of the profile
  premium boolean not null, -- longer texts are allowed
  two_fa_digest text, -- of the 2FA password; null without one
  two_fa_version integer not null default 0, -- grows with each change of it: each has a salt of its own
  two_fa_hint text, -- shown at a login
  login_email_pattern text, -- masked; null without one
  recovery_email_pattern text, -- masked; null without one
  recovery_pending_pattern text, -- masked, while it waits for its code
  reset_at timestamptz(3), -- time at which a requested reset of the 2FA password takes effect
  passkey_ids text[] not null default '{}', -- in the order of their making
  email_codes jsonb not null default '{}', -- codes sent to addresses, by the purpose of the address
  ended text check (ended in ('deleted', 'banned')), -- null while it exists
  unreachable boolean not null default false, -- its sessions cannot be read
  frozen boolean not null default false -- its sessions stay as they are
);
-- The account of a username.
create unique index simulated_account_username on simulated_account (lower(username collate "C"));
grant select, insert, update on simulated_account to console_service;

-- Devices that are signed in.
create table simulated_authorization (
  id text primary key, -- the messenger's id of the session
  user_id text not null references simulated_account (user_id) on delete cascade, -- the account that it is signed in to
  session_ref text unique, -- the service's reference; null for others
  shown_as text not null default '0', -- the id under which it is shown to itself
  device_model text, -- as listed
  platform text, -- as listed
  app_name text, -- as listed
  app_version text, -- as listed
  ip text, -- as listed
  country text, -- as listed
  last_active_at timestamptz(3), -- as listed
  created_at timestamptz(3), -- as listed
  signed_in_at timestamptz(3) not null, -- its age is counted from then
  password_pending boolean not null default false, -- the 2FA password is not entered yet
  unconfirmed boolean not null default false, -- the holder has not confirmed it yet
  place text -- the process that uses its key; a second one ends it
);
-- The devices of an account.
create index simulated_authorization_user on simulated_authorization (user_id);
grant select, insert, update, delete on simulated_authorization to console_service;

-- Sessions of the service that have ended.
create table simulated_ended_session (
  session_ref text primary key, -- the service's reference
  reason text not null -- its end, as the messenger reports it
);
grant select, insert, update on simulated_ended_session to console_service;

-- Logins of the service that are under way.
create table simulated_login (
  session_ref text primary key, -- reference of the new session
  user_id text not null references simulated_account (user_id) on delete cascade, -- the account to be signed in to
  phone text not null, -- without +
  code text not null, -- the code that was sent
  channel text not null check (channel in ('app', 'sms', 'call', 'email')), -- of the code
  sent_at timestamptz(3) not null, -- time of the sending
  resend_at timestamptz(3) not null, -- the code may be sent again from then on
  expires_at timestamptz(3) not null, -- end of the code
  codes_left integer not null, -- wrong codes until it ends
  passwords_left integer not null -- wrong passwords until it ends
);
-- The logins under way, oldest first.
create index simulated_login_sent on simulated_login (sent_at);
grant select, insert, update, delete on simulated_login to console_service;

create table simulated_username_for_sale (
  username_key text primary key -- the name in lower case
);
grant select, insert on simulated_username_for_sale to console_service;

-- Answers that a test has set.
create table simulated_script (
  number integer primary key, -- their order
  user_id text, -- for calls of this account; null for any
  operation text, -- for this call; null for any
  answer text not null, -- the answer, as JSON
  remaining integer not null -- calls that it still answers
);
grant select, insert, update, delete on simulated_script to console_service;

-- The latest calls of the service.
create table simulated_call (
  number integer primary key, -- their order
  user_id text, -- the account; null for calls without one
  operation text not null, -- the call
  at timestamptz(3) not null -- its time
);
grant select, insert, delete on simulated_call to console_service;

-- Chats of the platform, and the boxes of its accounts.
create table simulated_document (
  name text primary key, -- of the chat or account
  body text not null -- as JSON
);
grant select, insert, update on simulated_document to console_service;

-- Refreshes the planner's statistics of the tables that a seed fills; only an owner may.
create function analyze_seeded() returns void language plpgsql security definer set search_path = public, pg_temp as $$
begin
  analyze organization, department, admin, account, admin_account, admin_department, sign_up_link, session, termination,
    api_key, ai_connection, journal_head, journal_event, simulated_account, simulated_authorization;
end $$;
revoke all on function analyze_seeded() from public;
grant execute on function analyze_seeded() to console_service;
