-- The functions of the database, each with the triggers that call it.

-- Seats in use: the accounts that are not offboarded.

create function take_seats() returns trigger language plpgsql as $$
begin
  update organization set seats_used = seats_used + changed.seats
  from (
    select organization_id, count(*) as seats from rows where offboarded_at is null group by organization_id
  ) as changed
  where organization.id = changed.organization_id;
  return null;
end $$;
create trigger take_seats after insert on account referencing new table as rows
  for each statement execute function take_seats();

create function free_seats() returns trigger language plpgsql as $$
begin
  update organization set seats_used = seats_used - changed.seats
  from (
    select organization_id, count(*) as seats from rows where offboarded_at is null group by organization_id
  ) as changed
  where organization.id = changed.organization_id;
  return null;
end $$;
create trigger free_seats after delete on account referencing old table as rows
  for each statement execute function free_seats();

create function move_seat() returns trigger language plpgsql as $$
begin
  update organization set seats_used = seats_used + case when new.offboarded_at is null then 1 else -1 end
  where id = new.organization_id;
  return null;
end $$;
create trigger move_seat after update of offboarded_at on account for each row
  when ((old.offboarded_at is null) <> (new.offboarded_at is null)) execute function move_seat();

-- Seats that open sign-up links reserve.

create function reserve_seats() returns trigger language plpgsql as $$
begin
  update organization set seats_reserved = seats_reserved + changed.seats
  from (
    select organization_id, count(*) as seats from rows where used_at is null group by organization_id
  ) as changed
  where organization.id = changed.organization_id;
  return null;
end $$;
create trigger reserve_seats after insert on sign_up_link referencing new table as rows
  for each statement execute function reserve_seats();

create function release_seats() returns trigger language plpgsql as $$
begin
  update organization set seats_reserved = seats_reserved - changed.seats
  from (
    select organization_id, count(*) as seats from rows where used_at is null group by organization_id
  ) as changed
  where organization.id = changed.organization_id;
  return null;
end $$;
create trigger release_seats after delete on sign_up_link referencing old table as rows
  for each statement execute function release_seats();

create function use_seat() returns trigger language plpgsql as $$
begin
  update organization set seats_reserved = seats_reserved + case when new.used_at is null then 1 else -1 end
  where id = new.organization_id;
  return null;
end $$;
create trigger use_seat after update of used_at on sign_up_link for each row
  when ((old.used_at is null) <> (new.used_at is null)) execute function use_seat();

-- Accounts in each department. A change that moves an account has locked both departments in the order of their ids.

create function file_accounts() returns trigger language plpgsql as $$
begin
  update department set accounts = accounts + changed.filed
  from (
    select organization_id, department_id, count(*) as filed from rows
    where department_id is not null group by organization_id, department_id
  ) as changed
  where department.organization_id = changed.organization_id and department.id = changed.department_id;
  return null;
end $$;
create trigger file_accounts after insert on account referencing new table as rows
  for each statement execute function file_accounts();

create function unfile_accounts() returns trigger language plpgsql as $$
begin
  update department set accounts = accounts - changed.filed
  from (
    select organization_id, department_id, count(*) as filed from rows
    where department_id is not null group by organization_id, department_id
  ) as changed
  where department.organization_id = changed.organization_id and department.id = changed.department_id;
  return null;
end $$;
create trigger unfile_accounts after delete on account referencing old table as rows
  for each statement execute function unfile_accounts();

create function refile_account() returns trigger language plpgsql as $$
begin
  update department set accounts = accounts + case when id = new.department_id then 1 else -1 end
  where organization_id = new.organization_id and id in (old.department_id, new.department_id);
  return null;
end $$;
create trigger refile_account after update of department_id on account for each row
  when (old.department_id is distinct from new.department_id) execute function refile_account();

-- The department of a session is that of its account, which a change has locked before it adds a session.

create function file_session() returns trigger language plpgsql as $$
begin
  select department_id into new.department_id from account
  where organization_id = new.organization_id and id = new.account_id;
  return new;
end $$;
create trigger file_session before insert on session for each row execute function file_session();

create function refile_sessions() returns trigger language plpgsql as $$
begin
  update session set department_id = new.department_id
  where organization_id = new.organization_id and account_id = new.id;
  return null;
