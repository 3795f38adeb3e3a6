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
    const columns = sql.literal(`${organizationColumns}, archive_phase_noted`)
    return ArchivePhases.of({
      organizations: Effect.map(
        Tenant.directory(sql)(sql<Row>`select ${columns} from organization order by id`),
        (rows) => rows.map(phasedOf)
      ),

      note: (organizationId, phase) =>
        sql<{ readonly noted: ArchivePhase }>`
          update organization set archive_phase_noted = ${phase} from organization as before
          where organization.id = ${organizationId} and before.id = organization.id
            and before.archive_phase_noted <> ${phase}
          returning before.archive_phase_noted as noted`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.noted ?? null)
        )
    })
  })
)
