import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { MailChoices } from "../../domain/Preferences.ts"
import * as Ports from "../../ports/index.ts"

interface MailRow extends MailChoices {
  readonly email: string
}

/** The admins' own settings; an admin without a sign-in is one who has not joined yet. */
export const layer = Layer.effect(
  Ports.Admins,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
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
        sql`
          update admin set mail_security = ${choices.security}, mail_storage = ${choices.storage},
            mail_news = ${choices.news}, mail_offers = ${choices.offers}
          where organization_id = ${organizationId} and id = ${adminId}`.pipe(Effect.orDie, Effect.asVoid)
    })
  })
)
