import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Appends an event to its organization's journal by one statement, so that the head is locked over no round trip.
 *
 * The service gives the event and its canonical text, cut where only the head knows the values: its time, the hash
 * before and its sequence. The years 1 to 9999 alone are written as in that text.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const parameters = [
    ["p_organization_id", "text"],
    ["p_now", "timestamptz"],
    ["p_id", "uuid"],
    ["p_action", "text"],
    ["p_outcome", "text"],
    ["p_actor_type", "text"],
    ["p_actor_admin_id", "uuid"],
    ["p_actor_name", "text"],
    ["p_credential_kind", "text"],
    ["p_credential_id", "text"],
    ["p_credential_label", "text"],
    ["p_via", "text"],
    ["p_account_id", "uuid"],
    ["p_target_type", "text"],
    ["p_target_id", "text"],
    ["p_details", "jsonb"],
    ["p_ip", "text"],
    ["p_request_id", "text"],
    ["p_closes", "bigint"],
    ["p_until_at", "text"],
    ["p_until_prev_hash", "text"],
    ["p_until_sequence", "text"],
    ["p_rest", "text"],
    ["p_intent_millis", "integer"]
  ] as const
  const types = sql.literal(parameters.map(([, type]) => type).join(", "))
  yield* sql`
    create function append_event(${sql.literal(parameters.map((parameter) => parameter.join(" ")).join(", "))})
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
      -- Its journal is due to be signed at the end of the minute.
      insert into journal_unsigned (organization_id, due_at)
      values (p_organization_id, date_bin(interval '1 minute', v_at, timestamptz 'epoch') + interval '1 minute')
      on conflict do nothing;
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
    end $$`
  yield* sql`revoke all on function append_event(${types}) from public`
  yield* sql`grant execute on function append_event(${types}) to console_app`
})
