/** The rows that a cleanup counts and deletes. */
import type { SqlClient, Statement } from "effect/sql"
import type { CleanupCriteria } from "../../../domain/archive/ArchiveCleanup.ts"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"

/** Holds for rows of the account with a chat and a day that the criteria name. */
export const matching = (
  sql: SqlClient.SqlClient,
  { accountId, organizationId }: ArchivedAccount,
  { before, chatIds }: CleanupCriteria
): Statement.Fragment =>
  sql.and([
    sql`organization_id = ${organizationId}`,
    sql`account_id = ${accountId}`,
    ...(chatIds === null ? [] : [sql`chat_id = any(${chatIds}::bigint[])`]),
    ...(before === null ? [] : [sql`day < ${before}::date`])
  ])

/** Holds for pages that a cleanup of these criteria deletes: members stay while messages may, and titles always. */
export const pageKinds = (sql: SqlClient.SqlClient, { before }: CleanupCriteria): Statement.Fragment =>
  before === null ? sql`kind <> 'chat'` : sql`kind in ('messages', 'changes')`

/** The rows of the criteria as they are now: (chat_id, pages, messages, files, bytes). */
export const countable = (
  sql: SqlClient.SqlClient,
  account: ArchivedAccount,
  criteria: CleanupCriteria
): Statement.Fragment => {
  const matches = matching(sql, account, criteria)
  const files = sql`
    select chat_id, 0 as pages, 0 as messages, 1 as files, coalesce((
      select stored_bytes from archive_blob
      where archive_blob.organization_id = archive_file.organization_id
        and archive_blob.account_id = archive_file.account_id and archive_blob.blob_id = archive_file.blob_id), 0) as bytes
    from archive_file where ${matches} and state = 'saved'`
  return criteria.mediaOnly ? files : sql`
    select chat_id, 1 as pages, messages::integer as messages, 0 as files, bytes::bigint as bytes
    from archive_page where ${matches} and ${pageKinds(sql, criteria)}
    union all
    select chat_id, 0, (kind = 'messages')::integer, 0, length(sealed) from archive_tail where ${matches}
    union all ${files}`
}
