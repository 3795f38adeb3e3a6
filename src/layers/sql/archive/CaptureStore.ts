import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { isComplete } from "../../../domain/archive/ChatProgress.ts"
import { formatRanges, parseRanges } from "../../../domain/archive/CoveredRanges.ts"
import { decodeIds } from "../../../domain/archive/MessageIds.ts"
import { type CapturedChat, CaptureStore } from "../../../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import type { BoxState } from "../../../ports/messenger/MessengerArchive.ts"
import * as Tenant from "../../postgres/Tenant.ts"

interface ChatRow extends
  Pick<
    CapturedChat,
    "effect" | "live" | "position" | "ref" | "refusedUntil" | "stopped" | "type"
  >
{
  readonly chat: string
  readonly covered: string
  readonly edge: string | null
  readonly floor: string | null
  readonly top: string | null
  readonly last: string | null
}

const bigintOf = (text: string | null): bigint | null => text === null ? null : BigInt(text)

const chatOf = ({ chat, covered, edge, floor, last, top, ...row }: ChatRow): CapturedChat => ({
  ...row,
  chatId: BigInt(chat),
  lastId: bigintOf(last),
  progress: {
    covered: parseRanges(covered),
    edge: bigintOf(edge),
    floor: bigintOf(floor),
    topId: bigintOf(top)
  }
})

interface IdsRow {
  readonly chat: string
  readonly ids: Uint8Array
}

