import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ChatType } from "../../../domain/archive/Chat.ts"
import { decodeIds } from "../../../domain/archive/MessageIds.ts"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import { type ExportDays, ExportRecords } from "../../../ports/archive/ExportRecords.ts"
import * as Checkpoints from "../journal/Checkpoints.ts"
import { manifestColumns, manifestOf, type ManifestRow } from "./ArchiveManifests.ts"
import { framesOf, type FramesRow } from "./ArchivePages.ts"

interface DigestedRow extends FramesRow {
  readonly last: string
  readonly ids: Uint8Array | null
  readonly digest: Uint8Array | null
}

/** Reading for exports in SQL. */
export const layer = Layer.effect(
  ExportRecords,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const mine = ({ accountId, organizationId }: ArchivedAccount) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId}`
    const during = ({ firstDay, lastDay }: ExportDays) =>
      sql`kind = 'messages' and day between ${firstDay}::date and ${lastDay}::date`

    return ExportRecords.of({
      chats: (account, days, after, limit) => {
        const found = sql`${mine(account)} and ${during(days)}
          and ${after === null ? sql`true` : sql`chat_id > ${after}`}
          and ${days.chatIds === null ? sql`true` : sql`chat_id = any(${days.chatIds}::bigint[])`}`
        return sql<{ chat: string; type: ChatType }>`
          select found.chat_id::text as chat, coalesce(type, 'group') as type from (
            select chat_id from archive_page where ${found}
            union select chat_id from archive_tail where ${found}
            order by chat_id limit ${sql.literal(String(limit))}
          ) as found
          left join archive_chat on archive_chat.organization_id = ${account.organizationId}
            and archive_chat.account_id = ${account.accountId} and archive_chat.chat_id = found.chat_id
          order by found.chat_id`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.map(({ chat, type }) => ({ chatId: BigInt(chat), type })))
        )
      },

      titles: (account, chatId) =>
        sql<FramesRow>`
          select page_id::text as number, to_char(day, 'YYYY-MM-DD') as place_day, sealed from archive_page
          where ${mine(account)} and chat_id = ${chatId} and last_id = 0 and kind = 'chat'
          order by page_id`.pipe(Effect.orDie, Effect.map((rows) => rows.map(framesOf))),

      ranges: (account, chatId, days, above) => {
        const found = sql`${mine(account)} and chat_id = ${chatId} and ${during(days)}`
        return sql<{ number: string; first: string }>`
          select number::text as number, first_id::text as first from (
            select page_id as number, first_id from archive_page
            where ${found} and ${above === null ? sql`true` : sql`last_id > ${above}`}
            union all
            select tail_id, message_id from archive_tail
            where ${found} and ${above === null ? sql`true` : sql`message_id > ${above}`}
          ) as found order by first_id, number`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.map(({ first, number }) => ({ number: BigInt(number), firstId: BigInt(first) })))
        )
      },

      frames: (account, chatId, numbers) =>
        sql<DigestedRow>`
          select number::text as number, to_char(day, 'YYYY-MM-DD') as place_day, last_id::text as last, ids, digest, sealed
          from (
            select page_id as number, day, last_id, ids, digest, sealed from archive_page
            where ${mine(account)} and page_id = any(${numbers}::bigint[]) and chat_id = ${chatId}
            union all
            select tail_id, day, message_id, null, null, sealed from archive_tail
            where ${mine(account)} and tail_id = any(${numbers}::bigint[]) and chat_id = ${chatId}
          ) as held order by held.number`.pipe(
          Effect.orDie,
          Effect.map((rows) =>
            rows.map((row) => ({
              ...framesOf(row),
              ids: row.ids === null ? [BigInt(row.last)] : decodeIds(row.ids),
              digest: row.digest
            }))
          )
        ),

      changes: (account, chatId, ids, until) =>
        sql<{ message: string; edits: number; deleted_at: Date | null }>`
          select message_id::text as message, (count(*) filter (where kind = 'edited'))::integer as edits,
            max(at) filter (where kind = 'deleted') as deleted_at
          from archive_change
          where ${mine(account)} and chat_id = ${chatId} and message_id = any(${ids}::bigint[]) and at <= ${until}
            and kind in ('edited', 'deleted')
          group by message_id`.pipe(
          Effect.orDie,
          Effect.map((rows) => ({
            deleted: new Map(
              rows.flatMap(({ deleted_at, message }) =>
                deleted_at === null ? [] : [[BigInt(message), deleted_at] as const]
              )
            ),
            edited: new Map(rows.map(({ edits, message }) => [BigInt(message), edits]))
          }))
        ),

      editPlaces: (account, chatId, { ids, oldest, until }) =>
        sql<{ number: string; bytes: number }>`
          with named as materialized (
            select distinct page_id, tail_id from unnest(${ids}::bigint[]) as asked (id)
            cross join lateral (
              select page_id, tail_id, row_number() over age as nth, count(*) over () as edits from archive_change
              where ${mine(account)} and chat_id = ${chatId} and message_id = asked.id and kind = 'edited'
                and at <= ${until}
              window age as (order by edit_date, late desc, place)
            ) as aged
            where nth <= ${oldest} or nth = edits
          )
          select number::text as number, bytes from (
            select page_id as number, bytes from archive_page
            where ${mine(account)} and page_id in (select page_id from named)
            union all
            select tail_id, length(sealed) from archive_tail
            where ${mine(account)} and tail_id in (select tail_id from named)
          ) as held order by held.number`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.map(({ bytes, number }) => ({ number: BigInt(number), bytes })))
        ),

      content: ({ accountId, organizationId }, fileId) =>
        sql<{ blob: string; version: string | null; epoch: string; key: Uint8Array; size: string }>`
          select archive_blob.blob_id::text as blob, version, epoch_id::text as epoch, key, plain_bytes::text as size
          from archive_file
          join archive_blob on archive_blob.organization_id = archive_file.organization_id
            and archive_blob.account_id = archive_file.account_id and archive_blob.blob_id = archive_file.blob_id
          where archive_file.organization_id = ${organizationId} and archive_file.account_id = ${accountId}
            and file_id = ${fileId}::uuid and archive_blob.state = 'saved' and key is not null`.pipe(
          Effect.orDie,
          Effect.map(([row]) =>
            row === undefined
              ? null
              : {
                blobId: row.blob,
                version: row.version,
                epochId: BigInt(row.epoch),
                key: row.key,
                size: Number(row.size)
              }
          )
        ),

      manifest: (account, until) =>
        sql<ManifestRow>`
          select ${sql.literal(manifestColumns)} from archive_manifest where ${mine(account)} and at <= ${until}
          order by archive_manifest.sequence desc limit 1`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row === undefined ? null : manifestOf(row))
        ),

      checkpoint: (organizationId, until) =>
        sql<Checkpoints.Row>`
          select ${sql.literal(Checkpoints.columns)} from journal_checkpoint
          where organization_id = ${organizationId} and at <= ${until} order by sequence desc limit 1`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row === undefined ? null : Checkpoints.fromRow(row))
        )
    })
  })
)
