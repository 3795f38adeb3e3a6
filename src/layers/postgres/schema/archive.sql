-- The archive: sealed pages of messages, and what finds them. Clear are ids, days, times and counts; senders, kinds,
-- texts and titles are inside `sealed`. Keys are in archive-keys.sql.

-- Numbers of epochs, pages, tail rows and blocks: they grow, and none is used twice.
create sequence archive_number;
grant usage on sequence archive_number to console_app;

-- The keys that an account's pages are sealed under, each sealed to the organization's archive key. One is open at most.
-- Like all of the archive, they outlive an account that is deleted: its records go after it, in batches.
create table archive_epoch (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account
  epoch_id bigint not null, -- as frames name it
  key_id uuid not null, -- the archive key that it is sealed to
  sealed_key bytea, -- the sealed epoch key; null once it is shredded
  writer uuid not null, -- the writer that holds the opened key
  opened_at timestamptz(3) not null, -- the time when it began
  closed_at timestamptz(3), -- from when nothing more is sealed under it; null while it is open
  shredded_at timestamptz(3), -- the time when its key was deleted
  check ((sealed_key is null) = (shredded_at is not null)),
  primary key (organization_id, account_id, epoch_id)
);
-- Finds the open epoch of an account, and keeps it one.
create unique index archive_epoch_open on archive_epoch (organization_id, account_id) where closed_at is null;
alter table archive_epoch enable row level security, force row level security;
create policy tenant on archive_epoch to console_app
  using (organization_id = current_setting('console.organization_id', true));
-- A row is locked `for share` by each insert, which takes the right to update.
grant select, insert, update (sealed_key, closed_at, shredded_at), delete on archive_epoch to console_app;

-- Chats of an account, with what is archived of each. Titles are in pages.
create table archive_chat (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account that sees it
  chat_id bigint not null, -- on the messenger, marked by type
  type text not null check (type in ('private', 'group', 'channel', 'bot', 'saved')), -- as last seen
  effect text not null default 'archive' check (effect in ('archive', 'skip', 'review')), -- of the rules
  complete boolean not null default false, -- archived from its beginning
  stopped_by uuid, -- the cleanup after which nothing more of it is saved
  left_at timestamptz(3), -- since when the account is no longer in it
  -- Capturing it
  ref text, -- the messenger's address of it, opaque; null before it was seen there
  rule_id uuid, -- the rule that decided its effect; null where none did
  live boolean not null default false, -- new messages are archived as they arrive
  joined_at timestamptz(3), -- the time when the account joined it, as last seen
  protected boolean not null default false, -- the messenger asks its clients not to save from it
  migrated_to bigint, -- the chat that continues it
  position integer, -- everything of its box up to here is archived; null where it shares the common box
  top_id bigint, -- the newest message that the messenger named
  counted integer, -- its messages, as the messenger last counted them; null before it did
  covered int8multirange not null default '{}', -- ids of which everything that the account sees is archived
  edge bigint, -- covered up to here without a gap to the newest message; null where that is unknown
  floor bigint, -- the account sees nothing below; null while that is unknown
  floor_at timestamptz(3), -- the time when that was seen
  reached_at timestamptz(3), -- the time of the oldest message of the highest covered range
  unchecked_below bigint, -- archived ids below are to be compared again; null where none are
  unchecked_to bigint, -- down to this one
  cleaned int8multirange not null default '{}', -- ids that cleanups deleted: none is archived again
  refused_until timestamptz(3), -- the messenger refuses to read it, and is not asked before
  expires_in integer, -- seconds after which messages disappear on the messenger, as last seen; null for never
  members integer, -- people in it, as last seen
  members_at timestamptz(3), -- the time when they were read; null where their number has changed since
  info_page bigint, -- the page with its title; null before one is written
  members_page bigint, -- the page with its members; null before one is written
  first_id bigint, -- the lowest message id; null without messages
  last_id bigint, -- the highest message id
  first_at timestamptz(3), -- the time of the oldest message
  last_at timestamptz(3), -- the time of the newest message
  messages bigint not null default 0, -- messages archived
  files bigint not null default 0, -- files archived
  bytes bigint not null default 0, -- size of its pages and of its tail
  check ((first_id is null) = (messages = 0)),
  check ((unchecked_below is null) = (unchecked_to is null)),
  primary key (organization_id, account_id, chat_id)
);
-- Lists an account's chats, the last message first.
create index archive_chat_last on archive_chat (organization_id, account_id, last_at desc nulls last, chat_id);
alter table archive_chat enable row level security, force row level security;
create policy tenant on archive_chat to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update, delete on archive_chat to console_app;

