/** Counters of archives, compared with what is there. */
import { Effect } from "effect"
import * as World from "../world.ts"

/** The numbers of chats and accounts of the organization whose counters are wrong. */
export const miscounts = Effect.fnUntraced(function*(organizationId: string) {
  const chats = yield* World.query<object>(
    organizationId,
    (sql) =>
      sql`
      with there as (
        select account_id, chat_id, sum(messages)::bigint as messages, sum(bytes)::bigint as bytes from (
          select account_id, chat_id, messages, bytes from archive_page
          union all
          select account_id, chat_id, (kind = 'messages')::integer, length(sealed) from archive_tail) as rows
        group by 1, 2
      )
      select chat_id from archive_chat full join there using (account_id, chat_id)
      where archive_chat.messages is distinct from coalesce(there.messages, 0)
        or archive_chat.bytes is distinct from coalesce(there.bytes, 0)`
  )
  const accounts = yield* World.query<object>(
    organizationId,
    (sql) =>
      sql`
      select account_id from archive_state where organization_id = ${organizationId}
        and (archive_messages, archive_bytes) <> (
          select coalesce(sum(messages), 0), coalesce(sum(bytes), 0) from archive_chat
          where archive_chat.account_id = archive_state.account_id)`
  )
  return { chats: chats.length, accounts: accounts.length }
})
