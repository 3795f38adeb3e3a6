import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../domain/accounts/Account.ts"
import type { ArchiveTotals } from "../../../domain/archive/ArchiveAccount.ts"
import type { StoredChat } from "../../../domain/archive/Chat.ts"
import { ArchiveChats, type SealedChat } from "../../../ports/archive/ArchiveChats.ts"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { framesOf, type FramesRow } from "./ArchivePages.ts"

interface ChatRow extends Omit<StoredChat, "chatId" | "migratedTo"> {
  readonly chat: string
  readonly migrated: string | null
  readonly number: string | null
  readonly place_day: string | null
  readonly sealed: Uint8Array | null
}

const chatOf = ({ chat, migrated, number, place_day, sealed, ...row }: ChatRow): SealedChat => ({
  ...row,
  chatId: BigInt(chat),
  migratedTo: migrated === null ? null : BigInt(migrated),
  info: number === null || place_day === null || sealed === null ? null : framesOf({ number, place_day, sealed })
})

/** The chats in SQL. */
export const layer = Layer.effect(
  ArchiveChats,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)

    const mine = ({ accountId, organizationId }: ArchivedAccount) =>
      sql`archive_chat.organization_id = ${organizationId} and archive_chat.account_id = ${accountId}`
    const one = (account: ArchivedAccount, chatId: bigint) => sql`${mine(account)} and archive_chat.chat_id = ${chatId}`

    const columns = sql.literal(
      `archive_chat.chat_id::text as chat, type, effect, complete, archive_chat.messages, files,
      archive_chat.first_at as "firstAt", archive_chat.last_at as "lastAt", left_at as "leftAt",
      case when edge is not null then reached_at end as "completeBackTo", protected, migrated_to::text as migrated`
    )
    const page = sql.literal("page_id::text as number, to_char(day, 'YYYY-MM-DD') as place_day, sealed")
    /** The page that a chat names. */
    const pageOf = (name: "info_page" | "members_page") =>
      sql.literal(`lateral (
        select page_id, day, sealed from archive_page where archive_page.organization_id = archive_chat.organization_id
          and archive_page.account_id = archive_chat.account_id and archive_page.page_id = archive_chat.${name} limit 1)`)

    const some = (account: ArchivedAccount, chatIds: ReadonlyArray<bigint>) =>
      sql<ChatRow>`
        select ${columns}, ${page} from archive_chat left join ${pageOf("info_page")} as page on true
        where ${mine(account)} and archive_chat.chat_id = any(${chatIds}::bigint[])`.pipe(
        Effect.orDie,
        Effect.map((rows) => rows.map(chatOf))
      )

    return ArchiveChats.of({
      list: Effect.fnUntraced(function*(account, { after, limit, selected, type }) {
        const [cursor] = after === undefined ? [] : yield* sql<{ last_at: Date | null }>`
          select last_at from archive_chat where ${one(account, after)}`
        if (after !== undefined && cursor === undefined) return null
        const further = after === undefined || cursor === undefined
          ? sql`true`
          : cursor.last_at === null
          ? sql`last_at is null and archive_chat.chat_id > ${after}`
          : sql`(last_at < ${cursor.last_at} or last_at is null
              or last_at = ${cursor.last_at} and archive_chat.chat_id > ${after})`
        const conditions = sql.and([
          mine(account),
          further,
          ...(type === undefined ? [] : [sql`type = ${type}`]),
          ...(selected === undefined ? [] : [selected ? sql`effect = 'archive'` : sql`effect <> 'archive'`])
        ])
        const rows = yield* sql<ChatRow>`
          select ${columns}, ${page} from (
            select * from archive_chat where ${conditions}
            order by last_at desc nulls last, chat_id limit ${sql.literal(String(limit + 1))}
          ) as archive_chat
          left join ${pageOf("info_page")} as page on true
          order by archive_chat.last_at desc nulls last, archive_chat.chat_id`
        return rows.map(chatOf)
      }, Effect.orDie),

      find: (account, chatId) => Effect.map(some(account, [chatId]), ([chat]) => chat ?? null),

      some,

      known: (account, chatIds) =>
        sql<{ known: number }>`
          select count(*)::integer as known from archive_chat
          where ${mine(account)} and chat_id = any(${chatIds}::bigint[])`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.known ?? 0)
        ),

      members: (account, chatId) =>
        sql<FramesRow>`
          select ${page} from archive_chat cross join ${pageOf("members_page")} as page where ${one(account, chatId)}`
          .pipe(
            Effect.orDie,
            Effect.map(([row]) => row === undefined ? null : framesOf(row))
          ),

      totals: (organizationId, accountIds) =>
        sql<ArchiveTotals & { readonly id: AccountId }>`
          select account_id as id, count(*) filter (where messages > 0) as chats, sum(messages)::bigint as messages,
            sum(files)::bigint as files, min(first_at) as "firstAt", max(last_at) as "lastAt"
          from archive_chat
          where organization_id = ${organizationId} and account_id = any(${accountIds}::uuid[])
          group by account_id`.pipe(
          Effect.orDie,
          Effect.map((rows) => new Map(rows.map(({ id, ...totals }) => [id, totals])))
        ),

      see: ({ accountId, organizationId }, chatId, type, leftAt) =>
        post(sql`
          insert into archive_chat ${
          sql.insert({ organization_id: organizationId, account_id: accountId, chat_id: chatId, type, left_at: leftAt })
        }
          on conflict (organization_id, account_id, chat_id)
          do update set type = excluded.type, left_at = excluded.left_at
          where (archive_chat.type, archive_chat.left_at) is distinct from (excluded.type, excluded.left_at)`),

      describe: (account, chatId, what, number) =>
        post(sql`
          update archive_chat set ${sql(what === "chat" ? "info_page" : "members_page")} = ${number}
          where ${one(account, chatId)}`),

      setComplete: (account, chatId, complete) =>
        post(sql`update archive_chat set complete = ${complete} where ${one(account, chatId)}`)
    })
  })
)