-- Rules that decide which chats are archived: the most specific one wins.
create table archive_rule (
  organization_id text collate "C" not null references organization (id), -- the organization
  rule_id uuid not null, -- of the API
  level text not null check (level in ('organization', 'department', 'account')), -- of its target
  target uuid, -- the department or account; null for the organization
  chat_type text check (chat_type in ('private', 'group', 'channel', 'bot', 'saved', 'any')), -- the chats it names
  chat_id bigint, -- the one chat that it names; of an account alone
  effect text not null check (effect in ('archive', 'skip', 'review')), -- its decision
  media text not null check (media in ('all', 'none')), -- files that are archived
  max_file_bytes bigint check (max_file_bytes >= 0), -- the largest file that is archived; null without a limit
  live boolean not null, -- new messages are archived as they arrive
  updated_at timestamptz(3) not null, -- the time of its last change
  updated_by uuid, -- the admin; null where a seed made it
  check ((level = 'organization') = (target is null)),
  check ((chat_type is null) <> (chat_id is null)),
  check (chat_id is null or level = 'account'),
  primary key (organization_id, rule_id)
);
-- Keeps one rule for each target and selector, and finds those of an account.
create unique index archive_rule_target on archive_rule (organization_id, level, target, chat_type, chat_id)
  nulls not distinct;
alter table archive_rule enable row level security, force row level security;
create policy tenant on archive_rule to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update, delete on archive_rule to console_app;

-- Accounts whose chats wait to be judged by rules that have changed. Before that nothing of them is saved.
create table archive_unjudged (
  organization_id text collate "C" not null references organization (id), -- the organization
  account_id uuid not null, -- the account, which may be gone
  primary key (organization_id, account_id)
);
alter table archive_unjudged enable row level security, force row level security;
create policy tenant on archive_unjudged to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on archive_unjudged to console_service using (true);
grant select, insert, delete on archive_unjudged to console_app;
grant select on archive_unjudged to console_service;

-- The archive of each account: apart from the account itself, whose row the watch locks and reads. Writers of an
-- account's archive lock this row first, those who judge by rules the organization's turn for them next, and the
-- journal's head last.
create table archive_state (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account

  -- The common box, which private chats and basic groups share; null before the first run
  position integer, -- everything up to here is archived
  date integer, -- the messenger's date of the position, in Unix seconds
  qts integer, -- the position of encrypted chats, which are not archived
  heard_at timestamptz(3), -- the time when it was last moved
  begun boolean generated always as (position is not null) stored, -- something of the account was captured

  -- The archive itself
  archive_selects boolean not null, -- a rule archives chats of it
  archive_live boolean not null default false, -- new messages are archived as they arrive
  archive_messages bigint not null default 0, -- messages archived
  archive_media bigint not null default 0, -- files archived
  archive_bytes bigint not null default 0, -- size of what is stored
  archive_updated_at timestamptz(3), -- the time when the archive last grew
  archive_last_sync_at timestamptz(3), -- the time when new messages were last saved
  archive_chats_discovered integer not null default 0, -- chats found
  archive_chats_selected integer not null default 0, -- chats that the rules select
  archive_chats_with_data integer not null default 0, -- chats of which something is archived
  archive_chats_complete integer not null default 0, -- chats archived from their beginning
  archive_chats_review integer not null default 0, -- chats that wait for a decision
  archive_chats_stopped integer not null default 0, -- chats of which nothing new is saved
  archive_cleanup_running boolean not null default false, -- something of it is being deleted

  -- Its runs
  archive_last_backup_at timestamptz(3), -- the time when the last full check finished
  archive_next_backup_at timestamptz(3), -- the time when the next one is due
  archive_queued_at timestamptz(3), -- since when a run waits; null while none does
  archive_started_at timestamptz(3), -- since when a run is in progress; null while none is
  archive_phase text check (archive_phase in ('starting', 'dialogs', 'messages', 'media', 'finishing')), -- of the run
  archive_phase_at timestamptz(3), -- since when it is in its phase; null where that is not known
  archive_dialogs_done integer not null default 0, -- chats that the run has finished
  archive_dialogs_total integer, -- chats that it goes through; null until they are counted
  archive_dialogs_before integer not null default 0, -- chats that were finished when the phase began
  archive_messages_before bigint not null default 0, -- messages that were archived when the phase began
  archive_bytes_before bigint not null default 0, -- size of what was stored when the phase began
  archive_current_chat text, -- the title of the chat that it reads, sealed; null while it reads none
  archive_error text, -- cause of the last run's failure
  archive_retry_at timestamptz(3), -- the time when it is tried again
  archive_drift integer not null default 0, -- messages that counted as archived and were not, as its last run found

  primary key (organization_id, account_id),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade,
  check (num_nulls(position, date, qts, heard_at) in (0, 4))
) with (fillfactor = 50); -- it changes with every batch of messages, and no index is about what changes
-- begun: accounts of all organizations of which something was captured.
create index archive_state_begun on archive_state (organization_id, account_id) where begun;
alter table archive_state enable row level security, force row level security;
create policy tenant on archive_state to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on archive_state to console_service using (true);
grant select, insert, update, delete on archive_state to console_app;
-- The service finds accounts of which something is captured, and sums what archives take.
grant select (organization_id, account_id, begun, archive_bytes) on archive_state to console_service;

