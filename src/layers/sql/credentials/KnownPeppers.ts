/** The peppers that the database's credentials were made under: without one of them, what it holds is dead. */
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Peppers } from "../../crypto/Peppers.ts"
import * as Tenant from "../../postgres/Tenant.ts"

interface Use {
  readonly pepper: string
  readonly kind: string
  readonly uses: number
}

/** Peppers that are in use and not given; the message says what depends on them, and what to do. */
export class PeppersMissing extends Schema.TaggedError<PeppersMissing>()("PeppersMissing", {
  uses: Schema.Array(Schema.Struct({ pepper: Schema.String, kind: Schema.String, uses: Schema.Int }))
}) {
  override get message(): string {
    const ids = [...new Set(this.uses.map(({ pepper }) => pepper))].join(",")
    const what = this.uses.map(({ kind, pepper, uses }) => `${uses} ${kind} under ${pepper}`).join(", ")
    return `The database holds credentials whose pepper is not given (${what}): restore the data directory's file ` +
      `"pepper", or CONSOLE_PEPPERS, or give these up with CONSOLE_FORGET_PEPPERS=${ids}.`
  }
}

/** Fails when live credentials were made under a pepper that is neither given nor named as forgotten. */
export const check = Effect.fnUntraced(function*(forgotten: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const known = [...(yield* Peppers).map(({ id }) => id), ...forgotten]
  const now = new Date(yield* Clock.currentTimeMillis)
  const uses = yield* Tenant.directoryAlone(sql)(sql<Use>`
    select pepper_id as pepper, kind, count(*) as uses from (
      select pepper_id, 'API keys' as kind from api_key
      where revoked_at is null and (expires_at is null or expires_at > ${now})
      union all select pepper_id, 'tokens' from oauth_token where expires_at > ${now}
      union all select pepper_id, 'applications' from oauth_client where pepper_id is not null
      union all select split_part(sealed, '.', 1), 'accounts with secrets' from account_key
      where sealed ~ '^[0-9a-f]{8}[.]'
      union all select split_part(sealed, '.', 1), 'sessions on the messenger' from messenger_session
      where sealed ~ '^[0-9a-f]{8}[.]'
      union all select pepper_id, 'authenticator apps' from totp
      union all select pepper_id, 'recovery codes' from recovery_code where used_at is null and pepper_id is not null
      union all select pepper_id, 'identity providers' from identity_provider
      union all select pepper_id, 'archive keys' from archive_key where pepper_id is not null
    ) as used where pepper_id <> all(${known}) group by pepper_id, kind order by pepper_id, kind`)
  if (uses.length > 0) return yield* new PeppersMissing({ uses })
})
