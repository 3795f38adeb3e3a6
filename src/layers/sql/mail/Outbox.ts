import { Clock, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import type { Audience } from "../../../domain/mail/Mail.ts"
import * as Ports from "../../../ports/index.ts"
import { Vault } from "../../crypto/Vault.ts"
import { MailSettings } from "../../mail/MailSettings.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The context that a letter is sealed for. */
export const sealedFor = (organizationId: string, id: string): ReadonlyArray<string> => ["mail", organizationId, id]

/**
 * Holds for the admins who get the organization's notifications of a choice: the owner, and where it is set so every
 * superadmin who has joined.
 */
export const isRecipient = (sql: SqlClient.SqlClient, choice: string): Statement.Fragment =>
  sql`(
    (role = 'owner' or role = 'superadmin' and joined_at is not null and exists (
      select 1 from organization
      where organization.id = admin.organization_id and notification_recipients = 'owner_superadmins'))
    and disabled_at is null and ${sql(`mail_${choice}`)})`

/** The condition that an admin is in the audience. */
const isAddressed = (sql: SqlClient.SqlClient, audience: Exclude<Audience, { readonly to: "support" }>) => {
  switch (audience.to) {
    case "recipients":
      return isRecipient(sql, audience.choice)
    case "owner":
      return sql`role = 'owner' and disabled_at is null and ${sql(`mail_${audience.choice}`)}`
    case "superadmins":
      return sql`
        role = 'superadmin' and joined_at is not null and disabled_at is null and ${sql(`mail_${audience.choice}`)}`
    case "admin":
      return sql`id = ${audience.adminId} and disabled_at is null`
  }
}

/** The outbox in SQL; letters are sealed, and their recipients are found when they are written. */
export const layer = Layer.effect(
  Ports.Outbox,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const random = yield* SecureRandom.SecureRandom
    const vault = yield* Vault
    const settings = yield* MailSettings
    return Ports.Outbox.of({
      available: settings !== null,
      add: Effect.fnUntraced(function*(organizationId, cause, { audience, kind, letter }) {
        if (settings === null || audience.to === "support" && settings.support === null) return
        const now = new Date(yield* Clock.currentTimeMillis)
        const id = yield* random.uuidV7()
        const sealed = vault.seal(
          Redacted.make(JSON.stringify(Redacted.value(letter))),
          sealedFor(organizationId, id)
        )
        const recipients = audience.to === "support"
          ? sql`select ${settings.support}::text as email`
          : sql`select email from admin where organization_id = ${organizationId} and ${isAddressed(sql, audience)}`
        yield* post(sql`
          insert into mail
            (organization_id, id, recipient, cause, kind, joins, letter_sealed, created_at, next_at)
          select ${organizationId}::text, ${id}::uuid, email,
            ${cause === "event" ? sql`appended_event(${organizationId})` : sql`${cause}::text`}, ${kind}::text,
            ${"choice" in audience}::boolean, ${sealed}::text, ${now}::timestamptz, ${now}::timestamptz
          from (${recipients}) as person
          on conflict do nothing`)
      })
    })
  })
)