-- Archived messages that disappear on the messenger at a time, of which no update tells.
create table archive_expiry (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account
  chat_id bigint not null, -- the chat
  message_id bigint not null, -- the message
  expires_at timestamptz(3) not null, -- the time
  primary key (organization_id, account_id, chat_id, message_id)
);
-- Finds those of an account whose time has run out.
create index archive_expiry_due on archive_expiry (organization_id, account_id, expires_at);
alter table archive_expiry enable row level security, force row level security;
create policy tenant on archive_expiry to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update (expires_at), delete on archive_expiry to console_app;

-- The next run of each account that is watched: it reads what the archive lacks.
create table archive_run (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account
  next_at timestamptz(3) not null, -- the time of the next run
  asked_at timestamptz(3), -- since when an admin waits for it
  claimed_asked_at timestamptz(3), -- the same of the claimed one, until it has ended
  again boolean not null default false, -- something since the claim needs another one
  claimed_until timestamptz(3), -- end of the claim of the process that runs it
  fence bigint not null default 0, -- number of that claim; a run with an older one ends
  failures integer not null default 0, -- runs that failed in a row
  primary key (organization_id, account_id),
  foreign key (organization_id, account_id) references account (organization_id, id) on delete cascade
) with (fillfactor = 50);
-- ArchiveRuns: accounts whose run is due.
create index archive_run_due on archive_run (next_at);
alter table archive_run enable row level security, force row level security;
create policy tenant on archive_run to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on archive_run to console_service using (true);
grant select, insert, update on archive_run to console_app;
grant select, insert, update on archive_run to console_service;

-- Messages and changes of the day, one frame each, until they are closed into pages.
create table archive_tail (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account
  tail_id bigint not null default nextval('archive_number'), -- the order in which rows came
  chat_id bigint not null, -- the chat
  day date not null, -- the UTC day of the message, or of the change
  message_id bigint not null, -- the message
  kind text not null check (kind in ('messages', 'changes')), -- of the frame
  at timestamptz(3) not null, -- the time of the message, or of the change
  sent_day date, -- the UTC day on which an edit's message was sent; null for a message or a deletion
  epoch_id bigint not null, -- of the frame's key
  sealed bytea not null, -- the frame
  primary key (organization_id, account_id, tail_id)
) with (fillfactor = 70);
-- The messages of a chat, and keeps each one once.
create unique index archive_tail_message on archive_tail (organization_id, account_id, chat_id, message_id)
  where kind = 'messages';
-- Closes a chat's day.
create index archive_tail_day on archive_tail (organization_id, account_id, chat_id, day, kind);
alter table archive_tail enable row level security, force row level security;
create policy tenant on archive_tail to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update, delete on archive_tail to console_app;

