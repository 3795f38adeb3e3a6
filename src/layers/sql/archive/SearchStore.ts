/** The blocks and pages that a search of the archive reads, in SQL. */
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { AccountId } from "../../../domain/accounts/Account.ts"
import { decodeIds } from "../../../domain/archive/MessageIds.ts"
import { isShared } from "../../../domain/archive/PageRules.ts"
import {
  type ListPosition,
  type ListStamps,
  type SearchPage,
  type SearchScope,
  SearchStore
} from "../../../ports/archive/SearchStore.ts"
import { Db } from "../../../ports/Db.ts"
import { reachOf } from "./ChatOrder.ts"
import { isSearched, sentFrom, sentTo } from "./LoosePages.ts"

interface PageRow {
  readonly account_id: AccountId
  readonly chat: string
  readonly number: string
  readonly place_day: string
  readonly kind: "messages" | "changes"
  readonly first_at: Date
  readonly last_at: Date
  readonly messages: number
}

interface SealedRow extends PageRow {
  readonly sealed: Uint8Array
  /** Of a page; null of a row of the tail, whose one message `tail` names. */
  readonly ids: Uint8Array | null
  readonly tail: string
}

interface BlockRow {
  readonly account_id: AccountId
  readonly block: string
  readonly first_at: Date
  readonly last_at: Date
  readonly epoch: string
  readonly fold: number
  readonly pages: ReadonlyArray<number>
  readonly sealed: Uint8Array
}

/** Unix seconds, with their milliseconds. */
const secondsOf = (at: Date): number => at.getTime() / 1000
const dateOf = (seconds: number): Date => new Date(Math.round(seconds * 1000))

const pageOf = (row: PageRow): SearchPage => ({
  accountId: row.account_id,
  chatId: BigInt(row.chat),
  number: BigInt(row.number),
  day: row.place_day,
  kind: row.kind,
  firstAt: secondsOf(row.first_at),
  lastAt: secondsOf(row.last_at),
  messages: row.messages,
  shared: isShared(BigInt(row.chat))
})

const sealedOf = (row: SealedRow) => ({
  page: pageOf(row),
  ids: row.kind === "changes" ? [] : row.ids === null ? [BigInt(row.tail)] : decodeIds(row.ids),
  sealed: row.sealed
})

const keyOf = ({ accountId, number }: Pick<SearchPage, "accountId" | "number">) => `${accountId}/${number}`

