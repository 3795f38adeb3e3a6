import { Duration, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { decodeIds } from "../../../domain/archive/MessageIds.ts"
import { safeExpiry } from "../../../domain/Limits.ts"
import { CaptureStore, type ExpiringMessage, type MessagesRead } from "../../../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import type { BoxState } from "../../../ports/messenger/MessengerArchive.ts"
import { Vault } from "../../crypto/Vault.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { capturedChat, type CapturedRow, promisesOf } from "./CapturedRows.ts"
import { countChats, countRules } from "./ChatCounts.ts"
import { sealTitle } from "./CurrentChat.ts"

/** A chat with no more messages is small: five pages read all of it. */
const smallChat = 500

/** The seconds after which the first of the messages disappears. */
const shortest = (messages: ReadonlyArray<ExpiringMessage>): number =>
  Math.min(...messages.map(({ expiresAt, sentAt }) => Math.ceil((expiresAt.getTime() - sentAt.getTime()) / 1000)))

interface IdsRow {
  readonly chat: string
  readonly ids: Uint8Array
}

/** The state of capture in SQL. */
export const layer = Layer.effect(
  CaptureStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    const post = Tenant.post(sql)
    const mine = ({ accountId, organizationId }: ArchivedAccount) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId}`
    // A channel whose position was lost has none either, so that the id alone tells its box.
    const ofCommonBox = sql`chat_id > -1000000000000`

    const columns = sql.literal(
      `chat_id::text as chat, type, ref, effect, live, rule_id::text as "ruleId", stopped_by is not null as stopped,
      protected, joined_at as "joinedAt", left_at as "leftAt", migrated_to::text as migrated, position,
      covered::text as covered, edge::text as edge, floor::text as floor, floor_at as "floorAt", top_id::text as top,
      counted, reached_at as "reachedAt", unchecked_below::text as below, unchecked_to::text as down, cleaned::text as cleaned,
      last_id::text as last, refused_until as "refusedUntil", members, members_at as "membersAt"`
    )

    const chatsWhere = (account: ArchivedAccount, condition: Statement.Fragment) =>
      sql<CapturedRow>`
        select ${columns} from archive_chat where ${mine(account)} and ref is not null and ${condition}
        order by top_id desc nulls last, chat_id`.pipe(Effect.orDie, Effect.map((rows) => rows.map(capturedChat)))

    return CaptureStore.of({
      chats: (account, ids) =>
        ids?.length === 0
          ? Effect.succeed([])
          : chatsWhere(account, ids === null ? sql`true` : sql`chat_id = any(${ids}::bigint[])`),

      liveChannels: (account) => chatsWhere(account, sql`effect = 'archive' and live and not ${ofCommonBox}`),

      predecessors: (account, ids) =>
        ids.length === 0 ? Effect.succeed([]) : chatsWhere(account, sql`migrated_to = any(${ids}::bigint[])`),

      see: ({ accountId, organizationId }, chat) => {
        const seen = {
          type: chat.type,
          ref: chat.ref,
          effect: chat.effect,
          live: chat.live,
          rule_id: chat.ruleId,
          protected: chat.protected,
          joined_at: chat.joinedAt,
          migrated_to: chat.migratedTo,
          members: chat.members,
          ...promisesOf(chat)
        }
        return post(sql`
          insert into archive_chat ${
          sql.insert({ organization_id: organizationId, account_id: accountId, chat_id: chat.chatId, ...seen })
        }
          on conflict (organization_id, account_id, chat_id) do update set ${sql.update(seen)}`)
      },

      keep: (account, chat) =>
        post(sql`
          update archive_chat set ${sql.update(promisesOf(chat))}
          where ${mine(account)} and chat_id = ${chat.chatId}`),

      firstSince: Effect.fnUntraced(function*(account, ids, since) {
        if (ids.length === 0) return new Map()
        const rows = yield* sql<{ chat: string; first: string }>`
          select chat_id::text as chat, min(id)::text as first from (
            select chat_id, first_id as id from archive_page
            where ${mine(account)} and chat_id = any(${ids}::bigint[]) and kind = 'messages' and last_at >= ${since}
            union all
            select chat_id, message_id from archive_tail
            where ${mine(account)} and chat_id = any(${ids}::bigint[]) and kind = 'messages' and at >= ${since}
            union all
            select chat_id, first_id from archive_chat
            where ${mine(account)} and chat_id = any(${ids}::bigint[])
              and messages between 1 and ${sql.literal(String(smallChat))}
          ) as recent group by chat_id`
        return new Map(rows.map(({ chat, first }) => [BigInt(chat), BigInt(first)]))
      }, Effect.orDie),

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

      expect: ({ accountId, organizationId }, chatId, messages) =>
        post(sql`
          with seen as (
            update archive_chat set expires_in = ${shortest(messages)}::integer
            where ${mine({ accountId, organizationId })} and chat_id = ${chatId}
              and expires_in is distinct from ${shortest(messages)}::integer
          )
          insert into archive_expiry (organization_id, account_id, chat_id, message_id, expires_at)
          select ${organizationId}, ${accountId}::uuid, ${chatId}::bigint, message_id, expires_at
          from unnest(
            ${messages.map(({ id }) => id)}::bigint[],
            ${messages.map(({ expiresAt }) => expiresAt)}::timestamptz[]
          ) as expected (message_id, expires_at)
          on conflict (organization_id, account_id, chat_id, message_id) do update set expires_at = excluded.expires_at
          where archive_expiry.expires_at <> excluded.expires_at`),

      unsafe: (account, now) =>
        sql<{ chats: number }>`
          select count(*)::integer as chats from archive_chat
          where ${mine(account)} and effect = 'archive' and not live and stopped_by is null and left_at is null
            and expires_in < ${Duration.toSeconds(safeExpiry)}::integer and exists (
              select 1 from archive_expiry
              where ${mine(account)} and archive_expiry.chat_id = archive_chat.chat_id and expires_at > ${now})`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.chats ?? 0)
        ),

      messagesRead: (account) =>
        sql<MessagesRead>`
          select coalesce(sum(messages), 0)::float8 as done,
            coalesce(sum(greatest(counted, messages)), 0)::float8 as total, (count(*) - count(counted))::integer as uncounted
          from archive_chat
          where ${mine(account)} and ref is not null and effect = 'archive' and stopped_by is null`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row ?? { done: 0, total: 0, uncounted: 0 })
        ),

      expired: (account, chatId, ids, now) =>
        sql<{ id: string }>`
          select message_id::text as id from archive_expiry
          where ${mine(account)} and chat_id = ${chatId} and message_id = any(${ids}::bigint[])
            and expires_at <= ${now}`.pipe(
          Effect.orDie,
          Effect.map((rows) => new Set(rows.map(({ id }) => BigInt(id))))
        ),

      takeExpired: (account, now, limit) =>
        sql<{ chat: string; id: string }>`
          delete from archive_expiry where ${mine(account)} and (chat_id, message_id) in (
            select chat_id, message_id from archive_expiry where ${mine(account)} and expires_at <= ${now}
            order by expires_at limit ${sql.literal(String(limit))}
          ) returning chat_id::text as chat, message_id::text as id`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.map(({ chat, id }) => ({ chatId: BigInt(chat), id: BigInt(id) })))
        ),

      hasExpired: (account, now) =>
        Sql.exists(Effect.orDie(
          sql`select 1 from archive_expiry where ${mine(account)} and expires_at <= ${now} limit 1`
        )),

      state: (account) =>
        sql<BoxState>`
          select position, date, qts from archive_state where ${mine(account)} and position is not null`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row ?? null)
        ),

      setState: (account, { date, position, qts }, now) =>
        post(sql`
          update archive_state set position = ${position}, date = ${date}, qts = ${qts}, heard_at = ${now}
          where ${mine(account)}`),

      begin: (account, now) =>
        post(sql`
          update archive_state set archive_queued_at = null, archive_started_at = ${now}, archive_phase = 'starting',
            archive_phase_at = ${now}, archive_dialogs_before = 0, archive_messages_before = archive_messages,
            archive_bytes_before = archive_bytes, archive_dialogs_done = 0,
            archive_dialogs_total = null, archive_current_chat = null, archive_error = null, archive_retry_at = null
          where ${mine(account)}`),

      report: (account, { chat, done, phase, total }, now) => {
        const title = chat === null ? null : sealTitle(vault, account.organizationId, account.accountId, chat)
        return post(sql`
          update archive_state set archive_phase = ${phase}, archive_dialogs_done = ${done}::integer,
            archive_dialogs_total = ${total}::integer, archive_current_chat = ${title}::text,
            archive_phase_at = case when archive_phase = ${phase} then archive_phase_at else ${now} end,
            archive_dialogs_before = case when archive_phase = ${phase}
              then archive_dialogs_before else ${done}::integer end,
            archive_messages_before = case when archive_phase = ${phase}
              then archive_messages_before else archive_messages end,
            archive_bytes_before = case when archive_phase = ${phase} then archive_bytes_before else archive_bytes end
          where ${mine(account)}
            and (archive_phase, archive_dialogs_done, archive_dialogs_total, archive_current_chat)
              is distinct from (${phase}, ${done}::integer, ${total}::integer, ${title}::text)`)
      },

      count: ({ accountId, organizationId }) => {
        const account = sql`select ${accountId}::uuid`
        return Effect.all(
          [post(countChats(sql, organizationId, account)), post(countRules(sql, organizationId, account))],
          { discard: true }
        )
      },

      drift: (account, messages) =>
        post(sql`
          update archive_state set archive_drift = ${messages}::integer
          where ${mine(account)} and archive_drift <> ${messages}::integer`),

      end: (account, { askedAt, done, error, nextAt, retryAt }, now) =>
        sql<{ first: boolean; messages: string }>`
          with before as (
            select archive_last_backup_at as at from archive_state where ${mine(account)} for no key update
          )
          update archive_state set archive_started_at = null, archive_phase = null, archive_dialogs_done = 0,
            archive_dialogs_total = null, archive_phase_at = null, archive_dialogs_before = 0, archive_messages_before = 0,
            archive_bytes_before = 0, archive_current_chat = null, archive_error = ${error}, archive_retry_at = ${retryAt},
            archive_next_backup_at = ${nextAt},
            archive_queued_at = coalesce((select asked_at from archive_run where ${mine(account)}), ${askedAt}),
            archive_last_backup_at = case when ${done} then ${now} else archive_last_backup_at end
          from before where ${mine(account)}
          returning ${done} and before.at is null as first, archive_messages::text as messages`.pipe(
          Effect.orDie,
          Effect.map(([row]) => ({ isFirst: row?.first ?? false, messages: Number(row?.messages ?? 0) }))
        ),

      timeZone: (organizationId) =>
        sql<{ zone: string }>`select time_zone as zone from organization where id = ${organizationId}`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.zone ?? "UTC")
        )
    })
  })
)
