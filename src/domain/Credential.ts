/** AI connections and API keys as an admin sees them (specification, section 2.8), never with a secret. */
import { Redacted, Schema, SchemaTransformation } from "effect"
import { Scope } from "./Access.ts"
import { maxPasswordLength } from "./Limits.ts"
import { ContentNotice, Timestamp, Uuid } from "./Wire.ts"

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

const Moment = Schema.NullOr(Timestamp)

/** How many accounts of a connection that reaches all are listed with it; beyond, `all_accounts` says it alone. */
export const accountsShown = 100

export const AiConnection = Schema.Struct({
  object: Schema.Literal("ai_connection"),
  id: Uuid,
  kind: Schema.Literals(["token", "oauth"]),
  label: Schema.String,
  client: Schema.NullOr(Schema.Struct({
    name: Schema.String,
    host: Schema.String,
    known: Schema.NullOr(Schema.Literals(["assistant_a", "assistant_b"]))
  })),
  mode: Schema.Literals(["cloud", "local"]),
  scopes: Schema.Array(Scope),
  scope_type: Schema.Literals(["accounts", "departments"]),
  all_accounts: Schema.Boolean.annotate({
    description: "Whether it reaches whatever its admin reaches, also accounts and departments that are added later."
  }),
  account_ids: Schema.Array(Uuid).annotate({
    description:
      `The accounts that were chosen for it; of one that reaches all accounts those that it reaches now, and none where they are more than ${accountsShown}.`
  }),
  department_ids: Schema.Array(Uuid),
  owner_email: Schema.NullOr(Schema.String),
  mine: Schema.Boolean,
  has_stored_password: Schema.Boolean,
  created_at: Timestamp,
  last_used_at: Moment,
  expires_at: Moment,
  revoked_at: Moment
}).annotate({ identifier: "ai_connection" })
export type AiConnection = typeof AiConnection.Type

export const ApiKey = Schema.Struct({
  object: Schema.Literal("api_key"),
  id: Uuid,
  label: Schema.String,
  scopes: Schema.Array(Scope),
  owner_email: Schema.NullOr(Schema.String),
  mine: Schema.Boolean,
  created_at: Timestamp,
  last_used_at: Moment,
  expires_at: Moment,
  revoked_at: Moment
}).annotate({ identifier: "api_key" })
export type ApiKey = typeof ApiKey.Type

/** A key at the moment of its creation, the only one at which its secret is shown. */
export const CreatedApiKey = Schema.Struct({
  ...ApiKey.fields,
  secret: Schema.NullOr(Schema.RedactedFromValue(Schema.String)).annotate({
    description: "The key itself; it cannot be shown again."
  })
}).annotate({ identifier: "api_key_created" })

/** The connection on its own. */
export const AiConnectionDetail = Schema.Struct({ content_notice: ContentNotice, ...AiConnection.fields }).annotate({
  identifier: "ai_connection_detail"
})

/** Every credential that the caller may see, in an answer of its own shape that is never paged (section 4.2). */
export const AiConnections = Schema.Struct({
  content_notice: ContentNotice,
  object: Schema.Literal("ai_connections"),
  connections: Schema.Array(AiConnection),
  api_keys: Schema.Array(ApiKey)
}).annotate({ identifier: "ai_connections" })
