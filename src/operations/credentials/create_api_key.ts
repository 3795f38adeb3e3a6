import { Duration, Effect, Schema } from "effect"
import * as Changes from "../../changes/SharedChanges.ts"
import { apiKeyExpiry, ConsolePassword, CreatedApiKey } from "../../domain/credentials/Credential.ts"
import { exceeded } from "../../domain/credentials/GrantingLimits.ts"
import {
  InvalidApiKey,
  PasswordIncorrect,
  PasswordRequired,
  ScopeExceeded,
  TooManyAttempts
} from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { Text } from "../../domain/JsonShapes.ts"
import { defaultApiKeyExpiry, maxApiKeyDays, maxApiKeyLabelLength } from "../../domain/Limits.ts"
import { everyone, needsPassword, readingScopesText, Scope, superadmins } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { IssuedCredentials } from "../../ports/credentials/IssuedCredentials.ts"
import * as CurrentPassword from "../CurrentPassword.ts"
import * as samples from "./credentials.samples.ts"

export const createApiKey = Operation.write(
  "create_api_key",
  {
    summary: "Create an API key of the admin that the credential acts as; its secret is answered this once.",
    description:
      `Assistants are refused: keys are made on the console's Developer page. Scopes beyond ${readingScopesText} need the admin's console password; a credential limited to accounts or departments creates no keys. A key that is made with a key ends with it: it expires no later, and revoking the key revokes it too.`,
    method: "POST",
    path: "/v1/api-keys",
    toolset: "admin",
    scope: "admins:write",
    roles: everyone,
    idempotent: false,
    page: "/console/developer",
    body: {
      label: Text(maxApiKeyLabelLength).check(Schema.isNonEmpty()).annotateKey({
        description: "What the key is for, such as Nightly export."
      }),
      scopes: Schema.Array(Scope).check(Schema.isMinLength(1), Schema.isMaxLength(Scope.literals.length)).annotateKey({
        description: "What the key may do: some of the scopes of the credential that creates it."
      }),
      expires_in_days: Schema.optionalKey(
        Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxApiKeyDays })))
          .annotate({ default: Duration.toDays(defaultApiKeyExpiry) })
      ).annotateKey({
        description:
          "Days until the key expires; null for never. A key that is made with a key expires no later than that."
      }),
      current_password: Schema.optionalKey(ConsolePassword).annotateKey({
        description: `The admin's console password; needed for any scope beyond ${readingScopesText}.`
      })
    },
    success: CreatedApiKey,
    sample: samples.createApiKey,
    failures: [InvalidApiKey, ScopeExceeded, PasswordRequired, PasswordIncorrect, TooManyAttempts],
    journal: journalAction("api_key.created"),
    before: Effect.fnUntraced(function*({ current_password, scopes }, { caller }) {
      const refused = exceeded(caller, { scopes, unlimited: true })
      if (refused !== null) return yield* refused
      if (!scopes.some(needsPassword)) return
      if (current_password === undefined) return yield* new PasswordRequired({ param: "current_password" })
      yield* CurrentPassword.verify(caller, current_password)
    })
  },
  Effect.fnUntraced(function*({ expires_in_days, label, scopes }, { caller, now }) {
    const issued = yield* IssuedCredentials
    const days = expires_in_days === undefined ? Duration.toDays(defaultApiKeyExpiry) : expires_in_days
    const carried = Scope.literals.filter((scope) => scopes.includes(scope))
    const { email, expiresAt, id, secret } = yield* issued.createApiKey(
      caller,
      { label, scopes: carried, expiresAt: apiKeyExpiry(days, now) },
      now
    )
    return Operation.changed(
      {
        object: "api_key" as const,
        id,
        label,
        scopes: carried,
        owner_email: superadmins.includes(caller.role) ? email : null,
        mine: true,
        created_at: now,
        last_used_at: null,
        expires_at: expiresAt,
        revoked_at: null,
        secret
      },
      {
        ...Changes.createdApiKey(label, carried),
        ...(expiresAt === null ? {} : { expires_at: expiresAt.toISOString() })
      },
      id
    )
  })
)
