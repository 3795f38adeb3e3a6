import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import { type ErasedSecret, SecretExpiry, type UnrevealedPassword } from "../../../ports/security/SecretExpiry.ts"
import * as Tenant from "../../postgres/Tenant.ts"

export const layer = Layer.effect(
  SecretExpiry,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const unreported = sql`kind = 'two_fa' and slot = 'held' and end_told_at is null and revealed_at is null`
    return {
      concerned: (now, soon) =>
        Effect.map(
          Tenant.directory(sql)(sql<{ id: OrganizationId }>`
            select organization_id as id from account_secret
            where erase_at <= ${now} or erase_at <= ${soon} and ${unreported}
            union select organization_id from email_change where kind = 'login' and expires_at <= ${now}`),
          (rows) => rows.map(({ id }) => id)
        ),

      eraseAddresses: (organizationId, now) =>
        Effect.asVoid(Effect.orDie(sql`
          delete from email_change
          where organization_id = ${organizationId} and kind = 'login' and expires_at <= ${now}`)),

      reportEnding: (organizationId, now, soon) =>
        Effect.orDie(sql<UnrevealedPassword>`
          update account_secret set end_told_at = ${now} from account
          where account_secret.organization_id = ${organizationId} and account.organization_id = ${organizationId}
            and account.id = account_id and ${unreported} and erase_at <= ${soon}
          returning account.id, first_name, last_name, username, phone_number, erase_at`),

      erase: (organizationId, now) =>
        Effect.orDie(sql<ErasedSecret>`
          delete from account_secret where organization_id = ${organizationId} and erase_at <= ${now}
          returning account_id, slot, kind`)
    }
  })
)
