import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { FileReason } from "../../../domain/archive/FileReason.ts"
import type { FileState } from "../../../domain/archive/Message.ts"
import { decodeIds } from "../../../domain/archive/MessageIds.ts"
import type { DeletionReason } from "../../../domain/archive/Records.ts"
import { editDatesPerMessage } from "../../../domain/Limits.ts"
import { ArchivePages, type MessageName, type SealedFrames } from "../../../ports/archive/ArchivePages.ts"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import { reachOf } from "./ChatOrder.ts"

/** Frames as a row has them; 64-bit numbers travel as text. */
export interface FramesRow {
  readonly number: string
  readonly place_day: string
  readonly sealed: Uint8Array
}

export const framesOf = (row: FramesRow): SealedFrames => ({
  number: BigInt(row.number),
  day: row.place_day,
  sealed: row.sealed
})

interface MessagesRow extends FramesRow {
  readonly last: string
  readonly ids: Uint8Array | null
  readonly followed: boolean
}

interface ChangesRow {
  readonly chat: string
  readonly message: string
  readonly edits: number
  readonly edit_dates: ReadonlyArray<number> | null
  readonly deleted_at: Date | null
  readonly why: DeletionReason | null
  readonly number: string | null
  readonly place_day: string | null
  /** In the first row of each page. */
  readonly sealed: Uint8Array | null
  /** The first message whose frames are too large, from 1. */
  readonly cut: number | null
}

interface EditsRow extends FramesRow {
  /** From 1. */
  readonly places: ReadonlyArray<number>
  /** The first edit whose frames are too large. */
  readonly cut: number | null
  readonly followed: boolean
}

interface FileRow {
  readonly chat: string
  readonly message: string
  readonly file_id: string
  readonly state: FileState
  readonly reason: FileReason | null
  readonly sha256: Uint8Array | null
  readonly at: Date
}

