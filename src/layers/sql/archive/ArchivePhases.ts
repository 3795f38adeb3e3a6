import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ArchivePhase, OrganizationFacts } from "../../../domain/organization/Organization.ts"
import { ArchivePhases, type NotedPhase } from "../../../ports/archive/ArchivePhases.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { organizationColumns } from "../organization/Organizations.ts"

type Row = OrganizationFacts & { readonly archive_phase_noted: ArchivePhase }

const phasedOf = ({ archive_phase_noted, ...facts }: Row): NotedPhase => ({ facts, noted: archive_phase_noted })

/** The phases that were journaled last, in SQL. */
export const layer = Layer.effect(
  ArchivePhases,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const columns = sql.literal(`${organizationColumns}, archive_phase_noted`)
    return ArchivePhases.of({
      organizations: Effect.map(
        Tenant.directory(sql)(sql<Row>`select ${columns} from organization order by id`),
        (rows) => rows.map(phasedOf)
      ),

      lock: (organizationId) =>
        sql<Row>`select ${columns} from organization where id = ${organizationId} for no key update`.pipe(
          Effect.orDie,
          Effect.flatMap(([row]) =>
            row === undefined ? Effect.die(new Error("The organization is gone")) : Effect.succeed(phasedOf(row))
          )
        ),

      note: (organizationId, phase) =>
        post(sql`update organization set archive_phase_noted = ${phase} where id = ${organizationId}`)
    })
  })
)
