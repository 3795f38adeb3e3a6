/** Which applications an organization lets its admins connect, as an operator sets it. */
import { Clock, Effect, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Provisioning from "../layers/sql/Provisioning.ts"
import { Journal } from "../ports/Journal.ts"
import { command, existing, refuse } from "./Declared.ts"

const Application = Schema.String.check(
  Schema.isPattern(/^(?:https:\/\/[\x21-\x7e]+|[a-z0-9.-]+(?::[0-9]{1,5})?)$/, {
    expected: "the host that an application's codes go to, or its own https:// address"
  }),
  Schema.isMaxLength(2048)
)

const State = Schema.Struct({
  organization: Schema.String,
  /** Whether an application has to be approved before others than owner and superadmins may connect it. */
  approval_required: Schema.Boolean,
  approved: Schema.Array(Schema.String)
})

const stateOf = Effect.fnUntraced(function*(organization: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ required: boolean }>`
    select approve_applications as required from organization where id = ${organization}`
  const approved = yield* sql<{ application: string }>`
    select application from approved_application where organization_id = ${organization} order by application`
  return {
    organization,
    approval_required: row?.required ?? false,
    approved: approved.map(({ application }) => application)
  }
}, Effect.orDie)

/** Makes the change, with its entry where it changed something, and answers the state after it. */
const changing = Effect.fnUntraced(function*(
  organization: string,
  change: (sql: SqlClient.SqlClient, organization: string) => Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>,
  entry: (organization: string) => ReturnType<typeof Provisioning.operatorEntry>
) {
  const id = yield* existing(organization)
  return yield* Provisioning.within(
    id,
    Effect.gen(function*() {
      const changed = yield* Effect.orDie(change(yield* SqlClient.SqlClient, id))
      if (changed.length > 0) yield* (yield* Journal).append(id, entry(id))
      return yield* stateOf(id)
    })
  )
})

export const listApplications = command(
  "list_applications",
  Schema.Struct({ organization: Schema.String }),
  State,
  ({ organization }) => Effect.flatMap(existing(organization), (id) => Provisioning.within(id, stateOf(id)))
)

export const requireApproval = command(
  "require_approval",
  Schema.Struct({ organization: Schema.String, required: Schema.Boolean }),
  State,
  ({ organization, required }) =>
    changing(
      organization,
      (sql, id) =>
        sql`
        update organization set approve_applications = ${required}
        where id = ${id} and approve_applications <> ${required} returning id`,
      (id) => Provisioning.operatorEntry("application.approval_set", id, { details: { required } })
    )
)

export const approveApplication = command(
  "approve_application",
  Schema.Struct({ organization: Schema.String, application: Schema.String }),
  State,
  ({ application, organization }) =>
    Effect.gen(function*() {
      if (!Schema.is(Application)(application)) {
        return yield* refuse(
          "An application is named by the host that its codes go to, such as assistant.example, or by its own address " +
            "that begins with https://."
        )
      }
      const at = new Date(yield* Clock.currentTimeMillis)
      return yield* changing(
        organization,
        (sql, id) =>
          sql`
          insert into approved_application (organization_id, application, approved_at)
          values (${id}, ${application}, ${at}) on conflict do nothing returning application`,
        (id) => Provisioning.operatorEntry("application.approved", id, { targetId: application })
      )
    })
)

export const withdrawApplication = command(
  "withdraw_application",
  Schema.Struct({ organization: Schema.String, application: Schema.String }),
  State,
  ({ application, organization }) =>
    changing(
      organization,
      (sql, id) =>
        sql`
        delete from approved_application
        where organization_id = ${id} and application = ${application} returning application`,
      (id) => Provisioning.operatorEntry("application.withdrawn", id, { targetId: application })
    )
)