-- Pages: records of one chat and UTC day. The partitions are there from the start, as a large table is not divided
-- later; no role has a privilege on one of them.
create table archive_page (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account
  chat_id bigint not null, -- the chat
  last_id bigint not null, -- the highest message id; 0 for members and a chat's title
  page_id bigint not null default nextval('archive_number'), -- the order in which pages came
  first_id bigint not null, -- the lowest message id
  day date not null, -- the UTC day of all its records
  kind text not null check (kind in ('messages', 'changes', 'members', 'chat')), -- of its frames
  first_at timestamptz(3) not null, -- the time of its oldest record
  last_at timestamptz(3) not null, -- the time of its newest record
  sent_day date, -- the UTC day on which the messages of its edits were sent; null for a page without edits
  messages smallint not null check (messages >= 0), -- messages in it; 0 for the other kinds
  bytes integer not null check (bytes > 0), -- size of its frames
  ids bytea not null, -- the message ids, ascending, as varints of differences
  digest bytea not null, -- SHA-256 of its frames
  sealed bytea not null, -- one frame, or several
  rewrites bigint, -- the first page in whose place it is, after redactions; null for a page as it was written
  primary key (organization_id, account_id, chat_id, last_id, page_id)
) partition by hash (account_id);
-- Finds what is older than a day.
create index archive_page_day on archive_page (organization_id, account_id, day);
-- Finds pages that changes, blocks and chats name.
create index archive_page_id on archive_page (organization_id, account_id, page_id);
do $partitions$ begin
  for n in 0..15 loop
    execute format(
      'create table archive_page_%s partition of archive_page for values with (modulus 16, remainder %s)', n, n);
    execute format('alter table archive_page_%s alter column sealed set storage external', n);
    execute format('alter table archive_page_%s enable row level security, force row level security', n);
  end loop;
end $partitions$;
alter table archive_page enable row level security, force row level security;
create policy tenant on archive_page to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update, delete on archive_page to console_app;

-- Pages of messages and of edits that no vocabulary indexes: a search opens each of them. That one does is not in the
-- page's own row, which is written once; the row here goes, and has what a search needs of the page's.
create table archive_loose (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account
  page_id bigint not null, -- the page
  chat_id bigint not null, -- its chat
  day date not null, -- its UTC day
  kind text not null check (kind in ('messages', 'changes')), -- of its frames
  first_at timestamptz(3) not null, -- no message that it is about was sent before
  last_at timestamptz(3) not null, -- nor after
  messages smallint not null, -- messages in it
  primary key (organization_id, account_id, page_id)
);
-- A search lists those of each account, the newest first, some at a time.
create index archive_loose_newest on archive_loose (organization_id, account_id, last_at, page_id);
alter table archive_loose enable row level security, force row level security;
create policy tenant on archive_loose to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, delete on archive_loose to console_app;

-- Edits and deletions of messages, with the place of what they hold.
create table archive_change (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account
  chat_id bigint not null, -- the chat
  message_id bigint not null, -- the message
  kind text not null -- seen: it was edited before it was first seen; redacted: nothing of it is archived again
    check (kind in ('seen', 'edited', 'deleted', 'redacted')),
  edit_date integer not null, -- the messenger's time of the edit in Unix seconds; 0 for a deletion, and as sent
  mark bytea not null, -- the epoch and a keyed digest, which tell revisions of one second apart; empty for a deletion,
    -- and a number in 8 bytes once the message is redacted
  late boolean not null default false, -- it is older than what was archived before it
  place integer not null default 0, -- revisions of one second are numbered as they are stored: one may be stored again
    -- after another
  why text check (why in ('deleted', 'expired', 'absent')), -- by what a deletion became known
  at timestamptz(3) not null, -- the time when it was seen
  page_id bigint, -- the page with the change
  tail_id bigint, -- the tail row with the change, until it is in a page
  check ((kind = 'deleted') = (why is not null)),
  check (case when kind in ('seen', 'redacted') then page_id is null and tail_id is null
    else (page_id is null) <> (tail_id is null) end),
  primary key (organization_id, account_id, chat_id, message_id, kind, edit_date, mark, place)
);
-- Moves those of a tail row to its page.
create index archive_change_tail on archive_change (organization_id, account_id, tail_id) where tail_id is not null;
alter table archive_change enable row level security, force row level security;
create policy tenant on archive_change to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update (page_id, tail_id, mark), delete on archive_change to console_app;

