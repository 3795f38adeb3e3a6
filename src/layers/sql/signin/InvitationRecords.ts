import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../../../domain/Moments.ts"
import { InvitationRecords } from "../../../ports/signin/InvitationRecords.ts"
import type { OpenInvitation } from "../../../ports/signin/Invitations.ts"
import { InvitationTokens } from "../../crypto/signin/LinkTokens.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { isOpen } from "../organization/Organizations.ts"

export const layer = Layer.effect(
  InvitationRecords,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const tokens = yield* InvitationTokens

    const open = (at: Date) =>
      sql`invitation_expires_at > ${at} and joined_at is null and disabled_at is null and removed_at is null
        and ${isOpen(sql)}`

    return InvitationRecords.of({
      find: Effect.fnUntraced(function*(token, organizationId) {
        if (!tokens.isWellFormed(token)) return null
        const at = yield* now
        return yield* Sql.one(
          Tenant.directory(sql)(sql<OpenInvitation>`
          select organization.id as "organizationId", organization.name as "organizationName", admin.id as "adminId",
            email, role
          from admin join organization on organization.id = admin.organization_id
          where ${sql.in("invitation_digest", tokens.digests(token))} and ${open(at)}
            and (${organizationId}::text is null or organization.id = ${organizationId})`)
        )
      }),

      lock: ({ adminId, organizationId }, token, at) =>
        sql`
          select 1 from admin
          where organization_id = ${organizationId} and id = ${adminId}
            and ${sql.in("invitation_digest", tokens.digests(token))} and ${open(at)}
          for no key update`.pipe(Effect.orDie, Sql.exists)
    })
  })
)