/** Reading of pages, rows of the tail and vocabularies; each method is a read of its own. */
export const layer = Layer.effect(
  SearchStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const db = yield* Db

    /** A statement's rows, read as the organization. */
    const read = <Row, A>(
      { organizationId }: SearchScope,
      rows: Statement.Statement<Row>,
      of: (row: Row) => A
    ) => db.read(organizationId, Effect.map(Effect.orDie(rows), (found) => found.map(of)))

    const ofAccounts = ({ accountIds, organizationId }: SearchScope) =>
      sql`organization_id = ${organizationId} and account_id = any(${accountIds}::uuid[])`

    const columns = sql.literal(
      "account_id, chat_id::text as chat, number::text as number, to_char(day, 'YYYY-MM-DD') as place_day, kind, " +
        "first_at, last_at, messages"
    )
    const looseRow = sql.literal("account_id, chat_id, page_id as number, day, kind, first_at, last_at, messages")
    const times = (first: string, last: string) =>
      sql.literal(`${sentFrom(first)} as first_at, ${sentTo(last)} as last_at`)
    const pageRow = sql`account_id, chat_id, page_id as number, day, kind, ${times("first_at", "last_at")}, messages`
    const tailRow = sql`account_id, chat_id, tail_id as number, day, kind, ${times("at", "at")},
      (kind = 'messages')::integer as messages`

    const beyond = (after: ListPosition | null, time: string, number: string) =>
      after === null
        ? sql`true`
        : sql`(${sql.literal(time)}, ${sql.literal(number)}) < (${
          dateOf(after.lastAt)
        }::timestamptz, ${after.number}::bigint)`

    const sought = (scope: SearchScope, below: number, first: string, last: string) =>
      sql.and([
        sql`${sql.literal(first)} <= ${dateOf(below)}::timestamptz`,
        ...(scope.chatIds === null ? [] : [sql`chat_id = any(${scope.chatIds}::bigint[])`]),
        ...(scope.since === null ? [] : [sql`${sql.literal(last)} >= ${dateOf(scope.since)}::timestamptz`])
      ])

    const inScope = (scope: SearchScope, below: number, first: string, last: string) =>
      sql.and([ofAccounts(scope), sql.literal(isSearched), sought(scope, below, sentFrom(first), sentTo(last))])

    return SearchStore.of({
      stamps: (scope) =>
        read(
          scope,
          sql<ListStamps>`
            select
              (select concat(count(*), ' ', max(block_id)) from archive_block where ${ofAccounts(scope)}) as blocks,
              (select concat(max(page_id)) from archive_loose where ${ofAccounts(scope)}) as loose`,
          (stamps) => stamps
        ).pipe(Effect.map(([stamps]) => stamps ?? { blocks: "", loose: "" })),

      blocks: (scope, below, after, limit, part) => {
        const sealed = part === undefined
          ? sql`sealed`
          : sql`case when block_id = any(${part.known}::bigint[]) then '' else sealed end`
        return read(
          scope,
          // The sizes are known without the bytes, which are read of those alone that are answered.
          sql<BlockRow>`
            select account_id, block_id::text as block, first_at, last_at, epoch_id::text as epoch, fold, pages,
              ${sealed} as sealed
            from (
              select *, sum(size) over (order by last_at desc, block_id desc) - size as before
              from (
                select *, octet_length(${sealed}) as size from archive_block
                where ${ofAccounts(scope)} and first_at <= ${dateOf(below)} and ${beyond(after, "last_at", "block_id")}
                  and ${scope.since === null ? sql`true` : sql`last_at >= ${dateOf(scope.since)}::timestamptz`}
                order by last_at desc, block_id desc limit ${sql.literal(String(limit))}
              ) as listed
            ) as summed
            where ${part === undefined ? sql`true` : sql`before < ${part.bytes}`}
            order by last_at desc, block_id desc`,
          (row) => ({
            accountId: row.account_id,
            blockId: BigInt(row.block),
            firstAt: secondsOf(row.first_at),
            lastAt: secondsOf(row.last_at),
            epochId: BigInt(row.epoch),
            fold: row.fold,
            pages: row.pages.map(BigInt),
            sealed: row.sealed
          })
        )
      },

      loose: (scope, below, after, limit) => {
        const count = sql.literal(String(limit))
        return read(
          scope,
          sql<PageRow>`
            select ${columns} from (
              (select ${looseRow} from unnest(${scope.accountIds}::uuid[]) as scoped (id) cross join lateral (
                  select * from archive_loose
                  where organization_id = ${scope.organizationId} and account_id = scoped.id
                    and ${sought(scope, below, "first_at", "last_at")} and ${beyond(after, "last_at", "page_id")}
                  order by last_at desc, page_id desc limit ${count}
                ) as newest
                order by last_at desc, page_id desc limit ${count})
              union all
              (select ${tailRow} from archive_tail
                where ${inScope(scope, below, "at", "at")} and ${beyond(after, sentTo("at"), "tail_id")}
                order by ${sql.literal(sentTo("at"))} desc, tail_id desc limit ${count})
            ) as found
            order by found.last_at desc, found.number desc limit ${count}`,
          pageOf
        )
      },

      pages: (scope, named, below) =>
        read(
          scope,
          sql<PageRow>`
            select ${columns} from (
              select ${pageRow} from unnest(
                ${named.map(({ accountId }) => accountId)}::uuid[], ${named.map(({ number }) => number)}::bigint[]
              ) as wanted (owner, page)
              join archive_page on organization_id = ${scope.organizationId} and account_id = owner and page_id = page
              where ${inScope(scope, below, "first_at", "last_at")}
            ) as found
            order by found.last_at desc, found.number desc`,
          pageOf
        ),

      sealed: (scope, pages) => {
        const wanted = sql`(
          select * from unnest(
            ${pages.map(({ accountId }) => accountId)}::uuid[], ${pages.map(({ number }) => number)}::bigint[]
          ) as wanted (account_id, number)
        )`
        return read(
          scope,
          sql<SealedRow>`
            select ${columns}, sealed, ids, tail::text as tail from (
              select ${pageRow}, sealed, ids, last_id as tail from archive_page
              where ${ofAccounts(scope)} and (account_id, page_id) in ${wanted}
              union all
              select ${tailRow}, sealed, null, message_id from archive_tail
              where ${ofAccounts(scope)} and (account_id, tail_id) in ${wanted}
            ) as found`,
          sealedOf
        ).pipe(Effect.map((found) => {
          const known = new Map(found.map((each) => [keyOf(each.page), each]))
          return pages.flatMap((page) => known.get(keyOf(page)) ?? [])
        }))
      },

      messages: (scope, accountId, chatId, messageIds) => {
        const ofChat = sql`${ofAccounts(scope)} and account_id = ${accountId} and chat_id = ${chatId}
          and kind = 'messages'`
        const inTime = (first: string, last: string) =>
          sql.and([
            scope.since === null ? sql`true` : sql`${sql.literal(last)} >= ${dateOf(scope.since)}::timestamptz`,
            scope.until === null ? sql`true` : sql`${sql.literal(first)} < ${dateOf(scope.until)}::timestamptz`
          ])
        const asked = sql`unnest(${messageIds}::bigint[]) as asked (message)`
        const wanted = new Set(messageIds)
        return read(
          scope,
          sql<SealedRow>`
            select ${columns}, sealed, ids, tail::text as tail from (
              select ${pageRow}, sealed, ids, last_id as tail from archive_page
              where ${ofAccounts(scope)} and account_id = ${accountId} and page_id in (
                select holding.page_id from ${asked} cross join lateral (
                  select page_id from archive_page
                  where ${ofChat} and first_id <= message and last_id >= message
                    and last_id < ${reachOf(sql, ofChat, sql`message`)} and ${inTime("first_at", "last_at")}
                ) as holding
              )
              union all
              select ${tailRow}, sealed, null, message_id from archive_tail
              where ${ofChat} and message_id = any(${messageIds}::bigint[]) and ${inTime("at", "at")}
            ) as found`,
          sealedOf
        ).pipe(Effect.map((pages) => pages.filter(({ ids }) => ids.some((id) => wanted.has(id)))))
      }
    })
  })
)
