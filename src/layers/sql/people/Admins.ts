import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { AdminFacts } from "../../../domain/people/Admin.ts"
import type { MailChoices } from "../../../domain/people/MailPreferences.ts"
import { CredentialEndings } from "../../../ports/credentials/CredentialEndings.ts"
import * as Ports from "../../../ports/index.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

interface MailRow extends MailChoices {
  readonly email: string
}

/** The columns that an admin's facts are read from. */
export const adminFacts =
  "id, email, name, role, archive_access, password_hash is not null as has_password, created_at, joined_at, disabled_at"

/** The admins and their own settings; an admin without a sign-in is one who has not joined yet. */
export const layer = Layer.effect(
  Ports.Admins,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const random = yield* SecureRandom.SecureRandom
    const endings = yield* CredentialEndings
    const facts = sql.literal(adminFacts)
    return Ports.Admins.of({
      mailPreferences: (organizationId, adminId, lock) =>
        sql<MailRow>`
          select email, mail_security as security, mail_storage as storage, mail_news as news, mail_offers as offers
          from admin
          where organization_id = ${organizationId} and id = ${adminId} and joined_at is not null
          ${lock ? sql`for no key update` : sql``}`.pipe(
          Effect.orDie,
          Effect.map(([row]) => {
            if (row === undefined) return null
            const { email, ...choices } = row
            return { email, choices }
          })
        ),
      setMailChoices: (organizationId, adminId, choices) =>
        post(sql`
          update admin set mail_security = ${choices.security}, mail_storage = ${choices.storage},
            mail_news = ${choices.news}, mail_offers = ${choices.offers}
          where organization_id = ${organizationId} and id = ${adminId}`),

      list: (organizationId) =>
        sql<AdminFacts>`
          select ${facts} from admin where organization_id = ${organizationId} and removed_at is null
          order by role = 'owner' desc, created_at, email`.pipe(Effect.orDie),

      findByEmail: (organizationId, email, lock) =>
        sql<AdminFacts>`
          select ${facts} from admin
          where organization_id = ${organizationId} and lower(email collate "C") = ${email.toLowerCase()}
            and removed_at is null
          ${lock ? sql`for update` : sql``}`.pipe(Effect.orDie, Sql.one),

      create: Effect.fnUntraced(function*(organizationId, { archiveAccess, ...admin }, now) {
        const [made] = yield* Effect.orDie(sql<{ readonly id: string }>`insert into admin ${
          sql.insert({
            organization_id: organizationId,
            id: yield* random.uuidV7(),
            ...admin,
            archive_access: archiveAccess,
            created_at: now
          })
        } on conflict do nothing returning id`)
        return made?.id ?? null
      }),

      update: (organizationId, adminId, changes) =>
        post(
          sql`update admin set ${sql.update(changes)} where organization_id = ${organizationId} and id = ${adminId}`
        ),

      disable: Effect.fnUntraced(function*(organizationId, adminId, at) {
        yield* post(
          sql`update admin set disabled_at = ${at} where organization_id = ${organizationId} and id = ${adminId}`
        )
        yield* endings.endResets({ organizationId, adminId })
        return yield* endings.endSessions({ organizationId, adminId })
      }, Effect.orDie),

      enable: (organizationId, adminId) =>
        post(sql`update admin set disabled_at = null where organization_id = ${organizationId} and id = ${adminId}`)
    })
  })
)
