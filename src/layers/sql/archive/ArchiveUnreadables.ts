import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { before } from "../../../domain/Moments.ts"
import { ArchiveUnreadables, type NewlyUnreadable } from "../../../ports/archive/ArchiveUnreadables.ts"
import { lockArchive } from "./ArchiveLocks.ts"

const filesPerHour = 100

/** The record of what does not open in SQL. */
export const layer = Layer.effect(
  ArchiveUnreadables,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return ArchiveUnreadables.of({
      note: (account, numbers, now) => {
        const { accountId, organizationId } = account
        const mine = sql`organization_id = ${organizationId} and account_id = ${accountId}`
        const note = sql<NewlyUnreadable>`
          with added as (
            insert into archive_unreadable (organization_id, account_id, number, messages, found_at)
            select organization_id, account_id, page_id, messages, ${now}::timestamptz from archive_page
            where ${mine} and page_id = any(${numbers}::bigint[])
            union all
            select organization_id, account_id, tail_id, (kind = 'messages')::integer, ${now}::timestamptz
            from archive_tail where ${mine} and tail_id = any(${numbers}::bigint[])
            on conflict do nothing returning messages
          )
          select count(*)::integer as pages, coalesce(sum(messages), 0)::integer as messages from added`
        // Pages that a cleanup is deleting meanwhile are gone once they are looked for.
        return Effect.andThen(lockArchive(sql, account), note).pipe(
          Effect.orDie,
          Effect.map(([row]) => row ?? { pages: 0, messages: 0 })
        )
      },

      noteFiles: (account, fileIds, now) => {
        const { accountId, organizationId } = account
        const mine = sql`organization_id = ${organizationId} and account_id = ${accountId}`
        const note = sql`
          update archive_file set unreadable_at = ${now}
          where ${mine} and unreadable_at is null and file_id in (
            select file_id from archive_file
            where ${mine} and file_id = any(${fileIds}::uuid[]) and state = 'saved' and unreadable_at is null
            limit greatest(0, ${filesPerHour} - (
              select count(*) from archive_file where ${mine} and unreadable_at > ${before(now, Duration.hours(1))})))
          returning 1`
        // Of two readers, the second finds what the first noted.
        return Effect.andThen(lockArchive(sql, account), note).pipe(Effect.orDie, Effect.map((rows) => rows.length))
      }
    })
  })
)
