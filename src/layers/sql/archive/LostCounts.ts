/** The counters of what is deleted, which deletions and cleanups keep in the statement that deletes. */
import type { SqlClient, Statement } from "effect/sql"
import type { OrganizationId } from "../../../domain/people/Access.ts"

/**
 * Expressions after `gone` (account_id, chat_id, pages, messages, files, bytes): they count it in its chats and its accounts;
 * `every` has the sums and the number of rows.
 */
export const lost = (sql: SqlClient.SqlClient, organizationId: OrganizationId): Statement.Fragment =>
  sql`
        by_chat as (
          select account_id, chat_id, sum(messages)::bigint as messages, sum(files)::bigint as files,
            sum(bytes)::bigint as bytes
          from gone group by account_id, chat_id
        ), by_account as (
          select account_id, sum(messages)::bigint as messages, sum(files)::bigint as files, sum(bytes)::bigint as bytes
          from by_chat group by account_id
        ), every as (
          select count(*) as rows, coalesce(sum(pages), 0)::bigint as pages, coalesce(sum(messages), 0)::bigint as messages,
            coalesce(sum(files), 0)::bigint as files, coalesce(sum(bytes), 0)::bigint as bytes from gone
        ), chats as (
          update archive_chat set messages = greatest(0, archive_chat.messages - lost.messages),
            files = greatest(0, archive_chat.files - lost.files), bytes = greatest(0, archive_chat.bytes - lost.bytes),
            first_id = case when archive_chat.messages > lost.messages then first_id end,
            last_id = case when archive_chat.messages > lost.messages then last_id end,
            first_at = case when archive_chat.messages > lost.messages then first_at end,
            last_at = case when archive_chat.messages > lost.messages then last_at end
          from by_chat as lost
          where archive_chat.organization_id = ${organizationId} and archive_chat.account_id = lost.account_id
            and archive_chat.chat_id = lost.chat_id
        ), accounts as (
          update archive_state set archive_messages = greatest(0, archive_messages - lost.messages),
            archive_media = greatest(0, archive_media - lost.files), archive_bytes = greatest(0, archive_bytes - lost.bytes)
          from by_account as lost
          where organization_id = ${organizationId} and archive_state.account_id = lost.account_id
        )`
