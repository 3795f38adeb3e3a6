import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationFacts, Recipients } from "../../domain/Organization.ts"
import * as Ports from "../../ports/index.ts"

/** The organization's facts in one statement; every account that is not offboarded holds a seat, counted as it changes. */
export const layer = Layer.effect(
  Ports.Organizations,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return Ports.Organizations.of({
      facts: (id) =>
        sql<OrganizationFacts>`
          select id, name, status, closed_at, managed, billing_state, plan, period, licences_protect, licences_archive,
            licences_governance, trial_ends_at, valid_until, seat_limit, tamper_lockdown_enabled,
            notification_recipients, archive_key_set, archive_first_record_at, archive_plan_ended_at, archive_held_at,
            archive_deletion_started_at, archive_deleted_at, storage_used_bytes, storage_limit_bytes,
            seats_used,
            (select count(*) from sign_up_link
              where organization_id = ${id} and used_at is null) as seats_reserved
          from organization where id = ${id}`.pipe(
          Effect.orDie,
          Effect.flatMap(([facts]) =>
            facts === undefined ? Effect.die(new Error("The caller's organization is gone")) : Effect.succeed(facts)
          )
        ),
      // A full lock would meet the journal's foreign key on this row from the other side: a deadlock.
      lockRecipients: (id) =>
        sql<{ notification_recipients: Recipients }>`
          select notification_recipients from organization where id = ${id} for no key update`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.notification_recipients ?? "owner")
        ),
      setRecipients: (id, recipients) =>
        sql`update organization set notification_recipients = ${recipients} where id = ${id}`.pipe(
          Effect.orDie,
          Effect.asVoid
        )
    })
  })
)
