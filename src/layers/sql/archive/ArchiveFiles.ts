import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { AccountId } from "../../../domain/accounts/Account.ts"
import type { FileReason } from "../../../domain/archive/FileReason.ts"
import type { FileState } from "../../../domain/archive/Message.ts"
import { ArchiveFiles, type FoundFile } from "../../../ports/archive/ArchiveFiles.ts"
import { framesOf, type FramesRow } from "./ArchivePages.ts"

interface FileRow {
  readonly file: string
  readonly account: AccountId
  readonly chat: string
  readonly message: string
  readonly place_day: string
  readonly state: FileState
  readonly reason: FileReason | null
  readonly at: Date
  readonly blob: string | null
  readonly version: string | null
  readonly epoch: string | null
  readonly key: Uint8Array | null
  readonly bytes: number | null
  readonly sha256: Uint8Array | null
}

const found = (row: FileRow): FoundFile => {
  const { account, at, blob, bytes, chat, epoch, file, key, message, reason, sha256, state, version } = row
  const isStored = blob !== null && epoch !== null && key !== null && bytes !== null && sha256 !== null
  return {
    fileId: file,
    accountId: account,
    chatId: BigInt(chat),
    messageId: BigInt(message),
    day: row.place_day,
    state,
    reason,
    at,
    content: isStored ? { blobId: blob, version, epochId: BigInt(epoch), key, bytes: Number(bytes), sha256 } : null
  }
}

/** The files of archives in SQL. */
export const layer = Layer.effect(
  ArchiveFiles,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const files = (condition: Statement.Fragment) =>
      sql`
        select file.file_id::text as file, file.account_id::text as account, file.chat_id::text as chat,
          file.message_id::text as message, to_char(file.day, 'YYYY-MM-DD') as place_day, file.state, file.reason, file.at, blob.blob_id::text as blob,
          blob.version, blob.epoch_id::text as epoch, blob.key, blob.plain_bytes as bytes, blob.sha256
        from archive_file as file
        left join archive_blob as blob on blob.organization_id = file.organization_id
          and blob.account_id = file.account_id and blob.blob_id = file.blob_id and blob.state = 'saved'
        where ${condition}`

    return ArchiveFiles.of({
      find: (organizationId, fileIds) =>
        sql<FileRow>`${
          files(sql`file.organization_id = ${organizationId} and file.file_id = any (${fileIds}::uuid[])`)
        }`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.map(found))
        ),

      list: Effect.fnUntraced(function*({ accountId, organizationId }, { after, chatId, limit, state }) {
        const mine = sql`organization_id = ${organizationId} and account_id = ${accountId}`
        if (after !== null) {
          const known = yield* sql`select 1 from archive_file where ${mine} and file_id = ${after}::uuid`
          if (known.length === 0) return null
        }
        const rows = yield* sql<FileRow>`${
          files(sql.and([
            sql`file.organization_id = ${organizationId}`,
            sql`file.account_id = ${accountId}`,
            ...(chatId === null ? [] : [sql`file.chat_id = ${chatId}`]),
            ...(state === null ? [] : [sql`file.state = ${state}`]),
            ...(after === null
              ? []
              : [sql`(file.day, file.chat_id, file.message_id, file.file_id) < (
                  select ${sql.literal("day, chat_id, message_id, file_id")} from archive_file
                  where ${mine} and file_id = ${after}::uuid)`])
          ]))
        } order by file.day desc, file.chat_id desc, file.message_id desc, file.file_id desc
          limit ${sql.literal(String(limit))}`
        return rows.map(found)
      }, Effect.orDie),

      frames: ({ accountId, organizationId }, sought) =>
        sql<FramesRow & { readonly chat: string }>`
          with sought as (
            select * from unnest(
              ${sought.map(({ chatId }) => chatId)}::bigint[],
              ${sought.map(({ day }) => day)}::date[],
              ${sought.map(({ messageId }) => messageId)}::bigint[]) as one (chat_id, day, message_id)
          )
          select distinct on (page_id) page_id::text as number, page.chat_id::text as chat,
            to_char(page.day, 'YYYY-MM-DD') as place_day, sealed
          from sought join archive_page as page on page.organization_id = ${organizationId}
            and page.account_id = ${accountId} and page.chat_id = sought.chat_id and page.last_id >= sought.message_id
            and page.day = sought.day and page.first_id <= sought.message_id and page.kind = 'messages'
          union all
          select tail_id::text, tail.chat_id::text, to_char(tail.day, 'YYYY-MM-DD'), sealed
          from sought join archive_tail as tail on tail.organization_id = ${organizationId}
            and tail.account_id = ${accountId} and tail.chat_id = sought.chat_id
            and tail.message_id = sought.message_id and tail.kind = 'messages'`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.map((row) => ({ ...framesOf(row), chatId: BigInt(row.chat) })))
        )
    })
  })
)
