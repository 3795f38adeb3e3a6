/** Pages with and without a vocabulary, past the service. */
import { Effect } from "effect"
import { isSearched, loosen, pageColumns, sentTo } from "../../../src/layers/sql/archive/LoosePages.ts"
import * as World from "../world.ts"

/** Drops the organization's vocabularies whose numbers the modulus divides: their pages are loose again. */
export const dropBlocks = (organizationId: string, modulus = 1) =>
  World.query<object>(organizationId, (sql) =>
    sql`with dropped as (
        delete from archive_block where organization_id = ${organizationId} and block_id % ${modulus}::integer = 0
        returning account_id, pages
      ), freed as (
        select ${sql.literal(pageColumns)} from archive_page
        where organization_id = ${organizationId}
          and (account_id, page_id) in (select account_id, unnest(pages) from dropped)
      ), loose as (${sql.literal(loosen("freed"))})
      select 1`)

interface Places {
  /** Pages of each vocabulary, in the order in which these were made. */
  readonly blocks: ReadonlyArray<number>
  readonly loose: number
  /** Pages that are not in exactly one vocabulary or loose, and names of pages that are not there. */
  readonly misplaced: number
  /** Pages of vocabularies that are newer than the one before them. */
  readonly disordered: number
}

/** The places of the pages of messages and of changes. Law: none is misplaced or disordered. */
export const placesOf = (organizationId: string) =>
  Effect.map(
    World.query<Places>(organizationId, (sql) =>
      sql`with indexed as (
          select block_id, account_id, listed.page, place, stored.page_at from archive_block
          cross join unnest(archive_block.pages) with ordinality as listed (page, place)
          left join lateral (
            select ${sql.literal(sentTo("last_at"))} as page_at from archive_page
            where archive_page.account_id = archive_block.account_id and page_id = listed.page) as stored on true
          where archive_block.organization_id = ${organizationId}
        ), named as (
          select account_id, page from indexed
          union all
          select account_id, page_id from archive_loose where organization_id = ${organizationId}
        ), counted as (
          select account_id, page, count(*) as places from named group by account_id, page
        ), pages as (
          select account_id, page_id as page from archive_page
          where organization_id = ${organizationId} and ${sql.literal(isSearched)}
        ), ordered as (
          select page_at > lag(page_at) over (partition by block_id order by place) as is_newer from indexed
        )
        select coalesce((select jsonb_agg(pages order by block_id) from (
            select block_id, count(*)::integer as pages from indexed group by block_id) as each), '[]') as blocks,
          (select count(*)::integer from archive_loose where organization_id = ${organizationId}) as loose,
          (select count(*)::integer from pages full join counted
            on pages.account_id = counted.account_id and pages.page = counted.page
            where places is distinct from 1 or pages.page is null) as misplaced,
          (select count(*)::integer from ordered where is_newer) as disordered`),
    ([row]) => row!
  )
