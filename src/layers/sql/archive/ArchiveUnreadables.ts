import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ArchiveUnreadables, type NewlyUnreadable } from "../../../ports/archive/ArchiveUnreadables.ts"

/** The record of unreadable frames in SQL. */
export const layer = Layer.effect(
  ArchiveUnreadables,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return ArchiveUnreadables.of({
      note: ({ accountId, organizationId }, numbers, now) => {
        const mine = sql`organization_id = ${organizationId} and account_id = ${accountId}`
        return sql<NewlyUnreadable>`
          with added as (
            insert into archive_unreadable (organization_id, account_id, number, messages, found_at)
            select organization_id, account_id, page_id, messages, ${now}::timestamptz from archive_page
            where ${mine} and page_id = any(${numbers}::bigint[])
            union all
            select organization_id, account_id, tail_id, (kind = 'messages')::integer, ${now}::timestamptz
            from archive_tail where ${mine} and tail_id = any(${numbers}::bigint[])
            on conflict do nothing returning messages
          )
          select count(*)::integer as pages, coalesce(sum(messages), 0)::integer as messages from added`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row ?? { pages: 0, messages: 0 })
        )
      }
    })
  })
)
