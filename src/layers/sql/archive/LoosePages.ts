/** Pages that no vocabulary indexes, in SQL. */
import type { SqlClient } from "effect/sql"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"

/** The columns of a loose page, as pages have them too. */
export const looseColumns = "organization_id, account_id, page_id, chat_id, day, kind, first_at, last_at, messages"

/** The statement part `loose`: the pages that `from` has with these columns are without a vocabulary. */
export const loosened = (sql: SqlClient.SqlClient, from: string) =>
  sql`loose as (
    insert into archive_loose (${sql.literal(looseColumns)})
    select ${sql.literal(looseColumns)} from ${sql.literal(from)} where kind in ('messages', 'changes')
  )`

/**
 * Takes pages that go out of the lists of searches, with the vocabularies that have their words: the other pages of these
 * are loose until a reader indexes them again.
 */
export const dropWords = (
  sql: SqlClient.SqlClient,
  { accountId, organizationId }: ArchivedAccount,
  pages: ReadonlyArray<bigint | string>
) => {
  const mine = sql`organization_id = ${organizationId} and account_id = ${accountId}`
  return sql`
    with gone as materialized (
      select min(last_at) as first_at, max(last_at) as last_at from archive_page
      where ${mine} and page_id = any(${pages}::bigint[])
    ), unlisted as (
      delete from archive_loose where ${mine} and page_id = any(${pages}::bigint[])
    ), dropped as (
      delete from archive_block where ${mine} and block_id in (
        select block_id from archive_block, unnest(pages) as indexed (page)
        where ${mine} and page = any(${pages}::bigint[])
          and last_at >= (select first_at from gone) and first_at <= (select last_at from gone))
      returning pages
    ), shared as (
      select ${sql.literal(looseColumns)} from archive_page
      where ${mine} and page_id in (select unnest(pages) from dropped) and page_id <> all(${pages}::bigint[])
    ), ${loosened(sql, "shared")}
    select 1`
}
