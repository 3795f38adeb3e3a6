import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { hex } from "../../../domain/archive/Bytes.ts"
import { decodeIds, encodeIds } from "../../../domain/archive/MessageIds.ts"
import {
  ArchiveRecords,
  type NewTailRow,
  type RevisionMark,
  type TailGroup
} from "../../../ports/archive/ArchiveRecords.ts"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { framesOf, type FramesRow } from "./ArchivePages.ts"
import { reachOf } from "./ChatOrder.ts"
import { loosen, pageColumns } from "./LoosePages.ts"

interface GroupRow extends Omit<TailGroup, "chatId"> {
  readonly chat: string
}

interface TailRowColumns extends FramesRow {
  readonly message: string
  readonly at: Date
}

interface KnownRow {
  readonly message: string
  readonly kind: "seen" | "edited" | "deleted"
  readonly date: number
  readonly mark: Uint8Array
  readonly late: boolean
  readonly place: number
}

/** The number of the epoch, 8 bytes, and the digest; empty for a deletion. */
const encodeMark = (mark: RevisionMark | null): Uint8Array => {
  if (mark === null) return new Uint8Array()
  const encoded = new Uint8Array(8 + mark.digest.length)
  new DataView(encoded.buffer).setBigUint64(0, mark.epochId)
  encoded.set(mark.digest, 8)
  return encoded
}

const decodeMark = (encoded: Uint8Array): RevisionMark | null => {
  if (encoded.length <= 8) return null
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.length)
  return { epochId: view.getBigUint64(0), digest: encoded.subarray(8) }
}