/** The state of capture in SQL. */
export const layer = Layer.effect(
  CaptureStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const mine = ({ accountId, organizationId }: ArchivedAccount) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId}`
    const one = (account: ArchivedAccount, chatId: bigint) => sql`${mine(account)} and chat_id = ${chatId}`
    // A channel whose position was lost has none either, so that the id alone tells its box.
    const ofCommonBox = sql`chat_id > -1000000000000`
    const theAccount = ({ accountId, organizationId }: ArchivedAccount) =>
      sql`organization_id = ${organizationId} and id = ${accountId}`

    return CaptureStore.of({
      chats: (account, ids) =>
        sql<ChatRow>`
          select chat_id::text as chat, type, ref, effect, live, stopped_by is not null as stopped, position,
            covered::text as covered, edge::text as edge, floor::text as floor, top_id::text as top,
            last_id::text as last, refused_until as "refusedUntil"
          from archive_chat
          where ${mine(account)} and ref is not null and ${
          ids === null ? sql`true` : sql`chat_id = any(${ids}::bigint[])`
        }
          order by top_id desc nulls last, chat_id`.pipe(Effect.orDie, Effect.map((rows) => rows.map(chatOf))),

      // After joining again nothing that was promised of the chat's ends holds: history was shown or hidden meanwhile.
      see: ({ accountId, organizationId }, chat, selection) =>
        post(sql`
          insert into archive_chat ${
          sql.insert({
            organization_id: organizationId,
            account_id: accountId,
            chat_id: chat.chatId,
            type: chat.type,
            ref: chat.ref,
            left_at: null,
            effect: selection.effect,
            live: selection.live,
            rule_id: selection.ruleId,
            joined_at: chat.joinedAt,
            position: chat.position,
            protected: chat.protected,
            migrated_to: chat.migratedTo,
            top_id: chat.topId
          })
        }
          on conflict (organization_id, account_id, chat_id) do update set type = excluded.type, ref = excluded.ref,
            effect = excluded.effect, live = excluded.live, rule_id = excluded.rule_id,
            protected = excluded.protected, migrated_to = excluded.migrated_to,
            top_id = greatest(archive_chat.top_id, excluded.top_id), joined_at = excluded.joined_at,
            position = coalesce(archive_chat.position, excluded.position),
            edge = case when archive_chat.joined_at is distinct from excluded.joined_at
              or archive_chat.effect is distinct from excluded.effect then null else archive_chat.edge end,
            floor = case when archive_chat.joined_at is distinct from excluded.joined_at
              then null else archive_chat.floor end`),

      promise: (account, chatId, progress, floorAt) =>
        post(sql`
          update archive_chat set covered = ${formatRanges(progress.covered)}::int8multirange,
            edge = ${progress.edge}::bigint, floor = ${progress.floor}::bigint, top_id = ${progress.topId}::bigint,
            floor_at = coalesce(${floorAt}::timestamptz, floor_at), complete = ${isComplete(progress)}
          where ${one(account, chatId)}`),

      setPosition: (account, chatId, position) =>
        post(sql`update archive_chat set position = ${position}::integer where ${one(account, chatId)}`),

      refuse: (account, chatId, until) =>
        post(sql`
          update archive_chat set refused_until = ${until}, position = null, edge = null
          where ${one(account, chatId)}`),

      breakEdges: (account) => post(sql`update archive_chat set edge = null where ${mine(account)} and ${ofCommonBox}`),

      chatsOf: Effect.fnUntraced(function*(account, ids) {
        const wanted = new Set(ids)
        const low = ids.reduce((least, id) => id < least ? id : least)
        const high = ids.reduce((most, id) => id > most ? id : most)
        const shared = sql`${mine(account)} and kind = 'messages' and chat_id in (
          select chat_id from archive_chat where ${mine(account)} and ${ofCommonBox})`
        const pages = yield* sql<IdsRow>`
          select chat_id::text as chat, ids from archive_page
          where ${shared} and last_id >= ${low} and first_id <= ${high}`
        const tail = yield* sql<{ chat: string; message: string }>`
          select chat_id::text as chat, message_id::text as message from archive_tail
          where ${shared} and message_id = any(${ids}::bigint[])`
        const found = new Map<string, Set<bigint>>()
        const note = (chat: string, id: bigint) => {
          const known = found.get(chat) ?? new Set()
          found.set(chat, known.add(id))
        }
        for (const { chat, message } of tail) note(chat, BigInt(message))
        for (const { chat, ids } of pages) {
          for (const id of decodeIds(ids)) if (wanted.has(id)) note(chat, id)
        }
        return [...found].map(([chat, ids]) => ({ chatId: BigInt(chat), ids: [...ids] }))
      }, Effect.orDie),

      state: (account) =>
        sql<BoxState>`select position, date, qts from archive_state where ${mine(account)}`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row ?? null)
        ),

      setState: ({ accountId, organizationId }, { date, position, qts }, now) =>
        post(sql`
          insert into archive_state (organization_id, account_id, position, date, qts, heard_at)
          values (${organizationId}, ${accountId}, ${position}, ${date}, ${qts}, ${now})
          on conflict (organization_id, account_id) do update set position = excluded.position, date = excluded.date,
            qts = excluded.qts, heard_at = excluded.heard_at`),

      begin: (account, now) =>
        post(sql`
          update account set archive_queued_at = null, archive_started_at = ${now}, archive_phase = 'starting',
            archive_dialogs_done = 0, archive_dialogs_total = null, archive_error = null, archive_retry_at = null
          where ${theAccount(account)}`),

      report: (account, { done, phase, total }) =>
        post(sql`
          update account set archive_phase = ${phase}, archive_dialogs_done = ${done}::integer,
            archive_dialogs_total = ${total}::integer
          where ${theAccount(account)}
            and (archive_phase, archive_dialogs_done, archive_dialogs_total)
              is distinct from (${phase}, ${done}::integer, ${total}::integer)`),

      count: (account) =>
        post(sql`
          update account set archive_chats_discovered = counted.discovered, archive_chats_selected = counted.selected,
            archive_chats_with_data = counted.filled, archive_chats_complete = counted.complete,
            archive_chats_review = counted.review, archive_chats_stopped = counted.stopped,
            archive_live = counted.live, archive_selects = counted.selected > 0
          from (
            select count(ref) as seen, count(*) as discovered, count(*) filter (where effect = 'archive') as selected,
              count(*) filter (where messages > 0) as filled, count(*) filter (where complete) as complete,
              count(*) filter (where effect = 'review') as review,
              count(*) filter (where effect = 'archive' and stopped_by is not null) as stopped,
              coalesce(bool_or(live and effect = 'archive'), false) as live
            from archive_chat where ${mine(account)}
          ) as counted
          where ${theAccount(account)} and counted.seen > 0`),

      end: (account, { done, error, nextAt, retryAt }, now) =>
        post(sql`
          update account set archive_started_at = null, archive_phase = null, archive_dialogs_done = 0,
            archive_dialogs_total = null, archive_current_chat = null, archive_error = ${error},
            archive_retry_at = ${retryAt}, archive_next_backup_at = ${nextAt},
            archive_last_backup_at = case when ${done} then ${now} else archive_last_backup_at end
          where ${theAccount(account)}`)
    })
  })
)
