import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import { CleanupId, type StoredCleanup } from "../../../domain/archive/ArchiveCleanup.ts"
import type { Caller } from "../../../domain/people/Access.ts"
import {
  ArchiveCleanups,
  type CleanedUp,
  type RunningCleanup,
  type Watermark
} from "../../../ports/archive/ArchiveCleanups.ts"
import type { Due } from "../../../ports/Due.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { isAccessible } from "./AccessToAll.ts"
import { lockArchives } from "./ArchiveLocks.ts"
import { makeBatches } from "./CleanupBatches.ts"
import { countable } from "./CleanupMatches.ts"

type CleanupRow =
  & Omit<StoredCleanup, "bytes" | "chatIds" | "deletedBytes" | "deletedMessages" | "files" | "messages" | "pages">
  & Readonly<Record<"bytes" | "deletedBytes" | "deletedMessages" | "files" | "messages" | "pages", string>>
  & { readonly chats: number; readonly chatTexts: ReadonlyArray<string> | null }

interface MeasureRow {
  readonly page: string
  readonly tail: string
  readonly pages: string
  readonly messages: string
  readonly files: string
  readonly bytes: string
  readonly chats: number
}

const cleanupOf = ({ chatTexts, ...row }: CleanupRow): StoredCleanup => ({
  ...row,
  chatIds: chatTexts === null ? null : chatTexts.map(BigInt),
  pages: Number(row.pages),
  messages: Number(row.messages),
  files: Number(row.files),
  bytes: Number(row.bytes),
  deletedMessages: Number(row.deletedMessages),
  deletedBytes: Number(row.deletedBytes)
})

const columnTexts = `id::text as id, state, account_ids::text[] as "accountIds", chat_ids::text[] as "chatTexts",
  to_char(before, 'YYYY-MM-DD') as before, media_only as "mediaOnly", stop_saving as "stopSaving",
  pages::text as pages, messages::text as messages, files::text as files, bytes::text as bytes, chats,
  deleted_messages::text as "deletedMessages", deleted_bytes::text as "deletedBytes", not_before as "notBefore",
  expires_at as "expiresAt",
  created_by::text as "createdBy", created_at as "createdAt", confirmed_by::text as "confirmedBy",
  started_at as "startedAt", finished_at as "finishedAt", error`