-- Sealed vocabularies: the words of some pages of one account and calendar quarter.
create table archive_block (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account
  block_id bigint not null default nextval('archive_number'), -- the vocabulary
  first_at timestamptz(3) not null, -- no message that its pages are about was sent before
  last_at timestamptz(3) not null, -- nor after
  pages bigint[] not null, -- the pages, in the order of its postings: the newest first
  epoch_id bigint not null, -- of its key
  fold smallint not null, -- version of the folding of its words
  sealed bytea not null, -- words and postings
  primary key (organization_id, account_id, block_id)
);
-- Sealed bytes do not become smaller by being compressed.
alter table archive_block alter column sealed set storage external;
-- Searches of one account and of the organization, newest first.
create index archive_block_account on archive_block (organization_id, account_id, last_at desc, block_id desc);
create index archive_block_organization on archive_block (organization_id, last_at desc, block_id desc);
alter table archive_block enable row level security, force row level security;
create policy tenant on archive_block to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, delete on archive_block to console_app;

-- Stored contents of files, each under a key of its own.
create table archive_blob (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account
  blob_id uuid not null, -- the name of the object
  messenger_file text not null, -- the messenger's id of the content
  epoch_id bigint not null, -- of the key that seals the file's
  key bytea, -- the sealed file key; null once it is shredded
  state text not null check (state in ('writing', 'saved', 'deleting')), -- of the object
  plain_bytes bigint not null check (plain_bytes >= 0), -- size of the content
  stored_bytes bigint not null check (stored_bytes >= 0), -- size of the object
  sha256 bytea, -- of the content; null until it is saved
  version text, -- of the object, as the store names it; null for the only one
  locked_until timestamptz(3), -- the store does not remove the object before; null for no lock
  writer uuid not null, -- the process that writes it
  at timestamptz(3) not null, -- the time of its state
  primary key (organization_id, account_id, blob_id)
);
-- collect_blobs: objects of all organizations to remove once no lock keeps them, and those whose writer may have ended.
create index archive_blob_due on archive_blob (greatest(at, locked_until)) where state <> 'saved';
-- Finds a content that is there already, and keeps it once.
create unique index archive_blob_content on archive_blob (organization_id, account_id, messenger_file)
  where state = 'saved';
alter table archive_blob enable row level security, force row level security;
create policy tenant on archive_blob to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on archive_blob to console_service using (true);
grant select, insert, update, delete on archive_blob to console_app;
grant select (organization_id, account_id, blob_id, version, state, at, locked_until, sha256) on archive_blob to console_service;

-- Files of messages, saved or not. Names and types are in the message's page.
create table archive_file (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account
  file_id uuid not null, -- of the API
  chat_id bigint not null, -- the chat
  message_id bigint not null, -- the message
  day date not null, -- the UTC day of the message
  is_large boolean not null default false, -- its content waits for all small ones
  blob_id uuid, -- the content; null until it is saved
  state text not null check (state in ('saved', 'pending', 'skipped', 'failed', 'deleted')), -- of the API
  attempts smallint not null default 0, -- tries that the messenger refused, one a night at most
  retry_at timestamptz(3), -- it is not tried before; null for now
  reason text -- the cause for which it is not saved
    check (reason in ('rule', 'size', 'protected', 'once', 'gone', 'refused')),
  error text, -- the cause of the last failure
  at timestamptz(3) not null, -- the time of its state
  unreadable_at timestamptz(3), -- the time when a reader first found its content missing or damaged
  check ((state = 'saved') = (blob_id is not null)),
  check (reason is null or state in ('skipped', 'failed')),
  primary key (organization_id, account_id, file_id)
);
-- Finds if a content is still that of a file.
create index archive_file_blob on archive_file (organization_id, account_id, blob_id) where blob_id is not null;
-- Finds a file by its id, whichever account's it is.
create unique index archive_file_id on archive_file (organization_id, file_id);
-- Lists an account's files, newest first.
create index archive_file_listed on archive_file (organization_id, account_id, day, chat_id, message_id, file_id);
-- Files that wait for their contents: small ones first, then the newest.
create index archive_file_waiting on archive_file (
  organization_id, account_id, is_large, day desc, chat_id desc, message_id desc)
  where state = 'pending';
-- Counts the files that could not be saved, by the reason.
create index archive_file_failed on archive_file (organization_id, account_id, reason) where state = 'failed';
-- Counts those that were found unreadable of late.
create index archive_file_unreadable on archive_file (organization_id, account_id, unreadable_at)
  where unreadable_at is not null;
