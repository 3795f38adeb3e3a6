import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../domain/accounts/Account.ts"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import { type LoosePage, SearchBlocks } from "../../../ports/archive/SearchBlocks.ts"
import { lockArchive } from "./ArchiveLocks.ts"
import { framesOf, type FramesRow } from "./ArchivePages.ts"
import { sentTo } from "./LoosePages.ts"

interface GroupRow {
  readonly account_id: AccountId
  readonly kind: "messages" | "changes"
  readonly pages: ReadonlyArray<string>
}

interface LooseRow extends FramesRow {
  readonly chat: string
  readonly kind: LoosePage["kind"]
  readonly messages: number
}

/** If the pages of one do not open, those of another may. */
const groupsPerStatement = 4

/** Vocabularies as they are stored, in SQL. */
export const layer = Layer.effect(
  SearchBlocks,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const mine = ({ accountId, organizationId }: ArchivedAccount) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId}`

    return SearchBlocks.of({
      due: (organizationId, accountIds, least, limit) =>
        sql<GroupRow>`
          select account_id, kind, (array_agg(page_id::text order by last_at desc, page_id desc))[1:${
          sql.literal(String(limit))
        }] as pages
          from archive_loose
          where organization_id = ${organizationId} and account_id = any(${accountIds}::uuid[])
          group by account_id, kind, date_trunc('quarter', last_at at time zone 'UTC')
          having count(*) >= ${least}
          order by count(*) desc, account_id limit ${groupsPerStatement}`.pipe(
          Effect.orDie,
          Effect.map((rows) =>
            rows.map(({ account_id, kind, pages }) => ({ accountId: account_id, kind, pages: pages.map(BigInt) }))
          )
        ),

      // One after the other, and in the order of the index that has each: a plan of tables that have no statistics yet would
      // go through all pages of the account.
      loose: (account, pages) =>
        sql<LooseRow>`
          select page_id::text as number, to_char(day, 'YYYY-MM-DD') as place_day, sealed, chat_id::text as chat, kind,
            messages
          from unnest(${pages}::bigint[]) as wanted (page)
          cross join lateral (
            select 1 from archive_loose where ${mine(account)} and page_id between wanted.page and wanted.page
            order by page_id limit 1) as loose
          cross join lateral (
            select * from archive_page where ${mine(account)} and page_id between wanted.page and wanted.page
            order by archive_page.page_id limit 1) as stored
          order by ${sql.literal(sentTo("last_at"))} desc, page_id desc`.pipe(
          Effect.orDie,
          Effect.map((rows) =>
            rows.map((row) => ({
              ...framesOf(row),
              chatId: BigInt(row.chat),
              kind: row.kind,
              messages: row.messages
            }))
          )
        ),

      numbers: sql<{ block: string; epoch: string }>`
        select nextval('archive_number')::text as block, nextval('archive_number')::text as epoch`.pipe(
        Effect.orDie,
        Effect.flatMap(([row]) =>
          row === undefined
            ? Effect.die(new Error("A sequence gave no number"))
            : Effect.succeed({ blockId: BigInt(row.block), epochId: BigInt(row.epoch) })
        )
      ),

      // The account's archive is locked first, as every writer does: two that index the same pages come one after the other.
      add: Effect.fnUntraced(function*(account, { blockId, epochId, fold, pages, sealed }) {
        const { accountId, organizationId } = account
        yield* lockArchive(sql, account)
        const added = yield* sql`
          with taken as (
            delete from archive_loose where ${mine(account)} and page_id = any(${pages}::bigint[])
            returning first_at, last_at
          )
          insert into archive_block (organization_id, account_id, block_id, first_at, last_at, pages, epoch_id, fold, sealed)
          select ${organizationId}, ${accountId}::uuid, ${blockId}::bigint,
            min(first_at), max(last_at), ${pages}::bigint[], ${epochId}::bigint, ${fold}::smallint, ${sealed}::bytea
          from taken having count(*) = ${pages.length} returning 1`
        return added.length > 0
      }, Effect.orDie)
    })
  })
)