/** The cleanups in SQL. Locks: cleanup → organization → archives → rows. */
export const layer = Layer.effect(
  ArchiveCleanups,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const post = Tenant.post(sql)
    const { deleteSome } = makeBatches(sql)
    const columns = sql.literal(columnTexts)

    const seenBy = (caller: Caller["Service"], id: Statement.Fragment) =>
      sql`organization_id = ${caller.organizationId} and ${id}
        and ${isAccessible(sql, caller, sql`archive_cleanup.account_ids`)}`

    const found = (caller: Caller["Service"], id: CleanupId, locking: Statement.Fragment) =>
      sql<CleanupRow>`
        select ${columns} from archive_cleanup where ${seenBy(caller, sql`id = ${id}`)} ${locking}`.pipe(
        Effect.orDie,
        Effect.map(([row]) => row === undefined ? null : cleanupOf(row))
      )

    const lockAll = (organizationId: string, ids: ReadonlyArray<string>) =>
      post(lockArchives(sql, sql`organization_id = ${organizationId} and account_id = any(${ids}::uuid[])`))

    /** Sets if a cleanup of the accounts is running, and counts their chats that cleanups have stopped. */
    const notice = (organizationId: string, ids: ReadonlyArray<string>) =>
      post(sql`
        update archive_state set archive_cleanup_running = exists (
            select 1 from archive_cleanup
            where archive_cleanup.organization_id = ${organizationId} and archive_state.account_id = any(account_ids)
              and state = 'running'),
          archive_chats_stopped = (
            select count(*) from archive_chat
            where archive_chat.organization_id = ${organizationId}
              and archive_chat.account_id = archive_state.account_id and effect = 'archive'
              and stopped_by is not null),
          archive_chats_with_data = (
            select count(*) from archive_chat
            where archive_chat.organization_id = ${organizationId}
              and archive_chat.account_id = archive_state.account_id and messages > 0)
        where organization_id = ${organizationId} and account_id = any(${ids}::uuid[])`)

    return ArchiveCleanups.of({
      measure: Effect.fnUntraced(function*(organizationId, criteria) {
        yield* lockAll(organizationId, criteria.accountIds)
        const watermark: Record<string, Watermark[string]> = {}
        const sums = { pages: 0, messages: 0, files: 0, bytes: 0, chats: 0 }
        for (const accountId of criteria.accountIds) {
          const mine = sql`organization_id = ${organizationId} and account_id = ${accountId}`
          const [row] = yield* sql<MeasureRow>`
            with counted as (${countable(sql, { organizationId, accountId }, criteria)})
            select coalesce((select max(page_id) from archive_page where ${mine}), 0)::text as page,
              coalesce((select max(tail_id) from archive_tail where ${mine}), 0)::text as tail,
              coalesce(sum(pages), 0)::text as pages, coalesce(sum(messages), 0)::text as messages,
              coalesce(sum(files), 0)::text as files,
              coalesce(sum(bytes), 0)::text as bytes,
              count(distinct chat_id) filter (where messages + files > 0)::integer as chats
            from counted`
          if (row === undefined) continue
          watermark[accountId] = { page: row.page, tail: row.tail }
          sums.pages += Number(row.pages)
          sums.messages += Number(row.messages)
          sums.files += Number(row.files)
          sums.bytes += Number(row.bytes)
          sums.chats += row.chats
        }
        return { ...sums, watermark }
      }, Effect.orDie),

      add: Effect.fnUntraced(function*(organizationId, cleanup, mark) {
        const id = CleanupId.make(yield* random.uuidV7())
        yield* post(sql`
          insert into archive_cleanup (organization_id, id, state, account_ids, chat_ids, before, media_only, stop_saving,
            pages, messages, files, bytes, chats, watermark, not_before, expires_at, created_by, created_at)
          values (${organizationId}, ${id}, ${cleanup.state}, ${cleanup.accountIds}::uuid[],
            ${cleanup.chatIds}::bigint[], ${cleanup.before}::date, ${cleanup.mediaOnly}, ${cleanup.stopSaving},
            ${cleanup.pages}::bigint, ${cleanup.messages}::bigint, ${cleanup.files}::bigint, ${cleanup.bytes}::bigint,
            ${cleanup.chats}, ${
          JSON.stringify(mark)
        }::jsonb, ${cleanup.notBefore}, ${cleanup.expiresAt}, ${cleanup.createdBy}::uuid, ${cleanup.createdAt})`)
        return id
      }, Effect.orDie),

      list: Effect.fnUntraced(function*(caller, { after, limit, state }, now) {
        const [cursor] = after === undefined ? [] : yield* sql`
          select 1 from archive_cleanup where ${seenBy(caller, sql`id = ${after}`)}`
        if (after !== undefined && cursor === undefined) return null
        const shown = sql`(case when state = 'previewed' and expires_at <= ${now} then 'expired' else state end)`
        const rows = yield* sql<CleanupRow>`
          select ${columns} from archive_cleanup
          where ${seenBy(caller, after === undefined ? sql`true` : sql`id < ${after}`)}
            and ${state === undefined ? sql`true` : sql`${shown} = ${state}`}
          order by archive_cleanup.id desc limit ${sql.literal(String(limit + 1))}`
        return rows.map(cleanupOf)
      }, Effect.orDie),

      find: (caller, id) => found(caller, id, sql``),

      lock: (caller, id) => found(caller, id, sql`for update`),

      confirm: Effect.fnUntraced(function*(organizationId, cleanup, by) {
        yield* post(sql`
          update archive_cleanup set state = 'queued', confirmed_by = ${by}::uuid
          where organization_id = ${organizationId} and id = ${cleanup.id}`)
        if (!cleanup.stopSaving) return
        yield* lockAll(organizationId, cleanup.accountIds)
        yield* post(sql`
          update archive_chat set stopped_by = ${cleanup.id}::uuid
          where organization_id = ${organizationId} and account_id = any(${cleanup.accountIds}::uuid[])
            and (${cleanup.chatIds}::bigint[] is null or chat_id = any(${cleanup.chatIds}::bigint[]))
            and stopped_by is null`)
        yield* notice(organizationId, cleanup.accountIds)
      }, Effect.orDie),

      end: Effect.fnUntraced(function*(organizationId, cleanup, state, error, now) {
        const [sums] = yield* sql<Readonly<Record<keyof CleanedUp, string>>>`
          update archive_cleanup set state = ${state}, error = ${error}, finished_at = ${now}
          where organization_id = ${organizationId} and id = ${cleanup.id}
          returning deleted_pages::text as pages, deleted_messages::text as messages, deleted_files::text as files,
            deleted_bytes::text as bytes`
        if (state !== "expired") {
          yield* lockAll(organizationId, cleanup.accountIds)
          if (state !== "done") {
            yield* post(sql`
              with others as materialized (
                select id, chat_ids, account_ids, created_at from archive_cleanup
                where organization_id = ${organizationId} and stop_saving and state in ('queued', 'running', 'done')
                  and account_ids && ${cleanup.accountIds}::uuid[]
              )
              update archive_chat set stopped_by = (
                select others.id from others
                where archive_chat.account_id = any(others.account_ids)
                  and (others.chat_ids is null or archive_chat.chat_id = any(others.chat_ids))
                  and not exists (
                    select 1 from archive_rule as rule
                    where rule.organization_id = archive_chat.organization_id and rule.level = 'account'
                      and rule.target = archive_chat.account_id and rule.chat_id = archive_chat.chat_id
                      and rule.effect = 'archive' and rule.updated_at > others.created_at)
                order by others.id limit 1)
              where organization_id = ${organizationId} and account_id = any(${cleanup.accountIds}::uuid[])
                and stopped_by = ${cleanup.id}::uuid`)
          }
          yield* notice(organizationId, cleanup.accountIds)
        }
        return {
          pages: Number(sums?.pages ?? 0),
          messages: Number(sums?.messages ?? 0),
          files: Number(sums?.files ?? 0),
          bytes: Number(sums?.bytes ?? 0)
        }
      }, Effect.orDie),

      due: (now, limit) =>
        Tenant.directory(sql)(sql<Due>`
          with ranked as (
            select organization_id, id, coalesce(not_before, created_at) as since,
              row_number() over (partition by organization_id order by state = 'running' desc, id) as place
            from archive_cleanup
            where state in ('previewed', 'queued', 'running') and (state <> 'previewed' or expires_at <= ${now})
              and coalesce(not_before, created_at) <= ${now}
          )
          select organization_id as "organizationId", id from ranked
          order by place, since limit ${sql.literal(String(limit))}`),

      take: Effect.fnUntraced(function*(organizationId, id, now) {
        const [row] = yield* sql<CleanupRow & { readonly watermark: Watermark; readonly emptied: number }>`
          select ${columns}, watermark, emptied from archive_cleanup
          where organization_id = ${organizationId} and id = ${id} and state in ('previewed', 'queued', 'running')
            and (not_before is null or not_before <= ${now})
            and (state <> 'queued' or not exists (
              select 1 from archive_cleanup as other
              where other.organization_id = ${organizationId} and other.account_ids && archive_cleanup.account_ids
                and (other.state = 'running' or other.state = 'queued' and other.id < archive_cleanup.id
                  and (other.not_before is null or other.not_before <= ${now}))))
          for update skip locked`
        if (row === undefined) return null
        const { emptied, watermark, ...cleanup } = row
        return { ...cleanupOf(cleanup), organizationId, watermark, emptied } satisfies RunningCleanup
      }, Effect.orDie),

      begin: Effect.fnUntraced(function*({ accountIds, id, organizationId, watermark, ...counts }, now) {
        yield* post(sql`
          update archive_cleanup set state = 'running', started_at = ${now}, account_ids = ${accountIds}::uuid[],
            watermark = ${
          JSON.stringify(watermark)
        }::jsonb, pages = ${counts.pages}::bigint, messages = ${counts.messages}::bigint,
            files = ${counts.files}::bigint, bytes = ${counts.bytes}::bigint, chats = ${counts.chats}
          where organization_id = ${organizationId} and id = ${id}`)
        yield* lockAll(organizationId, accountIds)
        yield* notice(organizationId, accountIds)
      }, Effect.orDie),

      deleteSome: (cleanup, limit, now) => Effect.orDie(deleteSome(cleanup, limit, now))
    })
  })
)
