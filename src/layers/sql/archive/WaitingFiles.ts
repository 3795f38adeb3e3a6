import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ArchivedAccount } from "../../../ports/archive/Epochs.ts"
import { type FailedFiles, WaitingFiles } from "../../../ports/archive/WaitingFiles.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** Files that wait, in SQL. */
export const layer = Layer.effect(
  WaitingFiles,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const mine = ({ accountId, organizationId }: ArchivedAccount) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId}`

    /** Files that wait in chats that are saved. */
    const pending = (account: ArchivedAccount) =>
      sql`${mine(account)} and state = 'pending' and chat_id in (
        select chat_id from archive_chat
        where ${mine(account)} and ref is not null and effect = 'archive' and stopped_by is null)`

    const settle = (
      account: ArchivedAccount,
      files: ReadonlyArray<string>,
      state: "failed" | "skipped",
      reason: string,
      now: Date
    ) =>
      files.length === 0 ? Effect.void : post(sql`
        update archive_file set state = ${state}, reason = ${reason}, at = ${now}
        where ${mine(account)} and file_id = any(${files}::uuid[]) and state = 'pending'`)

    return WaitingFiles.of({
      next: (account, at, limit) =>
        sql<{ file: string; chat: string; message: string }>`
          with first as (
            select chat_id, is_large from archive_file
            where ${pending(account)} and (retry_at is null or retry_at <= ${at})
            order by is_large, day desc, chat_id desc, message_id desc limit 1
          )
          select file_id::text as file, chat_id::text as chat, message_id::text as message from archive_file
          where ${mine(account)} and state = 'pending' and (retry_at is null or retry_at <= ${at})
            and (chat_id, is_large) = (select chat_id, is_large from first)
          order by day desc, message_id desc limit ${sql.literal(String(limit))}`.pipe(
          Effect.orDie,
          Effect.map((rows) =>
            rows.map(({ chat, file, message }) => ({
              fileId: file,
              chatId: BigInt(chat),
              messageId: BigInt(message)
            }))
          )
        ),

      count: (account) =>
        sql<{ files: number }>`
          select count(*)::integer as files from archive_file where ${pending(account)}`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.files ?? 0)
        ),

      isPending: (account, fileId) =>
        sql`
          select 1 from archive_file
          where ${mine(account)} and file_id = ${fileId}::uuid and state = 'pending'`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.length > 0)
        ),

      skip: (account, files, reason, now) => settle(account, files, "skipped", reason, now),

      giveUp: (account, files, reason, now) => settle(account, files, "failed", reason, now),

      failed: (account) =>
        sql<FailedFiles>`
          select reason, count(*)::integer as files from archive_file
          where ${mine(account)} and state = 'failed' group by reason order by reason`.pipe(Effect.orDie),

      postpone: (account, files, retryAt) =>
        files.length === 0 ? Effect.void : post(sql`
          update archive_file set retry_at = ${retryAt}
          where ${mine(account)} and file_id = any(${files}::uuid[]) and state = 'pending'`),

      refuse: (account, files, { now, retryAt, tries }) =>
        files.length === 0 ? Effect.void : post(sql`
          update archive_file set attempts = attempts + 1, retry_at = ${retryAt}, at = ${now},
            state = case when attempts + 1 >= ${tries}::integer then 'failed' else state end,
            reason = case when attempts + 1 >= ${tries}::integer then 'refused' else reason end
          where ${mine(account)} and file_id = any(${files}::uuid[]) and state = 'pending'`)
    })
  })
)
