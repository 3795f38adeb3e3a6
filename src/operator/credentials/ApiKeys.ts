/** An operator's actions on API keys. */
import { Effect, Schema } from "effect"
import * as Changes from "../../changes/SharedChanges.ts"
import { apiKeyExpiry, type ApiKeyFacts, ApiKeyState, apiKeyState } from "../../domain/credentials/Credential.ts"
import { isUuid, Timestamp } from "../../domain/JsonShapes.ts"
import { maxApiKeyDays, maxApiKeyLabelLength } from "../../domain/Limits.ts"
import { Scope } from "../../domain/people/Access.ts"
import { IssuedCredentials } from "../../ports/credentials/IssuedCredentials.ts"
import { Db } from "../../ports/Db.ts"
import { change, entry, existing, now } from "../Journaled.ts"
import { locked } from "../people/Admins.ts"
import { adminRef } from "../RequestFields.ts"
import { refuse, useCase } from "../UseCase.ts"

const Key = Schema.Struct({
  key_id: Schema.String,
  label: Schema.String,
  admin: Schema.String,
  scopes: Schema.Array(Scope),
  state: ApiKeyState,
  created_at: Timestamp,
  last_used_at: Schema.NullOr(Timestamp),
  expires_at: Schema.NullOr(Timestamp),
  revoked_at: Schema.NullOr(Timestamp)
})

const shown = (at: Date) => ({ email, id, stopped, ...key }: ApiKeyFacts): typeof Key.Type => ({
  key_id: id,
  admin: email,
  ...key,
  state: apiKeyState({ ...key, stopped }, at)
})

export const createKey = change(
  "keys_create",
  Schema.Struct({
    ...adminRef,
    label: Schema.String.check(Schema.isNonEmpty(), Schema.isMaxCodePoints(maxApiKeyLabelLength)),
    scopes: Schema.NonEmptyArray(Scope),
    /** Null for never. */
    expires_in_days: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxApiKeyDays })))
  }),
  Schema.Struct({
    organization: Schema.String,
    key_id: Schema.String,
    label: Schema.String,
    key: Schema.RedactedFromValue(Schema.String),
    expires_at: Schema.NullOr(Timestamp)
  }),
  ({ email, expires_in_days, label, organization, scopes }, { at, id }) =>
    Effect.gen(function*() {
      const issued = yield* IssuedCredentials
      const expiresAt = apiKeyExpiry(expires_in_days, at)
      const admin = yield* locked(id, email)
      if (admin.disabled_at !== null) {
        return yield* refuse(`${email} is disabled: enable the admin first, or the key would not work.`)
      }
      const made = yield* issued.issueApiKey(
        { organizationId: id, adminId: admin.id },
        { label, scopes, expiresAt },
        at
      )
      return [
        { organization, key_id: made.id, label, key: made.secret, expires_at: made.expiresAt },
        entry("api_key.created", made.id, { ...Changes.createdApiKey(label, scopes), email })
      ]
    })
)

export const revokeKey = change(
  "keys_revoke",
  Schema.Struct({ organization: Schema.String, key_id: Schema.String }),
  Schema.Struct({ organization: Schema.String, key_id: Schema.String, revoked_at: Timestamp }),
  ({ key_id, organization }, { at, id }) =>
    Effect.gen(function*() {
      const issued = yield* IssuedCredentials
      const keyId = key_id.toLowerCase()
      if (isUuid(keyId)) yield* issued.lockApiKey(id, keyId)
      const key = yield* issued.findApiKey(id, keyId)
      if (key === null) return yield* refuse(`${organization} has no key ${key_id}.`)
      if (key.revoked_at !== null) return [{ organization, key_id, revoked_at: key.revoked_at }, null]
      const details = yield* Changes.revokeApiKey(id, keyId, at)
      return [{ organization, key_id, revoked_at: at }, entry("api_key.revoked", keyId, details)]
    })
)

export const listKeys = useCase(
  "keys_list",
  Schema.Struct({ organization: Schema.String }),
  Schema.Struct({ keys: Schema.Array(Key) }),
  ({ organization }) =>
    Effect.gen(function*() {
      const id = yield* existing(organization)
      const found = yield* (yield* Db).read(id, (yield* IssuedCredentials).apiKeys(id))
      return { keys: found.map(shown(yield* now)) }
    })
)

export const showKey = useCase(
  "keys_show",
  Schema.Struct({ organization: Schema.String, key_id: Schema.String }),
  Key,
  ({ key_id, organization }) =>
    Effect.gen(function*() {
      const id = yield* existing(organization)
      const issued = yield* IssuedCredentials
      const found = yield* (yield* Db).read(id, issued.findApiKey(id, key_id.toLowerCase()))
      return shown(yield* now)(found ?? (yield* refuse(`${organization} has no key ${key_id}.`)))
    })
)
