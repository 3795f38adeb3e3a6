/** AI connections and API keys as an admin sees them (specification, section 2.8), never with a secret. */
import { Schema } from "effect"
import { Scope } from "./Access.ts"
import { ContentNotice, Timestamp, Uuid } from "./Wire.ts"

const Moment = Schema.NullOr(Timestamp)

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
  account_ids: Schema.Array(Uuid),
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

/** Every credential that the caller may see, in an answer of its own shape that is never paged (section 4.2). */
export const AiConnections = Schema.Struct({
  content_notice: ContentNotice,
  object: Schema.Literal("ai_connections"),
  connections: Schema.Array(AiConnection),
  api_keys: Schema.Array(ApiKey)
}).annotate({ identifier: "ai_connections" })