-- The files of messages in view.
create index archive_file_message on archive_file (organization_id, account_id, chat_id, message_id);
alter table archive_file enable row level security, force row level security;
create policy tenant on archive_file to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update, delete on archive_file to console_app;

-- A chain of digests for each account: a page that is missing, changed or added afterwards shows.
create table archive_manifest (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account
  sequence bigint not null check (sequence > 0), -- from 1, without gaps
  round bigint not null, -- the round in which it was made, and journaled with others
  at timestamptz(3) not null, -- the time when it was made
  after_page bigint not null, -- it covers the page ids above
  last_page bigint not null, -- the highest page id that it covers
  pages integer not null check (pages > 0), -- pages that it covers, those that were deleted by then among them
  root bytea not null, -- Merkle root of the pages (RFC 6962)
  hash bytea not null, -- of the previous hash, the number of pages and the root
  primary key (organization_id, account_id, sequence)
);
-- Those that one event of the journal covers.
create index archive_manifest_round on archive_manifest (organization_id, round, account_id, sequence);
alter table archive_manifest enable row level security, force row level security;
create policy tenant on archive_manifest to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert on archive_manifest to console_app;

-- The rounds in which manifests are made and journaled.
create table archive_round (
  organization_id text collate "C" primary key references organization (id), -- the organization
  round bigint not null, -- the last one that was journaled; the next one is being made
  ended_at timestamptz(3) not null -- the time when it was journaled
);
alter table archive_round enable row level security, force row level security;
create policy tenant on archive_round to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on archive_round to console_service using (true);
grant select, insert, update on archive_round to console_app;
grant select on archive_round to console_service;

-- Pages that were deleted or rewritten, so that manifests still verify.
create table archive_gone (
  organization_id text collate "C" not null, -- the organization
  account_id uuid not null, -- the account
  page_id bigint not null, -- the page
  leaf bytea not null, -- its leaf in the manifest
  cleanup_id uuid not null, -- the cleanup, the deletion, or the redaction that has replaced it
  primary key (organization_id, account_id, page_id)
);
alter table archive_gone enable row level security, force row level security;
create policy tenant on archive_gone to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert on archive_gone to console_app;

-- Pages and tail rows that did not open when they were read: damaged, or sealed under a lost key.
create table archive_unreadable (
  organization_id text collate "C" not null references organization (id), -- the organization
  account_id uuid not null, -- the account
  number bigint not null, -- the page or tail row
  messages integer not null check (messages >= 0), -- messages in it
  found_at timestamptz(3) not null, -- the time when a reader first found it so
  primary key (organization_id, account_id, number)
);
alter table archive_unreadable enable row level security, force row level security;
create policy tenant on archive_unreadable to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, delete on archive_unreadable to console_app;

-- Deletions of archived messages, from their preview on.
create table archive_cleanup (
  organization_id text collate "C" not null references organization (id), -- the organization
  id uuid not null, -- of the API
  state text not null -- of the API
    check (state in ('previewed', 'queued', 'running', 'done', 'failed', 'expired', 'cancelled')),
  account_ids uuid[] not null, -- the accounts
  chat_ids bigint[], -- the chats of the one account; null for all
  before date, -- the first day that is kept; null for none
  media_only boolean not null, -- files are deleted, messages stay
  stop_saving boolean not null, -- nothing more of the chats is saved
  pages bigint not null, -- pages to delete
  messages bigint not null, -- messages to delete
  files bigint not null, -- files to delete
  bytes bigint not null, -- size of both
  chats integer not null, -- chats that they are in
  deleted_messages bigint not null default 0, -- messages deleted so far
  deleted_pages bigint not null default 0, -- pages deleted so far
  deleted_files bigint not null default 0, -- files deleted so far
  deleted_bytes bigint not null default 0, -- size of what was deleted so far
  watermark jsonb not null, -- by account, the last page and tail row that were counted: newer ones stay
  emptied integer not null default 0, -- accounts, from the first on, of which nothing is left to delete
  not_before timestamptz(3), -- a cleanup of the retention begins from then on
  expires_at timestamptz(3), -- the end of the preview
  created_by uuid, -- the admin; null for the organization's retention
  created_at timestamptz(3) not null, -- the time of the preview
  confirmed_by uuid, -- the admin
  started_at timestamptz(3), -- the time when it began
  finished_at timestamptz(3), -- the time when it ended
  error text, -- the cause of its failure
  primary key (organization_id, id)
);
-- run_archive_cleanups: those of all organizations that have not ended, by the time from which on they may go on.
create index archive_cleanup_due on archive_cleanup (coalesce(not_before, created_at))
  where state in ('previewed', 'queued', 'running');
