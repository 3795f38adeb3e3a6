import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import { decodeIds } from "../../../domain/archive/MessageIds.ts"
import { RedactionId } from "../../../domain/archive/Redaction.ts"
import {
  ArchiveRedactions,
  type RedactedMessages,
  type RedactedPlace,
  type RewrittenPlace
} from "../../../ports/archive/ArchiveRedactions.ts"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { holdArchive } from "./ArchiveLocks.ts"
import { shredded } from "./BlobShredding.ts"
import { reachOf } from "./ChatOrder.ts"
import { dropWords, loosen, pageColumns } from "./LoosePages.ts"
import { lost } from "./LostCounts.ts"
import { leafOf } from "./PageLeaf.ts"

interface PlaceRow {
  readonly number: string
  readonly place_day: string
  readonly bytes: number
  readonly sealed: Uint8Array | null
  readonly is_page: boolean
  readonly kind: RedactedPlace["kind"]
  readonly message: string | null
  readonly ids: Uint8Array | null
}

/** Redaction in SQL. Locks: the account's archive, as every writer, closing and cleanup of it does first. */
export const layer = Layer.effect(
  ArchiveRedactions,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const post = Tenant.post(sql)

    const mine = ({ accountId, organizationId }: ArchivedAccount) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId}`
    const inChat = ({ account, chatId }: RedactedMessages) => sql`${mine(account)} and chat_id = ${chatId}`

    /** Pages that hold a message, and pages and tail rows of edits, as `(number, is_page)`. */
    const found = (messages: RedactedMessages) =>
      sql`
        select page_id as number, true as is_page from unnest(${messages.ids}::bigint[]) as asked (id)
        cross join lateral (
          select page_id, ids from archive_page
          where ${inChat(messages)} and kind = 'messages' and last_id >= asked.id and first_id <= asked.id
            and last_id < ${reachOf(sql, sql`${inChat(messages)} and kind = 'messages'`, sql`asked.id`)}
        ) as holding
        union
        select tail_id, false from archive_tail
        where ${inChat(messages)} and kind = 'messages' and message_id = any(${messages.ids}::bigint[])
        union
        select coalesce(page_id, tail_id), page_id is not null from archive_change
        where ${inChat(messages)} and kind = 'edited' and message_id = any(${messages.ids}::bigint[])`

    /** The places with the frames that `framed` chooses by `number` and `bytes`. */
    const list = Effect.fnUntraced(function*(
      messages: RedactedMessages,
      places: Statement.Fragment,
      framed: Statement.Fragment
    ) {
      const rows = yield* sql<PlaceRow>`
        with found as (${places})
        select number::text as number, place_day, is_page, kind, message, ids, bytes,
          case when ${framed} then sealed end as sealed
        from (
          select page_id as number, to_char(day, 'YYYY-MM-DD') as place_day, true as is_page, kind, null as message, ids,
            bytes, sealed
          from archive_page
          where ${mine(messages.account)} and page_id in (select number from found where is_page)
          union all
          select tail_id, to_char(day, 'YYYY-MM-DD'), false, kind, message_id::text, null, length(sealed), sealed
          from archive_tail
          where ${mine(messages.account)} and tail_id in (select number from found where not is_page)
        ) as place
        window near as (order by place.number)
        order by place.number`
      const asked = new Set(messages.ids)
      return rows.map(({ bytes, ids, is_page, kind, message, number, place_day, sealed }) => ({
        number: BigInt(number),
        day: place_day,
        sealed,
        isPage: is_page,
        kind,
        bytes,
        ids: ids === null ? [BigInt(message ?? 0)] : decodeIds(ids)
      })).filter(({ ids }) => ids.some((id) => asked.has(id)))
    }, Effect.orDie)

    /** A page with other frames is another page, so that a manifest covers it; the old one is kept as its leaf. */
    const replacePages = (id: RedactionId, messages: RedactedMessages, pages: ReadonlyArray<RewrittenPlace>) => {
      const { account } = messages
      const changes = pages.filter(({ kind }) => kind === "changes").flatMap(({ ids }) => ids)
      return sql`
        with given as materialized (
          select given.*, nextval('archive_number') as fresh from unnest(
            ${pages.map(({ number }) => number)}::bigint[], ${pages.map(({ digest }) => digest)}::bytea[],
            ${pages.map(({ rewritten }) => rewritten)}::bytea[]) as given (number, new_digest, new_sealed)
        ), old as (
          delete from archive_page using given where ${mine(account)} and page_id = given.number
          returning archive_page.*, ${leafOf(sql)} as leaf, given.*
        ), added as (
          insert into archive_page (organization_id, account_id, chat_id, last_id, page_id, first_id, day, kind, first_at,
            last_at, sent_day, messages, bytes, ids, digest, sealed, rewrites)
          select organization_id, account_id, chat_id, last_id, fresh, first_id, day, kind, first_at, last_at, sent_day,
            messages, length(new_sealed), ids, new_digest, new_sealed, coalesce(rewrites, page_id)
          from old
          returning ${sql.literal(pageColumns)}
        ), loose as (${sql.literal(loosen("added"))}), kept as (
          insert into archive_gone (organization_id, account_id, page_id, leaf, cleanup_id)
          select organization_id, account_id, page_id, leaf, ${id}::uuid from old
        ), moved as (
          update archive_change set page_id = given.fresh from given
          where ${inChat(messages)} and message_id = any(${changes}::bigint[]) and archive_change.page_id = given.number
        ), gone as (
          select account_id, chat_id, 1 as pages, 0 as messages, 0 as files, bytes - length(new_sealed) as bytes from old
        ), ${lost(sql, account.organizationId)}
        select rows::integer as rows from every`
    }

    const replaceTail = (messages: RedactedMessages, rows: ReadonlyArray<RewrittenPlace>) =>
      sql`
        with given as (
          select given.*, length(sealed) as bytes from unnest(
            ${rows.map(({ number }) => number)}::bigint[], ${rows.map(({ rewritten }) => rewritten)}::bytea[]
          ) as given (number, new_sealed)
          join archive_tail on ${mine(messages.account)} and tail_id = number
        ), written as (
          update archive_tail set sealed = given.new_sealed from given
          where ${mine(messages.account)} and tail_id = given.number
        ), gone as (
          select ${messages.account.accountId}::uuid as account_id, ${messages.chatId}::bigint as chat_id, 0 as pages,
            0 as messages, 0 as files, bytes - length(new_sealed) as bytes
          from given
        ), ${lost(sql, messages.account.organizationId)}
        select rows::integer as rows from every`

    const deleteFiles = Effect.fnUntraced(function*({ account, chatId, ids }: RedactedMessages, now: Date) {
      const files = yield* sql<{ blob: string | null; is_saved: boolean }>`
        with gone as (
          delete from archive_file where ${mine(account)} and chat_id = ${chatId} and message_id = any(${ids}::bigint[])
          returning account_id, chat_id, 0 as pages, 0 as messages, (state = 'saved')::integer as files, 0 as bytes,
            blob_id
        ), ${lost(sql, account.organizationId)}
        select blob_id::text as blob, files = 1 as is_saved from gone`
      const blobs = files.flatMap(({ blob }) => blob === null ? [] : [blob])
      if (blobs.length > 0) yield* post(sql`with ${shredded(sql, account, blobs, now)} select 1`)
      return files.filter(({ is_saved }) => is_saved).length
    })

    /** A keyed digest of a content lets guesses be tried: a number takes its place, shorter than every mark. */
    const forgetMarks = (messages: RedactedMessages) =>
      post(sql`
        update archive_change set mark = int8send(marked.place)
        from (
          select message_id, kind, edit_date, mark, row_number() over (order by mark) as place from archive_change
          where ${inChat(messages)} and message_id = any(${messages.ids}::bigint[]) and length(mark) > 8
        ) as marked
        where ${inChat(messages)} and archive_change.message_id = marked.message_id
          and archive_change.kind = marked.kind and archive_change.edit_date = marked.edit_date
          and archive_change.mark = marked.mark`)

    return ArchiveRedactions.of({
      lock: (account) => holdArchive(sql, account),

      places: (messages, bytes) =>
        list(messages, found(messages), sql`sum(bytes) over near <= ${bytes} or row_number() over near = 1`),

      frames: (messages, numbers) =>
        Effect.map(
          list(
            messages,
            sql`select * from (${found(messages)}) as place where number = any(${numbers}::bigint[])`,
            sql`true`
          ),
          (all) => all.flatMap((place) => place.sealed === null ? [] : [{ ...place, sealed: place.sealed }])
        ),

      numbers: (messages) =>
        Effect.map(
          list(messages, found(messages), sql`false`),
          (all) => all.map(({ day, number }) => ({ day, number }))
        ),

      newId: Effect.map(random.uuidV7(), (id) => RedactionId.make(id)),

      replace: Effect.fnUntraced(function*(id, messages, rewritten) {
        const pages = rewritten.filter(({ isPage }) => isPage)
        const rows = rewritten.filter(({ isPage }) => !isPage)
        if (pages.length > 0) {
          yield* post(dropWords(sql, messages.account, pages.map(({ number }) => number)))
          yield* replacePages(id, messages, pages)
        }
        if (rows.length > 0) yield* replaceTail(messages, rows)
      }, Effect.orDie),

      finish: Effect.fnUntraced(function*(messages, now) {
        const { account, chatId, ids } = messages
        const files = yield* deleteFiles(messages, now)
        yield* forgetMarks(messages)
        const marked = yield* sql`
          insert into archive_change (organization_id, account_id, chat_id, message_id, kind, edit_date, mark, at)
          select ${account.organizationId}, ${account.accountId}::uuid, ${chatId}::bigint, id, 'redacted', 0, '', ${now}
          from unnest(${ids}::bigint[]) as asked (id)
          on conflict do nothing returning 1`
        return { messages: marked.length, files }
      }, Effect.orDie)
    })
  })
)
