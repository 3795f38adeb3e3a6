import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Applications } from "../../../ports/oauth/Applications.ts"
import * as Sql from "../../postgres/Rows.ts"

const changed = (statement: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>) =>
  statement.pipe(Effect.orDie, Sql.exists)

/** Approvals in the database. */
export const layer = Layer.effect(
  Applications,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return Applications.of({
      rules: Effect.fnUntraced(function*(organizationId) {
        const [row] = yield* sql<{ readonly required: boolean }>`
          select approve_applications as required from organization where id = ${organizationId}`
        const approved = yield* sql<{ readonly application: string }>`
          select application from approved_application where organization_id = ${organizationId} order by application`
        return {
          approvalRequired: row?.required ?? false,
          approved: approved.map(({ application }) => application)
        }
      }, Effect.orDie),
      requireApproval: (organizationId, required) =>
        changed(sql`
          update organization set approve_applications = ${required}
          where id = ${organizationId} and approve_applications <> ${required} returning id`),
      approve: (organizationId, application, now) =>
        changed(sql`
          insert into approved_application (organization_id, application, approved_at)
          values (${organizationId}, ${application}, ${now}) on conflict do nothing returning application`),
      withdraw: (organizationId, application) =>
        changed(sql`
          delete from approved_application
          where organization_id = ${organizationId} and application = ${application} returning application`)
    })
  })
)
