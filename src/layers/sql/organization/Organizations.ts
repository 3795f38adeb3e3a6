import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationFacts, Recipients } from "../../../domain/organization/Organization.ts"
import * as Ports from "../../../ports/index.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The columns that an organization's facts are read from; what holds a seat, or will, is counted as it changes. */
const columns: { readonly [Fact in keyof OrganizationFacts]: true } = {
  id: true,
  name: true,
  status: true,
  suspend_reason: true,
  closed_at: true,
  managed: true,
  billing_state: true,
  plan: true,
  period: true,
  licences_protect: true,
  licences_archive: true,
  licences_governance: true,
  trial_ends_at: true,
  valid_until: true,
  seat_limit: true,
  seats_used: true,
  seats_reserved: true,
  tamper_lockdown_enabled: true,
  notification_recipients: true,
  archive_key_set: true,
  archive_first_record_at: true,
  archive_plan_ended_at: true,
  archive_held_at: true,
  archive_deletion_started_at: true,
  archive_deleted_at: true,
  storage_used_bytes: true,
  storage_limit_bytes: true
}

/** The columns as a statement selects them. */
export const organizationColumns = Object.keys(columns).map((column) => `organization.${column}`).join(", ")

/** The condition that a row's organization was not wound down. */
export const isOpen = (sql: SqlClient.SqlClient, table = "admin") =>
  sql`exists (
    select 1 from organization where organization.id = ${
    sql(table)
  }.organization_id and organization.closed_at is null)`

/** The organizations in SQL. */
export const layer = Layer.effect(
  Ports.Organizations,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const one = ([facts]: ReadonlyArray<OrganizationFacts>) =>
      facts === undefined ? Effect.die(new Error("The caller's organization is gone")) : Effect.succeed(facts)
    return Ports.Organizations.of({
      facts: ({ arrival, organizationId }) =>
        arrival !== undefined
          ? Effect.succeed(arrival.organization)
          : sql<OrganizationFacts>`
            select ${sql.literal(organizationColumns)} from organization where id = ${organizationId}`.pipe(
            Effect.orDie,
            Effect.flatMap(one)
          ),
      lock: (id) => post(sql`select 1 from organization where id = ${id} for no key update`),
      // A full lock would meet the journal's foreign key on this row from the other side: a deadlock.
      lockRecipients: (id) =>
        sql<{ notification_recipients: Recipients }>`
          select notification_recipients from organization where id = ${id} for no key update`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.notification_recipients ?? "owner")
        ),
      setRecipients: (id, recipients) =>
        post(sql`update organization set notification_recipients = ${recipients} where id = ${id}`),
      lockFacts: (id) =>
        sql<OrganizationFacts>`
          select ${sql.literal(organizationColumns)} from organization where id = ${id} for no key update`.pipe(
          Effect.orDie,
          Effect.flatMap(one)
        ),
      setLockdown: (id, enabled) =>
        post(sql`update organization set tamper_lockdown_enabled = ${enabled} where id = ${id}`)
    })
  })
)