/** Reading of sealed records in SQL. */
export const layer = Layer.effect(
  ArchivePages,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const mine = ({ accountId, organizationId }: ArchivedAccount, chatId: bigint) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId} and chat_id = ${chatId}`

    /** Messages as rows of `asked`, and the changes of each. */
    const named = (messages: ReadonlyArray<MessageName>) =>
      sql`unnest(
        ${messages.map(({ chatId }) => chatId)}::bigint[], ${messages.map(({ messageId }) => messageId)}::bigint[]
      ) with ordinality as asked (chat, id, nth)`
    const ofAsked = ({ accountId, organizationId }: ArchivedAccount) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId} and chat_id = asked.chat
        and message_id = asked.id`

    /** The page or tail row that a row of `archive_change` names, as `place`. */
    const placeOf = ({ accountId, organizationId }: ArchivedAccount, change: string) =>
      sql`(
        select page_id as number, day, sealed, bytes from archive_page
        where organization_id = ${organizationId} and account_id = ${accountId}
          and page_id = ${sql.literal(change)}.page_id
        union all
        select tail_id, day, sealed, length(sealed) from archive_tail
        where organization_id = ${organizationId} and account_id = ${accountId}
          and tail_id = ${sql.literal(change)}.tail_id
      ) as place`

    return ArchivePages.of({
      window: (account, { bound, bytes, chatId, direction, enough, limit, read, since, until }) => {
        const older = direction === "older"
        const way = sql.literal(older ? "desc" : "asc")
        const count = sql.literal(String(limit))
        const bounded = (first: string, last: string) =>
          bound === null ? sql`true` : older ? sql`${sql(first)} < ${bound}` : sql`${sql(last)} > ${bound}`
        const ofChat = sql`${mine(account, chatId)} and kind = 'messages'`
        const reachable = bound === null || !older
          ? sql`true`
          : sql`archive_page.last_id < ${reachOf(sql, ofChat, sql`${bound}::bigint`)}`
        const during = (first: string, last: string) =>
          sql.and([
            sql`true`,
            ...(since === null ? [] : [sql`${sql(last)} >= ${since}`]),
            ...(until === null ? [] : [sql`${sql(first)} < ${until}`])
          ])
        // Of a page that reaches over the bound, nobody knows how many messages are beyond it.
        const whole = bound === null ? sql`true` : older ? sql`last_id < ${bound}` : sql`first_id > ${bound}`
        return sql<MessagesRow>`
          select number::text as number, to_char(day, 'YYYY-MM-DD') as place_day, last_id::text as last, ids, sealed,
            place < rows or rows = ${count} as followed
          from (
            select *, row_number() over far as place, count(*) over () as rows,
              coalesce(sum(messages) over (far rows between unbounded preceding and 2 preceding), 0) as before,
              coalesce(sum(bytes) over (far rows between unbounded preceding and 1 preceding), 0) as bytes_before
            from (
              select * from (
                (select page_id, day, last_id, ids, sealed, bytes, case when ${whole} then messages else 0 end
                  from archive_page
                  where ${ofChat} and ${bounded("first_id", "last_id")}
                    and ${reachable} and ${during("first_at", "last_at")} and page_id <> all(${read}::bigint[])
                  order by archive_page.last_id ${way}, page_id ${way} limit ${count})
                union all
                (select tail_id, day, message_id, null, sealed, length(sealed), 1 from archive_tail
                  where ${ofChat} and ${bounded("message_id", "message_id")}
                    and ${during("at", "at")} and tail_id <> all(${read}::bigint[])
                  order by message_id ${way} limit ${count})
              ) as found (number, day, last_id, ids, sealed, bytes, messages)
              order by found.last_id ${way}, found.number ${way} limit ${count}
            ) as listed
            window far as (order by last_id ${way}, number ${way})
          ) as summed
          where before < ${enough} and bytes_before < ${bytes} order by place`.pipe(
          Effect.orDie,
          Effect.map((rows) => ({
            pages: rows.map((row) => ({
              ...framesOf(row),
              lastId: BigInt(row.last),
              ids: row.ids === null ? [BigInt(row.last)] : decodeIds(row.ids)
            })),
            ended: rows.at(-1)?.followed !== true
          }))
        )
      },

      changes: (account, messages, bytes) =>
        messages.length === 0 ? Effect.succeed({ changes: [], stated: 0 }) : sql<ChangesRow>`
          select asked.chat::text as chat, asked.id::text as message, edits,
            case when edits > 0 then array(
              select edit_date from archive_change where ${ofAsked(account)} and kind = 'edited'
              order by edit_date limit ${sql.literal(String(editDatesPerMessage))}
            ) end as edit_dates, deleted_at, why, number::text as number, to_char(day, 'YYYY-MM-DD') as place_day,
            case when size is not null then sealed end as sealed, cut::integer as cut
          from (
            select *, min(nth) filter (where not fits) over () as cut from (
              select *, sum(size) over so_far <= ${bytes} or count(size) over so_far <= 1 as fits from (
                select asked.*, known.*, place.number, place.day, place.sealed,
                  case when row_number() over (partition by place.number order by asked.nth) = 1
                    then place.bytes end as size
                from ${named(messages)}
                cross join lateral (
                  select count(*) as rows, (count(*) filter (where kind = 'edited'))::integer as edits,
                    max(at) filter (where kind = 'deleted') as deleted_at, max(why) as why
                  from archive_change where ${ofAsked(account)}
                ) as known
                left join lateral (
                  select page_id, tail_id from archive_change where ${ofAsked(account)} and kind = 'edited'
                  order by edit_date desc, late, archive_change.place desc limit 1
                ) as newest on true
                left join lateral ${placeOf(account, "newest")} on true
                where known.rows > 0
              ) as found
              window so_far as (order by nth)
            ) as summed
          ) as asked
          where fits order by nth`.pipe(
          Effect.orDie,
          Effect.map((rows) => {
            const pages = new Map<string, SealedFrames>()
            for (const { number, place_day, sealed } of rows) {
              if (number === null || place_day === null || sealed === null) continue
              pages.set(number, framesOf({ number, place_day, sealed }))
            }
            const changes = rows.map(({ chat, deleted_at, edit_dates, edits, message, number, why }) => ({
              chatId: BigInt(chat),
              messageId: BigInt(message),
              edits,
              editDates: edit_dates ?? [],
              deletedAt: deleted_at,
              deletedWhy: why,
              newest: number === null ? null : pages.get(number) ?? null
            }))
            const cut = rows[0]?.cut ?? null
            return { changes, stated: cut === null ? messages.length : cut - 1 }
          })
        ),

      edits: (account, { chatId, messageId }, { bytes, limit, skip }) => {
        const end = skip + limit
        return sql<EditsRow>`
          with edit as materialized (
            select page_id, tail_id, (row_number() over age)::integer as nth from archive_change
            where ${mine(account, chatId)} and message_id = ${messageId} and kind = 'edited'
            window age as (order by edit_date, late desc, archive_change.place)
            order by nth limit ${sql.literal(String(limit + 1))} offset ${skip}
          )
          select number::text as number, to_char(day, 'YYYY-MM-DD') as place_day, sealed, places, cut,
            exists (select from edit where nth > ${end}) as followed
          from (
            select *, min(first) filter (where not fits) over () as cut from (
              select *, first = ${skip + 1} or sum(bytes) over (order by first) <= ${bytes} as fits from (
                select page_id, tail_id, min(nth) as first, array_agg(nth order by nth) as places from edit
                where nth <= ${end} group by page_id, tail_id
              ) as held
              cross join lateral ${placeOf(account, "held")}
            ) as summed
          ) as bounded
          where fits order by first`.pipe(
          Effect.orDie,
          Effect.map((rows) => {
            const { cut, followed } = rows[0] ?? { cut: null, followed: false }
            const listed = cut === null ? end : cut - 1
            return {
              frames: rows.map((row) => ({
                ...framesOf(row),
                places: row.places.filter((nth) => nth <= listed).map((nth) => nth - 1)
              })),
              ended: cut === null && !followed
            }
          })
        )
      },

      editFrames: (account, messages, limit, bytes) =>
        messages.length === 0 ? Effect.succeed([]) : sql<FramesRow & { readonly chat: string }>`
          select chat::text as chat, number::text as number, to_char(day, 'YYYY-MM-DD') as place_day, sealed from (
            select *, sum(bytes) over age <= ${bytes} or row_number() over age = 1 as fits from (
              select distinct asked.chat, page_id, tail_id from ${named(messages)}
              cross join lateral (
                select page_id, tail_id from archive_change where ${ofAsked(account)} and kind = 'edited'
                order by edit_date, late desc, archive_change.place limit ${sql.literal(String(limit))}
              ) as known
            ) as edit
            cross join lateral ${placeOf(account, "edit")}
            window age as (order by place.number)
          ) as summed
          where fits`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.map((row) => ({ ...framesOf(row), chatId: BigInt(row.chat) })))
        ),

      files: (account, messages) =>
        messages.length === 0 ? Effect.succeed([]) : sql<FileRow>`
          select chat_id::text as chat, message_id::text as message, file_id, archive_file.state, reason, sha256,
            archive_file.at
          from ${named(messages)}
          join archive_file on archive_file.organization_id = ${account.organizationId}
            and archive_file.account_id = ${account.accountId} and chat_id = asked.chat and message_id = asked.id
          left join archive_blob on archive_blob.organization_id = archive_file.organization_id
            and archive_blob.account_id = archive_file.account_id and archive_blob.blob_id = archive_file.blob_id`.pipe(
          Effect.orDie,
          Effect.map((rows) =>
            rows.map(({ chat, file_id, message, ...row }) => ({
              chatId: BigInt(chat),
              messageId: BigInt(message),
              fileId: file_id,
              ...row
            }))
          )
        )
    })
  })
)
