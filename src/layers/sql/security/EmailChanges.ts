import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { EmailChangeFacts, EmailKind } from "../../../domain/security/Security.ts"
import { EmailChanges } from "../../../ports/security/EmailChanges.ts"
import type { SecretsOf } from "../../../ports/security/Secrets.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The changes in SQL. */
export const layer = Layer.effect(
  EmailChanges,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const post = Tenant.post(sql)
    const row = ({ accountId, organizationId }: SecretsOf, kind: EmailKind) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId} and kind = ${kind}`
    return EmailChanges.of({
      find: (of, kind) =>
        sql<EmailChangeFacts>`
          select kind, pattern, code_length, attempts_left, expires_at from email_change where ${row(of, kind)}`.pipe(
          Effect.orDie,
          Sql.one
        ),
      begin: ({ accountId, organizationId }, change) =>
        post(sql`
          insert into email_change ${sql.insert({ organization_id: organizationId, account_id: accountId, ...change })}
          on conflict (organization_id, account_id, kind) do update set pattern = excluded.pattern,
            code_length = excluded.code_length, attempts_left = excluded.attempts_left,
            expires_at = excluded.expires_at`),
      attempt: (of, kind) =>
        post(sql`update email_change set attempts_left = attempts_left - 1 where ${row(of, kind)}`),
      giveBack: (of, kind) =>
        post(sql`update email_change set attempts_left = attempts_left + 1 where ${row(of, kind)}`),
      end: (of, kind) => post(sql`delete from email_change where ${row(of, kind)}`)
    })
  })
)
