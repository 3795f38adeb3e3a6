import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationSummary } from "../../../domain/organization/Organization.ts"
import { Directory } from "../../../ports/organization/Directory.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The organizations in the database. */
export const layer = Layer.effect(
  Directory,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const summary = sql.literal(
      `id, name, status, managed, simulated, billing_state, plan, period, licences_protect, licences_archive,
        licences_governance, seat_limit, seats_used, seats_reserved, trial_ends_at, valid_until, closed_at, cancel_at,
        current_period_ends_at, amount_minor, currency, payer_email, next_invoice_at, created_at, time_zone,
        archive_held_at`
    )
    return Directory.of({
      organizations: Tenant.directory(sql)(sql<OrganizationSummary>`
        select ${summary} from organization order by created_at, id`),
      find: (id) =>
        Effect.map(
          Tenant.directory(sql)(sql<OrganizationSummary>`select ${summary} from organization where id = ${id}`),
          ([found]) => found ?? null
        ),
      create: ({ id, name, plan, seats, validUntil }, now) =>
        sql`insert into organization ${
          sql.insert({
            id,
            name,
            status: "active",
            created_at: now,
            managed: false,
            billing_state: "none",
            plan,
            seat_limit: seats,
            valid_until: validUntil
          })
        } on conflict do nothing returning id`.pipe(Effect.orDie, Sql.exists),
      update: (id, changes) =>
        sql`update organization set ${sql.update(changes)} where id = ${id}`.pipe(Effect.orDie, Effect.asVoid)
    })
  })
)