/** Writing of sealed records in SQL. */
export const layer = Layer.effect(
  ArchiveRecords,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)

    const mine = ({ accountId, organizationId }: ArchivedAccount) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId}`
    const own = ({ accountId, organizationId }: ArchivedAccount) => sql`${organizationId}, ${accountId}::uuid`

    const numbersOf = (statement: Statement.Statement<{ readonly number: string }>) =>
      Effect.map(Effect.orDie(statement), (rows) => rows.map(({ number }) => BigInt(number)))

    const between = Effect.fnUntraced(function*(account: ArchivedAccount, chatId: bigint, low: bigint, high: bigint) {
      const chat = sql`${mine(account)} and chat_id = ${chatId} and kind = 'messages'`
      // Most are newer or older than all of the chat: then nothing else is looked at.
      const overlapping = sql`exists (
        select 1 from archive_chat
        where ${mine(account)} and chat_id = ${chatId} and first_id <= ${high} and last_id >= ${low})`
      const { pages, tail } = yield* Effect.all({
        pages: sql<{ ids: Uint8Array }>`
          select ids from archive_page
          where ${overlapping} and ${chat} and last_id >= ${low} and first_id <= ${high}
            and last_id < ${reachOf(sql, chat, sql`${high}::bigint`)}`,
        tail: sql<{ message: string }>`
          select message_id::text as message from archive_tail
          where ${overlapping} and ${chat} and message_id between ${low} and ${high}`
      }, Tenant.together)
      return [...pages.flatMap(({ ids }) => decodeIds(ids)), ...tail.map(({ message }) => BigInt(message))]
        .filter((id) => id >= low && id <= high)
    }, Effect.orDie)

    /**
     * While a cleanup is previewed, queued or running, tail rows stay what they are: its watermark names them. One that
     * waits for its time takes its watermark when it begins.
     */
    const isFree = (account: ArchivedAccount) =>
      sql`not exists (
        select 1 from archive_cleanup
        where organization_id = ${account.organizationId} and ${account.accountId} = any(account_ids)
          and (state = 'running' or state in ('previewed', 'queued') and not_before is null))`

    const groups = (account: ArchivedAccount, which: Statement.Fragment, having: Statement.Fragment) =>
      sql<GroupRow>`
        select chat_id::text as chat, to_char(day, 'YYYY-MM-DD') as day, kind,
          to_char(sent_day, 'YYYY-MM-DD') as "sentDay"
        from archive_tail where ${mine(account)} and ${which} and ${isFree(account)}
        group by chat_id, archive_tail.day, kind, sent_day having ${having}
        order by archive_tail.day, chat_id, kind, sent_day`.pipe(
        Effect.orDie,
        Effect.map((rows) => rows.map(({ chat, ...row }) => ({ chatId: BigInt(chat), ...row })))
      )

    const addTail = (account: ArchivedAccount, rows: ReadonlyArray<NewTailRow>) =>
      sql<{ readonly number: string }>`
        insert into archive_tail (organization_id, account_id, chat_id, day, kind, message_id, at, sent_day, epoch_id,
          sealed)
        select ${own(account)}, added.* from unnest(
          ${rows.map(({ chatId }) => chatId)}::bigint[],
          ${rows.map(({ day }) => day)}::date[],
          ${rows.map(({ kind }) => kind)}::text[],
          ${rows.map(({ messageId }) => messageId)}::bigint[],
          ${rows.map(({ at }) => at)}::timestamptz[],
          ${rows.map(({ sentDay }) => sentDay)}::date[],
          ${rows.map(({ epochId }) => epochId)}::bigint[],
          ${rows.map(({ sealed }) => sealed)}::bytea[]) as added
        returning tail_id::text as number`

    const ofEpoch = (account: ArchivedAccount, epochId: bigint | null) =>
      epochId === null
        ? sql`epoch_id in (select epoch_id from archive_epoch where ${mine(account)} and closed_at is not null)`
        : sql`epoch_id = ${epochId}`

    const resize = (account: ArchivedAccount, chatId: bigint, bytes: number) =>
      Effect.all([
        post(sql`
          update archive_chat set bytes = bytes + ${bytes}::bigint where ${mine(account)} and chat_id = ${chatId}`),
        post(sql`
          update archive_state set archive_bytes = archive_bytes + ${bytes}::bigint where ${mine(account)}`)
      ], { discard: true })

    return ArchiveRecords.of({
      addPages: (account, pages) =>
        sql<{ readonly number: string; readonly digest: Uint8Array }>`
          with added as (
            insert into archive_page (organization_id, account_id, chat_id, first_id, last_id, day, kind, first_at, last_at,
              sent_day, messages, bytes, ids, digest, sealed)
            select ${own(account)}, given.* from unnest(
              ${pages.map(({ chatId }) => chatId)}::bigint[],
              ${pages.map(({ ids }) => ids[0] ?? 0n)}::bigint[],
              ${pages.map(({ ids }) => ids.at(-1) ?? 0n)}::bigint[],
              ${pages.map(({ day }) => day)}::date[],
              ${pages.map(({ kind }) => kind)}::text[],
              ${pages.map(({ firstAt }) => firstAt)}::timestamptz[],
              ${pages.map(({ lastAt }) => lastAt)}::timestamptz[],
              ${pages.map(({ sentDay }) => sentDay)}::date[],
              ${pages.map(({ ids, kind }) => kind === "messages" ? ids.length : 0)}::smallint[],
              ${pages.map(({ sealed }) => sealed.length)}::integer[],
              ${pages.map(({ ids }) => encodeIds(ids))}::bytea[],
              ${pages.map(({ digest }) => digest)}::bytea[],
              ${pages.map(({ sealed }) => sealed)}::bytea[]) as given
            returning ${sql.literal(pageColumns)}, digest
          ), loose as (${sql.literal(loosen("added"))})
          select page_id::text as number, digest from added`.pipe(
          Effect.orDie,
          Effect.map((rows) => {
            const numbers = new Map(rows.map(({ digest, number }) => [hex(digest), BigInt(number)]))
            return pages.flatMap(({ digest }) => numbers.get(hex(digest)) ?? [])
          })
        ),

      addTail: (account, rows) => numbersOf(addTail(account, rows)),

      postTail: (account, rows) => post(addTail(account, rows)),

      // A number is never 0.
      addChanges: (account, changes) =>
        changes.length === 0 ? Effect.void : post(sql`
          insert into archive_change (organization_id, account_id, chat_id, message_id, kind, edit_date, mark, late, place,
            why, at, page_id, tail_id)
          select ${own(account)}, chat_id, message_id, kind, edit_date, mark, late, place, nullif(why, ''), at,
            nullif(page_id, 0), nullif(tail_id, 0)
          from unnest(
            ${changes.map(({ chatId }) => chatId)}::bigint[],
            ${changes.map(({ messageId }) => messageId)}::bigint[],
            ${changes.map(({ kind }) => kind)}::text[],
            ${changes.map(({ editDate }) => editDate)}::integer[],
            ${changes.map(({ mark }) => encodeMark(mark))}::bytea[],
            ${changes.map(({ late }) => late)}::boolean[],
            ${changes.map(({ place }) => place)}::integer[],
            ${changes.map(({ why }) => why ?? "")}::text[],
            ${changes.map(({ at }) => at)}::timestamptz[],
            ${changes.map(({ heldBy }) => heldBy !== null && "page" in heldBy ? heldBy.page : 0n)}::bigint[],
            ${changes.map(({ heldBy }) => heldBy !== null && "tail" in heldBy ? heldBy.tail : 0n)}::bigint[]
          ) as added (chat_id, message_id, kind, edit_date, mark, late, place, why, at, page_id, tail_id)`),

      addFiles: (account, files) =>
        files.length === 0 ? Effect.void : post(sql`
          insert into archive_file (organization_id, account_id, file_id, chat_id, message_id, day, is_large, state, at)
          select ${own(account)}, added.* from unnest(
            ${files.map(({ fileId }) => fileId)}::uuid[],
            ${files.map(({ chatId }) => chatId)}::bigint[],
            ${files.map(({ messageId }) => messageId)}::bigint[],
            ${files.map(({ day }) => day)}::date[],
            ${files.map(({ isLarge }) => isLarge)}::boolean[],
            ${files.map(({ state }) => state)}::text[],
            ${files.map(({ at }) => at)}::timestamptz[]) as added
          on conflict do nothing`),

      between: (account, chatId, low, high) =>
        Effect.map(
          between(account, chatId, low, high),
          (ids) => ids.sort((one, other) => one < other ? -1 : one > other ? 1 : 0)
        ),

      known: Effect.fnUntraced(function*(account, chatId, ids) {
        const sorted = [...ids].sort((one, other) => one < other ? -1 : one > other ? 1 : 0)
        const [low, high] = [sorted[0], sorted.at(-1)]
        if (low === undefined || high === undefined) return new Set()
        const stored = new Set(yield* between(account, chatId, low, high))
        return new Set(ids.filter((id) => stored.has(id)))
      }),

      redacted: (account, chatId, ids) =>
        sql<{ message: string }>`
          select message_id::text as message from archive_change
          where ${mine(account)} and chat_id = ${chatId} and message_id = any(${ids}::bigint[])
            and kind = 'redacted'`.pipe(
          Effect.orDie,
          Effect.map((rows) => new Set(rows.map(({ message }) => BigInt(message))))
        ),

      knownChanges: (account, chatId, ids, editDates) =>
        ids.length === 0 ? Effect.succeed([]) : sql<KnownRow>`
          with change as not materialized (
            select message_id, kind, edit_date, mark, late, archive_change.place from archive_change
            where ${mine(account)} and chat_id = ${chatId}
          )
          select message_id::text as message, kind, edit_date as date, mark, late, found.place from (
            select * from change
            where message_id = any(${ids}::bigint[]) and kind in ('seen', 'deleted')
            union
            select * from change
            where message_id = any(${ids}::bigint[]) and kind = 'edited' and edit_date = any(${editDates}::integer[])
            union
            select newest.* from unnest(${ids}::bigint[]) as asked (id)
            cross join lateral (
              select * from change where message_id = asked.id and kind = 'edited' order by edit_date desc limit 1
            ) as newest
          ) as found order by found.place`.pipe(
          Effect.orDie,
          Effect.map((rows) =>
            [...Map.groupBy(rows, ({ message }) => message)].map(([message, changes]) => ({
              messageId: BigInt(message),
              revisions: changes.filter(({ kind }) => kind === "seen" || kind === "edited").map((
                { date, kind, late, mark, place }
              ) => ({
                editDate: date,
                mark: decodeMark(mark),
                isFirst: kind === "seen",
                late,
                place
              })),
              deleted: changes.some(({ kind }) => kind === "deleted")
            }))
          )
        ),

      grow: (account, { bytes, chatId, firstAt, ids, lastAt }, now) =>
        post(sql`
          with grown as (
            update archive_state set archive_messages = archive_messages + ${ids.length}::bigint,
              archive_bytes = archive_bytes + ${bytes}::bigint, archive_updated_at = ${now}, archive_last_sync_at = ${now}
            where ${mine(account)}
          ), begun as (
            update organization set archive_first_record_at = ${now}, archive_deletion_started_at = null,
              archive_deleted_at = null
            where id = ${account.organizationId} and archive_first_record_at is null
          )
          update archive_chat set messages = messages + ${ids.length}::bigint, bytes = bytes + ${bytes}::bigint,
            first_id = least(first_id, ${ids[0]}::bigint), last_id = greatest(last_id, ${ids.at(-1)}::bigint),
            first_at = least(first_at, ${firstAt}), last_at = greatest(last_at, ${lastAt})
          where ${mine(account)} and chat_id = ${chatId}`),

      resize,

      dueGroups: (account, epochId, until, full) =>
        groups(account, ofEpoch(account, epochId), sql`count(*) >= ${full} or archive_tail.day < ${until}::date`),

      deadGroups: (account) => groups(account, ofEpoch(account, null), sql`true`),

      takeTail: (account, { chatId, day, kind, sentDay }, epochId, limit) =>
        sql<TailRowColumns>`
          select tail_id::text as number, to_char(archive_tail.day, 'YYYY-MM-DD') as place_day, sealed,
            message_id::text as message, at
          from archive_tail
          where ${mine(account)} and chat_id = ${chatId} and archive_tail.day = ${day}::date and kind = ${kind}
            and sent_day is not distinct from ${sentDay}::date and ${ofEpoch(account, epochId)} and ${isFree(account)}
          order by archive_tail.message_id, tail_id limit ${sql.literal(String(limit))} for update`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.map((row) => ({ ...framesOf(row), messageId: BigInt(row.message), at: row.at })))
        ),

      replaceTail: (account, rows, page) =>
        Effect.all([
          post(sql`
            update archive_change set page_id = ${page}, tail_id = null
            where ${mine(account)} and tail_id = any(${rows}::bigint[])`),
          post(sql`delete from archive_tail where ${mine(account)} and tail_id = any(${rows}::bigint[])`)
        ], { discard: true })
    })
  })
)
