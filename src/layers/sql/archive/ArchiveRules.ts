import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { RuleInEffect } from "../../../domain/archive/ArchiveRule.ts"
import { ArchiveRules } from "../../../ports/archive/ArchiveRules.ts"

interface RuleRow extends Omit<RuleInEffect, "chatId" | "maxFileBytes"> {
  readonly chat: string | null
  readonly max: string | null
}

/** The rules in SQL. */
export const layer = Layer.effect(
  ArchiveRules,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return ArchiveRules.of({
      inEffect: ({ accountId, organizationId }) =>
        sql<RuleRow>`
          select rule_id::text as "ruleId", level, chat_type as "chatType", chat_id::text as chat, effect, media,
            max_file_bytes::text as max, live
          from archive_rule
          where organization_id = ${organizationId} and (level = 'organization'
            or level = 'account' and target = ${accountId}
            or level = 'department' and target = (
              select department_id from account where organization_id = ${organizationId} and id = ${accountId}))`.pipe(
          Effect.orDie,
          Effect.map((rows) =>
            rows.map(({ chat, max, ...rule }): RuleInEffect => ({
              ...rule,
              chatId: chat === null ? null : BigInt(chat),
              maxFileBytes: max === null ? null : Number(max)
            }))
          )
        )
    })
  })
)