-- Those of an organization that have not ended: they keep tails, other cleanups and the retention waiting.
create index archive_cleanup_open on archive_cleanup (organization_id)
  where state in ('previewed', 'queued', 'running');
alter table archive_cleanup enable row level security, force row level security;
create policy tenant on archive_cleanup to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on archive_cleanup to console_service using (true);
grant select, insert, update on archive_cleanup to console_app;
grant select (organization_id, id, state, not_before, created_by, created_at, expires_at) on archive_cleanup
  to console_service;

-- Deletions of all that is archived: of one account with the account itself, or of the organization. The row of an
-- account is what is left of it.
create table archive_deletion (
  organization_id text collate "C" not null references organization (id), -- the organization
  id uuid not null default gen_random_uuid(), -- made for the row
  account_id uuid, -- the account, which is gone; null for the whole archive
  started_at timestamptz(3) not null, -- from when nothing of it can be read
  pages bigint not null default 0, -- pages deleted so far
  messages bigint not null default 0, -- messages deleted so far
  files bigint not null default 0, -- files deleted so far
  bytes bigint not null default 0, -- size of the pages and tails deleted so far
  finished_at timestamptz(3), -- the time when nothing was left
  primary key (organization_id, id)
);
-- The one deletion of an organization's whole archive that runs.
create unique index archive_deletion_whole on archive_deletion (organization_id)
  where account_id is null and finished_at is null;
-- delete_archives: those of all organizations that are not finished.
create index archive_deletion_due on archive_deletion (started_at) where finished_at is null;
alter table archive_deletion enable row level security, force row level security;
create policy tenant on archive_deletion to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on archive_deletion to console_service using (true);
grant select, insert, update (pages, messages, files, bytes, finished_at) on archive_deletion to console_app;
grant select (organization_id, id, started_at, finished_at) on archive_deletion to console_service;

-- The time for which organizations keep what is archived; those without a row keep everything.
create table archive_retention (
  organization_id text collate "C" primary key references organization (id), -- the organization
  days integer check (days between 30 and 36500), -- what was sent before so many days is deleted; null keeps everything
  tier_days jsonb not null, -- the same for accounts of each licence tier, never less than days
  set_by uuid not null, -- the admin
  set_at timestamptz(3) not null, -- the time of that
  begins_at timestamptz(3) not null, -- from when it deletes
  reached uuid, -- the last account of a run that has not ended
  applied_on date -- the day in UTC on which a run last ended
);
alter table archive_retention enable row level security, force row level security;
create policy tenant on archive_retention to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on archive_retention to console_service using (true);
grant select, insert, update, delete on archive_retention to console_app;
grant select (organization_id, reached, applied_on) on archive_retention to console_service;

-- Holds: days of accounts of which nothing is deleted.
create table archive_hold (
  organization_id text collate "C" not null references organization (id), -- the organization
  id uuid not null, -- of the API
  name text not null, -- chosen by the admin
  account_ids uuid[], -- the accounts; null for all
  since date, -- the first day; null for the beginning
  until date, -- the last day; null for no end
  placed_at timestamptz(3) not null, -- the time when it began
  placed_by uuid not null, -- the admin
  released_at timestamptz(3), -- the time when it ended
  primary key (organization_id, id)
);
alter table archive_hold enable row level security, force row level security;
create policy tenant on archive_hold to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update (released_at) on archive_hold to console_app;

