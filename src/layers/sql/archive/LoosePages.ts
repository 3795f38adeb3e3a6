/** Pages that no vocabulary indexes, in SQL. */
import type { SqlClient } from "effect/sql"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"

/** Of a page or a row of the tail: a search reads it. One of deletions alone has no words. */
export const isSearched = "(kind = 'messages' or sent_day is not null)"

/** The times between which the messages were sent that a page or a row of the tail is about, by the column of its own. */
export const sentFrom = (own: string) => `coalesce(sent_day::timestamp at time zone 'UTC', ${own})`
export const sentTo = (own: string) => `coalesce((sent_day + time '23:59:59') at time zone 'UTC', ${own})`

/** The columns of a page that a search needs. */
export const pageColumns =
  "organization_id, account_id, page_id, chat_id, day, kind, first_at, last_at, sent_day, messages"

/** The statement by which the pages of `from`, which has these columns, are without a vocabulary. */
export const loosen = (from: string) =>
  `insert into archive_loose (organization_id, account_id, page_id, chat_id, day, kind, first_at, last_at, messages)
    select organization_id, account_id, page_id, chat_id, day, kind, ${sentFrom("first_at")}, ${
    sentTo("last_at")
  }, messages
    from ${from} where ${isSearched}`

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
      select min(${sql.literal(sentTo("last_at"))}) as first_at, max(${sql.literal(sentTo("last_at"))}) as last_at
      from archive_page where ${mine} and page_id = any(${pages}::bigint[])
    ), unlisted as (
      delete from archive_loose where ${mine} and page_id = any(${pages}::bigint[])
    ), dropped as (
      delete from archive_block where ${mine} and block_id in (
        select block_id from archive_block, unnest(pages) as indexed (page)
        where ${mine} and page = any(${pages}::bigint[])
          and last_at >= (select first_at from gone) and first_at <= (select last_at from gone))
      returning pages
    ), shared as (
      select ${sql.literal(pageColumns)} from archive_page
      where ${mine} and page_id in (select unnest(pages) from dropped) and page_id <> all(${pages}::bigint[])
    ), loose as (${sql.literal(loosen("shared"))})
    select 1`
}