end $$;
create trigger refile_sessions after update of department_id on account for each row
  when (old.department_id is distinct from new.department_id) execute function refile_sessions();

-- The text of an account is found in its department.

create function refile_search() returns trigger language plpgsql as $$
begin
  update account_search set department_id = new.department_id
  where organization_id = new.organization_id and account_id = new.id;
  return null;
end $$;
create trigger refile_search after update of department_id on account for each row
  when (old.department_id is distinct from new.department_id) execute function refile_search();

-- A rule archives one chat of the account, or chats of some type: of the rules for a type the most specific one decides.

create function rules_select(p_organization_id text, p_account_id uuid, p_department_id uuid) returns boolean
language sql stable as $$
  select exists (
    select from archive_rule
    where organization_id = p_organization_id and effect = 'archive' and level = 'account' and target = p_account_id
      and chat_id is not null
  ) or exists (
    select from unnest(array['private', 'group', 'channel', 'bot', 'saved']) as type cross join lateral (
      select effect from archive_rule
      where organization_id = p_organization_id and chat_type in ('any', type)
        and (level = 'organization' or level = 'department' and target = p_department_id
          or level = 'account' and target = p_account_id)
      order by case level when 'account' then 0 when 'department' then 1 else 2 end, chat_type = 'any'
      limit 1
    ) as own
    where effect = 'archive')
$$;
revoke all on function rules_select(text, uuid, uuid) from public;
grant execute on function rules_select(text, uuid, uuid) to console_app;

-- A monitor for each account, and what is archived of it.

create function watch_accounts() returns trigger language plpgsql as $$
begin
  insert into monitor (organization_id, account_id) select organization_id, id from rows;
  insert into archive_state (organization_id, account_id, archive_selects)
  select organization_id, id, rules_select(organization_id, id, department_id) from rows;
  return null;
end $$;
create trigger watch_accounts after insert on account referencing new table as rows
  for each statement execute function watch_accounts();

-- Behind row security no index serves LIKE, which is not leakproof: this function searches as the owner, within the
-- organization of the transaction and the departments and accounts that the caller has access to, and returns ids only.
-- The planner is left bitmaps only: it would hope to fill a limit of unknown size by reading the table.

create function matching_accounts(pattern text, everything boolean, departments uuid[], accounts uuid[], most integer)
returns setof uuid language sql stable security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off as $$
  select account_id from account_search
  where organization_id = current_setting('console.organization_id') and search_text like pattern
    and (everything or department_id = any(departments) or account_id = any(accounts))
  limit most
$$;
revoke all on function matching_accounts(text, boolean, uuid[], uuid[], integer) from public;
grant execute on function matching_accounts(text, boolean, uuid[], uuid[], integer) to console_app;

-- Appends an event to its organization's journal in one statement, so that no round trip is made while the head is
-- locked. The service passes the event and its canonical text, in pieces between which the values belong that only the
-- head knows: its time, the hash before and its sequence. Only the years 1 to 9999 are written as in that text.

create function append_event(p_organization_id text, p_now timestamptz, p_id uuid, p_action text, p_outcome text,
  p_actor_type text, p_actor_admin_id uuid, p_actor_name text, p_credential_kind text, p_credential_id text,
  p_credential_label text, p_via text, p_account_id uuid, p_target_type text, p_target_id text, p_details jsonb,
  p_ip text, p_request_id text, p_closes bigint, p_until_at text, p_until_prev_hash text, p_until_sequence text,
  p_rest text, p_intent_millis integer)
returns bigint language plpgsql security invoker set search_path = public, pg_temp as $$
declare
  v_sequence bigint;
  v_at timestamptz(3);
  v_prev_hash text;
  v_hash text;