-- Exports of the archive: what each holds. The files are made while they are sent, and are not stored.
create table archive_export (
  organization_id text collate "C" not null references organization (id), -- the organization
  id uuid not null, -- of the API
  account_ids uuid[] not null, -- the accounts
  account_names text[] not null, -- what they were called then, in the same order
  chat_ids bigint[], -- the chats of the one account; null for all
  since date, -- the first day; null for the beginning
  until date, -- the last day; null for that of its making
  format text not null check (format in ('json', 'html', 'rsmf', 'eml')), -- of its files
  media boolean not null, -- it holds the archived files
  messages bigint not null, -- messages counted when it was made
  files bigint not null, -- files counted then
  parts integer not null, -- number of its parts
  created_by uuid not null, -- the admin
  created_at timestamptz(3) not null, -- what was archived later is not in it
  expires_at timestamptz(3) not null, -- from when nothing of it can be downloaded
  primary key (organization_id, id)
);
-- Counts those that can be downloaded.
create index archive_export_end on archive_export (organization_id, expires_at);
-- Finds those of all organizations to forget.
create index archive_export_forgotten on archive_export (expires_at);
alter table archive_export enable row level security, force row level security;
create policy tenant on archive_export to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on archive_export to console_service using (true);
grant select, insert on archive_export to console_app;
grant select (expires_at), delete on archive_export to console_service;

-- Parts of exports: one account and at most a month each.
create table archive_export_part (
  organization_id text collate "C" not null, -- the organization
  export_id uuid not null, -- the export
  number integer not null check (number > 0), -- from 1
  account_id uuid not null, -- the account
  first_day date not null, -- the first day in UTC
  last_day date not null, -- the last day
  messages bigint not null, -- messages counted when the export was made
  files bigint not null, -- files counted then
  bytes bigint not null, -- its size as estimated
  last_page bigint not null, -- the account's highest page id then
  size bigint, -- its size when it was last sent to its end; null before that
  sha256 bytea, -- of what was sent then
  sent_at timestamptz(3), -- the time when that ended
  sent_by uuid, -- the admin who downloaded it then
  sent_by_name text, -- that admin's name then
  unreadable integer, -- messages, edits and files that did not open then
  check (num_nulls(size, sha256, sent_at, sent_by, unreadable) in (0, 5)),
  primary key (organization_id, export_id, number),
  foreign key (organization_id, export_id) references archive_export (organization_id, id) on delete cascade
);
alter table archive_export_part enable row level security, force row level security;
create policy tenant on archive_export_part to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update (size, sha256, sent_at, sent_by, sent_by_name, unreadable) on archive_export_part
  to console_app;

-- The latest download of each part of an export.
create table archive_export_download (
  organization_id text collate "C" not null, -- the organization
  export_id uuid not null, -- the export
  number integer not null, -- the part
  id uuid not null, -- the download: an earlier one that still runs is not kept over it
  admin_id uuid not null, -- the admin
  admin_name text, -- the admin's name then
  started_at timestamptz(3) not null, -- its beginning
  at timestamptz(3) not null, -- the time of these counts
  bytes bigint not null, -- bytes of the part that were made
  messages bigint not null, -- messages in them
  files bigint not null, -- files in them
  ended text check (ended in ('sent', 'connection_lost', 'archive_closed', 'storage_unavailable', 'service_unavailable', 'changed', 'unexpected')), -- what ended it; null while it runs
  primary key (organization_id, export_id, number),
  foreign key (organization_id, export_id, number)
    references archive_export_part (organization_id, export_id, number) on delete cascade
);
alter table archive_export_download enable row level security, force row level security;
create policy tenant on archive_export_download to console_app
  using (organization_id = current_setting('console.organization_id', true));
grant select, insert, update on archive_export_download to console_app;

-- Reads of the archive by credential, account and hour, until they are journaled.
create table archive_read (
  organization_id text collate "C" not null references organization (id), -- the organization
  credential_id text not null, -- the credential
  account_id uuid not null, -- the account
  hour timestamptz(3) not null, -- the beginning of the hour
  messages bigint not null default 0, -- messages that were answered
  files bigint not null default 0, -- files that were answered
  searches bigint not null default 0, -- searches that were answered
  credential_kind text not null, -- of the credential
  credential_label text not null, -- as it was called then
  admin_id uuid not null, -- the admin that it acts as
  admin_name text, -- as the admin was called then
  via text not null, -- of the first of them
  primary key (organization_id, credential_id, account_id, hour)
);
-- Finds the hours that are over.
create index archive_read_hour on archive_read (hour);
alter table archive_read enable row level security, force row level security;
create policy tenant on archive_read to console_app
  using (organization_id = current_setting('console.organization_id', true));
create policy directory on archive_read to console_service using (true);
grant select, insert, update, delete on archive_read to console_app;
grant select on archive_read to console_service;
