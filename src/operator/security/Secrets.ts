/** An operator's actions on the secrets that the service holds of accounts. */
import { Effect, Schema } from "effect"
import { AccountId } from "../../domain/accounts/Account.ts"
import { isUuid } from "../../domain/JsonShapes.ts"
import { Rewrap } from "../../ports/security/Rewrap.ts"
import { Secrets } from "../../ports/security/Secrets.ts"
import { accountEntry, existing, journaled, now } from "../Journaled.ts"
import { refuse, useCase } from "../UseCase.ts"

export const revealTwoFa = useCase(
  "accounts_reveal",
  Schema.Struct({ organization: Schema.String, account_id: Schema.String }),
  Schema.Struct({
    organization: Schema.String,
    account_id: Schema.String,
    password: Schema.RedactedFromValue(Schema.String)
  }),
  ({ account_id, organization }) =>
    Effect.gen(function*() {
      const secrets = yield* Secrets
      const organizationId = yield* existing(organization)
      const none = refuse(`The service holds no 2FA password of the account ${account_id} of ${organization}.`)
      if (!isUuid(account_id)) return yield* none
      const accountId = AccountId.make(account_id)
      const of = { organizationId, accountId }
      const [held] = (yield* secrets.candidates(of)).passwords
      if (held === undefined || held.slot !== "held") return yield* none
      const at = yield* now
      return yield* journaled(
        organizationId,
        Effect.flatMap(secrets.shown(of, held.id, at), (isHeld) =>
          isHeld
            ? Effect.succeed(
              [
                { organization, account_id, password: held.password },
                accountEntry("two_fa.revealed", accountId, {})
              ] as const
            )
            : none)
      )
    })
)

const RewrapCounts = Schema.Struct({
  accounts: Schema.Int,
  sessions: Schema.Int,
  authenticator_apps: Schema.Int,
  identity_providers: Schema.Int,
  archive_keys: Schema.Int
})

export const rewrapSecrets = useCase(
  "secrets_rewrap",
  Schema.Struct({}),
  Schema.Struct({ ...RewrapCounts.fields, skipped: RewrapCounts, damaged: RewrapCounts }),
  () => Effect.flatMap(Rewrap, ({ all }) => all)
)