begin
  select sequence, at, hash into v_sequence, v_at, v_prev_hash from journal_head
  where organization_id = p_organization_id for no key update;
  if not found then
    insert into journal_head (organization_id, sequence, hash, at)
    values (p_organization_id, 0, encode(sha256(convert_to(E'journal/1\n' || p_organization_id, 'UTF8')), 'hex'), p_now)
    on conflict do nothing;
    select sequence, at, hash into strict v_sequence, v_at, v_prev_hash
    from journal_head where organization_id = p_organization_id for no key update;
  end if;

  v_sequence := v_sequence + 1;
  -- Replicas may differ by a moment; the journal's times never go back.
  v_at := greatest(v_at, p_now);
  if v_at < timestamptz '0001-01-01T00:00:00Z' or v_at >= timestamptz '10000-01-01T00:00:00Z' then
    raise datetime_field_overflow using message = 'The journal holds times of the years 1 to 9999 alone';
  end if;
  v_hash := encode(sha256(decode(v_prev_hash, 'hex') || convert_to(
    p_until_at || to_char(v_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || p_until_prev_hash || v_prev_hash
      || p_until_sequence || v_sequence || p_rest, 'UTF8')), 'hex');

  update journal_head set sequence = v_sequence, hash = v_hash, at = v_at where organization_id = p_organization_id;
  insert into journal_event (organization_id, sequence, id, at, action, outcome, actor_type, actor_admin_id,
    actor_name, credential_kind, credential_id, credential_label, via, account_id, target_type, target_id, details, ip,
    request_id, closes, prev_hash, hash)
  values (p_organization_id, v_sequence, p_id, v_at, p_action, p_outcome, p_actor_type, p_actor_admin_id,
    p_actor_name, p_credential_kind, p_credential_id, p_credential_label, p_via, p_account_id, p_target_type,
    p_target_id, p_details, p_ip, p_request_id, p_closes, v_prev_hash, v_hash);
  if p_account_id is not null then
    insert into journal_place (organization_id, sequence, department_id)
    select organization_id, v_sequence, department_id from account
    where organization_id = p_organization_id and id = p_account_id and department_id is not null;
  end if;
  if p_intent_millis is not null then
    insert into pending_change (organization_id, sequence, deadline)
    values (p_organization_id, v_sequence, v_at + p_intent_millis * interval '1 millisecond');
  end if;
  return v_sequence;
end $$;
revoke all on function append_event(text, timestamptz, uuid, text, text, text, uuid, text, text, text, text, text,
  uuid, text, text, jsonb, text, text, bigint, text, text, text, text, integer) from public;
grant execute on function append_event(text, timestamptz, uuid, text, text, text, uuid, text, text, text, text, text,
  uuid, text, text, jsonb, text, text, bigint, text, text, text, text, integer) to console_app;

-- The cause of a mail: the event that this transaction has appended last. The head is then locked until its end.

create function appended_event(p_organization_id text) returns text
language plpgsql volatile security invoker set search_path = public, pg_temp as $$
declare
  v_sequence bigint;
begin
  select sequence into v_sequence from journal_head
  where organization_id = p_organization_id and xmin = pg_current_xact_id()::xid;
  if not found then
    raise invalid_transaction_state using message = 'The transaction has appended no event';
  end if;
  return 'event/' || v_sequence;
end $$;
revoke all on function appended_event(text) from public;
grant execute on function appended_event(text) to console_app;

-- Events follow their account to another department. With the head locked no event is on its way: an older one is seen
-- here, a newer one finds the account moved.

create function move_events() returns trigger language plpgsql as $$
begin
  perform 1 from journal_head where organization_id = new.organization_id for update;
  delete from journal_place where organization_id = new.organization_id and sequence in (
    select sequence from journal_event where organization_id = new.organization_id and account_id = new.id);
  if new.department_id is not null then
    insert into journal_place (organization_id, sequence, department_id)
    select organization_id, sequence, new.department_id from journal_event
    where organization_id = new.organization_id and account_id = new.id;
  end if;
  return null;
end $$;
create trigger account_moved after update of department_id on account for each row
  when (old.department_id is distinct from new.department_id) execute function move_events();

-- No role changes or removes a row of the journal, not even its owner by mistake.

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise insufficient_privilege using message = 'The journal is append-only';
end $$;
create trigger append_only before update or delete or truncate on journal_event
  for each statement execute function refuse_change();
create trigger append_only before update or delete or truncate on journal_checkpoint
  for each statement execute function refuse_change();

-- The time at which a worker got a slot. A renewal does not write the address, an acquisition does.

create function begin_hold() returns trigger language plpgsql as $$
begin
  new.held_since := now();
  return new;
end $$;
create trigger begin_hold before update of address on cluster_locks for each row execute function begin_hold();
