/** The deleting of a cleanup, in batches that each commit by themselves. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { decodeIds } from "../../../domain/archive/MessageIds.ts"
import type { RunningCleanup } from "../../../ports/archive/ArchiveCleanups.ts"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import { holdArchive } from "./ArchiveLocks.ts"
import { shredded } from "./BlobShredding.ts"
import { matching, pageKinds } from "./CleanupMatches.ts"
import { dropWords } from "./LoosePages.ts"
import { lost } from "./LostCounts.ts"
import { leafOf } from "./PageLeaf.ts"

interface PageRow {
  readonly number: string
  readonly chat: string
  readonly kind: string
  readonly ids: Uint8Array
}

interface TailRow {
  readonly number: string
  readonly chat: string
  readonly kind: string
  readonly message: string
}

interface Messages {
  readonly chats: ReadonlyArray<string>
  readonly messages: ReadonlyArray<bigint>
}

const messagesOf = (rows: Iterable<readonly [chat: string, ids: ReadonlyArray<bigint>]>): Messages => {
  const chats: Array<string> = []
  const messages: Array<bigint> = []
  for (const [chat, ids] of rows) {
    for (const id of ids) {
      chats.push(chat)
      messages.push(id)
    }
  }
  return { chats, messages }
}

export const makeBatches = (sql: SqlClient.SqlClient) => {
  const mine = ({ accountId, organizationId }: ArchivedAccount) =>
    sql`organization_id = ${organizationId} and account_id = ${accountId}`

  const most = (limit: number) => sql.literal(String(limit))

  const counting = ({ id, organizationId }: RunningCleanup) =>
    sql`${lost(sql, organizationId)}, counted as (
        update archive_cleanup set deleted_pages = deleted_pages + every.pages,
          deleted_messages = deleted_messages + every.messages, deleted_files = deleted_files + every.files,
          deleted_bytes = deleted_bytes + every.bytes
        from every where organization_id = ${organizationId} and id = ${id}
      )
      select rows::integer from every`

  /** Shreds the keys of contents that no file has any more; their objects are removed afterwards. */
  const shred = Effect.fnUntraced(function*(
    cleanup: RunningCleanup,
    account: ArchivedAccount,
    blobs: ReadonlyArray<string>,
    now: Date
  ) {
    if (blobs.length === 0) return
    yield* sql`
      with ${shredded(sql, account, blobs, now)}
      update archive_cleanup set deleted_bytes = deleted_bytes + size.bytes from size
      where organization_id = ${account.organizationId} and id = ${cleanup.id}`
  })

  /**
   * Keeps which ids were deleted of chats, and those between them that were covered: a run that reads them again leaves
   * them out. What was not covered is still to be archived.
   */
  const noteCleaned = (account: ArchivedAccount, { chats, messages }: Messages) =>
    sql`
      update archive_chat set cleaned = archive_chat.cleaned + gone.ids + gone.span * archive_chat.covered
      from (
        select chat_id, range_agg(int8range(id, id, '[]')) as ids,
          int8multirange(int8range(min(id), max(id), '[]')) as span
        from unnest(${chats}::bigint[], ${messages}::bigint[]) as deleted (chat_id, id) group by chat_id) as gone
      where archive_chat.organization_id = ${account.organizationId} and archive_chat.account_id = ${account.accountId}
        and archive_chat.chat_id = gone.chat_id`

  /** Deletes what hangs on deleted messages: their files, and the marks of edits that were there from the start. */
  const deleteAttached = Effect.fnUntraced(function*(
    cleanup: RunningCleanup,
    account: ArchivedAccount,
    { chats, messages }: Messages,
    now: Date
  ) {
    if (messages.length === 0) return
    yield* noteCleaned(account, { chats, messages })
    const named = sql`(chat_id, message_id) in (select * from unnest(${chats}::bigint[], ${messages}::bigint[]))`
    yield* sql`delete from archive_change where ${mine(account)} and kind = 'seen' and ${named}`
    const files = yield* sql<{ blob: string | null }>`
      select blob_id::text as blob from archive_file where ${mine(account)} and ${named}`
    if (files.length === 0) return
    yield* sql`
      with gone as (
        delete from archive_file where ${mine(account)} and ${named}
        returning account_id, chat_id, 0 as pages, 0 as messages, (state = 'saved')::integer as files, 0 as bytes
      ), ${counting(cleanup)}`
    yield* shred(cleanup, account, files.flatMap(({ blob }) => blob === null ? [] : [blob]), now)
  })

  const deleteTails = Effect.fnUntraced(function*(
    cleanup: RunningCleanup,
    account: ArchivedAccount,
    limit: number,
    now: Date
  ) {
    const mark = cleanup.watermark[account.accountId]?.tail ?? "0"
    const rows = yield* sql<TailRow>`
      select tail_id::text as number, chat_id::text as chat, kind, message_id::text as message from archive_tail
      where ${matching(sql, account, cleanup)} and tail_id <= ${mark}::bigint order by tail_id limit ${most(limit)}`
    if (rows.length === 0) return 0
    const numbers = rows.map(({ number }) => number)
    yield* sql`delete from archive_change where ${mine(account)} and tail_id = any(${numbers}::bigint[])`
    yield* deleteAttached(
      cleanup,
      account,
      messagesOf(
        rows.filter(({ kind }) => kind === "messages").map(({ chat, message }) => [chat, [BigInt(message)]] as const)
      ),
      now
    )
    yield* sql`
      with gone as (
        delete from archive_tail where ${mine(account)} and tail_id = any(${numbers}::bigint[])
        returning account_id, chat_id, 0 as pages, (kind = 'messages')::integer as messages, 0 as files,
          length(sealed) as bytes
      ), ${counting(cleanup)}`
    return rows.length
  })

  const deletePages = Effect.fnUntraced(function*(
    cleanup: RunningCleanup,
    account: ArchivedAccount,
    limit: number,
    now: Date
  ) {
    const mark = cleanup.watermark[account.accountId]?.page ?? "0"
    const rows = yield* sql<PageRow>`
      select page_id::text as number, chat_id::text as chat, kind, ids from archive_page
      where ${matching(sql, account, cleanup)} and ${pageKinds(sql, cleanup)}
        and coalesce(rewrites, page_id) <= ${mark}::bigint
      order by day, chat_id, last_id, page_id limit ${most(limit)}`
    if (rows.length === 0) return 0
    const numbers = rows.map(({ number }) => number)
    const idsOf = (kind: string) =>
      messagesOf(rows.filter((row) => row.kind === kind).map(({ chat, ids }) => [chat, decodeIds(ids)] as const))
    const changes = idsOf("changes")
    yield* sql`
      delete from archive_change where ${mine(account)} and page_id = any(${numbers}::bigint[])
        and (chat_id, message_id) in (select * from unnest(${changes.chats}::bigint[], ${changes.messages}::bigint[]))`
    yield* deleteAttached(cleanup, account, idsOf("messages"), now)
    yield* dropWords(sql, account, numbers)
    yield* sql`
      update archive_chat set members_page = null
      where ${mine(account)} and members_page = any(${numbers}::bigint[])`
    yield* sql`
      with gone as (
        delete from archive_page where ${mine(account)} and page_id = any(${numbers}::bigint[])
        returning account_id, chat_id, page_id, ${leafOf(sql)} as leaf, 1 as pages, messages, 0 as files, bytes
      ), kept as (
        insert into archive_gone (organization_id, account_id, page_id, leaf, cleanup_id)
        select ${account.organizationId}, account_id, page_id, leaf, ${cleanup.id}::uuid from gone
        on conflict do nothing
      ), ${counting(cleanup)}`
    return rows.length
  })

  /** Files alone: their rows stay, as deleted. */
  const deleteFiles = Effect.fnUntraced(function*(
    cleanup: RunningCleanup,
    account: ArchivedAccount,
    limit: number,
    now: Date
  ) {
    const rows = yield* sql<{ file: string; blob: string }>`
      select file_id::text as file, blob_id::text as blob from archive_file
      where ${matching(sql, account, cleanup)} and state = 'saved' and at <= ${cleanup.createdAt}
      order by file_id limit ${most(limit)}`
    if (rows.length === 0) return 0
    yield* sql`
      with gone as (
        update archive_file set state = 'deleted', blob_id = null, at = ${now}
        where ${mine(account)} and file_id = any(${rows.map(({ file }) => file)}::uuid[])
        returning account_id, chat_id, 0 as pages, 0 as messages, 1 as files, 0 as bytes
      ), ${counting(cleanup)}`
    yield* shred(cleanup, account, rows.map(({ blob }) => blob), now)
    return rows.length
  })

  /** The first and last messages that are left in each chat. */
  const remeasure = (cleanup: RunningCleanup, account: ArchivedAccount) =>
    sql`
      update archive_chat set first_id = there.first_id, last_id = there.last_id, first_at = there.first_at,
        last_at = there.last_at
      from (
        select chat_id, min(first_id) as first_id, max(last_id) as last_id, min(first_at) as first_at,
          max(last_at) as last_at
        from (
          select chat_id, first_id, last_id, first_at, last_at from archive_page
          where ${mine(account)} and kind = 'messages'
          union all
          select chat_id, message_id, message_id, at, at from archive_tail
          where ${mine(account)} and kind = 'messages') as rows
        group by chat_id) as there
      where archive_chat.organization_id = ${account.organizationId} and archive_chat.account_id = ${account.accountId}
        and archive_chat.chat_id = there.chat_id
        and (${cleanup.chatIds}::bigint[] is null or archive_chat.chat_id = any(${cleanup.chatIds}::bigint[]))`

  const deleteSome = Effect.fnUntraced(function*(cleanup: RunningCleanup, limit: number, now: Date) {
    const { organizationId } = cleanup
    const accountId = cleanup.accountIds[cleanup.emptied]
    if (accountId === undefined) return false
    const account = { organizationId, accountId }
    // A deleted account takes its archive with it.
    if (yield* holdArchive(sql, account)) {
      const kinds = cleanup.mediaOnly ? [deleteFiles] : [deleteTails, deletePages]
      for (const deleteKind of kinds) if ((yield* deleteKind(cleanup, account, limit, now)) > 0) return true
      if (!cleanup.mediaOnly) yield* remeasure(cleanup, account)
    }
    yield* sql`
      update archive_cleanup set emptied = emptied + 1
      where organization_id = ${organizationId} and id = ${cleanup.id}`
    return true
  })

  return { deleteSome }
}
