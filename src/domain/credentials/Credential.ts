/** AI connections and API keys as an admin sees them (specification, section 2.8), never with a secret. */
import { Duration, Redacted, Schema, SchemaTransformation } from "effect"
import { ContentNotice, described, Kind, OptionalTimestamp, Timestamp, Uuid } from "../JsonShapes.ts"
import { maxPasswordLength } from "../Limits.ts"
import { after } from "../Moments.ts"
import { Assistant } from "../oauth/OAuth.ts"
import { Scope } from "../people/Access.ts"

/** A console password as it is sent: never answered, and hidden wherever it is held. */
export const ConsolePassword = Schema.String.annotate({
  format: "password",
  writeOnly: true
}).check(Schema.isMaxCodePoints(maxPasswordLength)).pipe(
  Schema.decodeTo(
    Schema.Redacted(Schema.String),
    SchemaTransformation.transform({ decode: (text: string) => Redacted.make(text), encode: Redacted.value })
  )
)

/** The console password as it is sent with what may give an admin access to much. */
export const GivingPassword = Schema.optionalKey(ConsolePassword).annotateKey({
  description: "Your console password; needed for what gives access to every account, or to the archive."
})

/**
 * The number of accounts listed with a connection that can access all; with more accounts, only `all_accounts` is set.
 */
export const accountsShown = 100

export const AiConnection = Schema.Struct({
  object: Kind("ai_connection"),
  id: described(Uuid, "The connection's id: a UUID."),
  kind: described(
    Schema.Literals(["token", "oauth"]),
    "`token` for a Developer token, `oauth` for an application connected through the consent page."
  ),
  label: described(Schema.String, "What the connection is called."),
  client: described(
    Schema.NullOr(Schema.Struct({
      name: described(Schema.String, "The name that the application chose for itself, which proves nothing."),
      host: described(Schema.String, "The host that its authorization code went to."),
      known: described(
        Schema.NullOr(Assistant),
        "The assistant whose official address that is; null for every other application."
      )
    })),
    "The application of an `oauth` connection; null for a `token`."
  ),
  mode: described(
    Schema.Literals(["cloud", "local"]),
    "`cloud` where the service decrypts for it, `local` where a program on the user's machine does."
  ),
  scopes: described(Schema.Array(Scope), "What it may be used for."),
  scope_type: described(
    Schema.Literals(["accounts", "departments"]),
    "Whether it is limited to accounts or to departments."
  ),
  all_accounts: described(
    Schema.Boolean,
    "Whether it can access whatever its admin can access, also accounts and departments that are added later."
  ),
  account_ids: described(
    Schema.Array(Uuid),
    `The accounts that were chosen for it: UUIDs. Of one that can access all accounts those that it can access now, and none where they are more than ${accountsShown}.`
  ),
  department_ids: described(Schema.Array(Uuid), "The departments that it is limited to: UUIDs."),
  owner_email: described(
    Schema.NullOr(Schema.String),
    "The email address of the admin that it acts as; null for readers other than owner and superadmins."
  ),
  mine: described(Schema.Boolean, "Whether it acts as the caller's own admin."),
  has_stored_password: described(Schema.Boolean, "Whether the archive password is stored with it."),
  created_at: described(Timestamp, "When it was made."),
  last_used_at: described(OptionalTimestamp, "When it was last used; null before its first use."),
  expires_at: described(OptionalTimestamp, "When it ends by itself; null for never."),
  revoked_at: described(OptionalTimestamp, "When it was revoked or stopped working; null while it works.")
}).annotate({ identifier: "ai_connection" })
export type AiConnection = typeof AiConnection.Type

export const ApiKey = Schema.Struct({
  object: Kind("api_key"),
  id: described(Uuid, "The key's id: a UUID."),
  label: described(Schema.String, "What the key is for."),
  scopes: described(Schema.Array(Scope), "What it may be used for."),
  owner_email: described(
    Schema.NullOr(Schema.String),
    "The email address of the admin that it acts as; null for readers other than owner and superadmins."
  ),
  mine: described(Schema.Boolean, "Whether it acts as the caller's own admin."),
  created_at: described(Timestamp, "When it was made."),
  last_used_at: described(OptionalTimestamp, "When it was last used; null before its first use."),
  expires_at: described(OptionalTimestamp, "When it ends by itself; null for never."),
  revoked_at: described(OptionalTimestamp, "When it was revoked or stopped working; null while it works.")
}).annotate({ identifier: "api_key" })
export type ApiKey = typeof ApiKey.Type

/** A key at the moment of its creation, the only one at which its secret is shown. */
export const CreatedApiKey = Schema.Struct({
  ...ApiKey.fields,
  secret: described(
    Schema.NullOr(Schema.RedactedFromValue(Schema.String)),
    "The key itself; it cannot be shown again. Null over MCP, and where the request is repeated by its Idempotency-Key."
  )
}).annotate({ identifier: "api_key_created" })

/** The connection on its own. */
export const AiConnectionDetail = Schema.Struct({ content_notice: ContentNotice, ...AiConnection.fields }).annotate({
  identifier: "ai_connection_detail"
})

/** Every credential that the caller may see, in an answer of its own shape that is never paged (section 4.2). */
export const AiConnections = Schema.Struct({
  content_notice: ContentNotice,
  object: Kind("ai_connections"),
  connections: described(Schema.Array(AiConnection), "The AI connections, newest first."),
  api_keys: described(Schema.Array(ApiKey), "The API keys, newest first.")
}).annotate({ identifier: "ai_connections" })

export interface ApiKeyFacts extends Omit<ApiKey, "mine" | "object" | "owner_email"> {
  /** Its admin's address. */
  readonly email: string
  /** Its admin is disabled, or has another password since. */
  readonly stopped: boolean
}

export const ApiKeyState = Schema.Literals(["works", "revoked", "expired", "stopped"])

/** The moment when a key of so many days expires; null for never. */
export const apiKeyExpiry = (days: number | null, now: Date): Date | null =>
  days === null ? null : after(now, Duration.days(days))

/** The state of the key at `now`: it works, or the reason that it does not. */
export const apiKeyState = (
  facts: Pick<ApiKeyFacts, "expires_at" | "revoked_at" | "stopped">,
  now: Date
): typeof ApiKeyState.Type => {
  if (facts.revoked_at !== null) return "revoked"
  if (facts.expires_at !== null && facts.expires_at <= now) return "expired"
  return facts.stopped ? "stopped" : "works"
}
