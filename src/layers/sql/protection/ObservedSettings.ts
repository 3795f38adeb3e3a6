import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Facets } from "../../../domain/protection/Facts.ts"
import { recoveryOf } from "../../../domain/protection/SeenAccount.ts"
import { SeenFacets } from "../../../ports/protection/ObservedSettings.ts"
import type { SecretsOf } from "../../../ports/security/Secrets.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The settings seen last, in the monitor's row of each account. */
export const layer = Layer.effect(
  SeenFacets,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const post = Tenant.post(sql)
    const ofAccount = ({ accountId, organizationId }: SecretsOf) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId}`
    return SeenFacets.of({
      forget: (of, names, now) =>
        post(
          sql`update monitor set facets = facets - ${names}::text[], look_at = ${now} where ${ofAccount(of)}`
        ),
      keep: Effect.fnUntraced(
        function*(of, facets) {
          if (Object.keys(facets).length === 0) return
          const [row] = yield* sql<{ facets: Facets }>`
            update monitor set facets = facets || ${JSON.stringify(facets)}::jsonb where ${ofAccount(of)}
            returning facets`
          if (row === undefined) return
          yield* post(sql`
            update account set recovery = ${JSON.stringify(recoveryOf(row.facets))}
            where organization_id = ${of.organizationId} and id = ${of.accountId}`)
        },
        Effect.orDie
      )
    })
  })
)
