/** The caller of a bearer token: found by its digest, joined to admin and organization at every request. */
import { Clock, Duration, Effect, Layer, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { InvalidApiKey, InvalidToken, type ServiceUnavailable } from "../../../domain/Failure.ts"
import { requestsPerMinute } from "../../../domain/Limits.ts"
import type { OrganizationFacts } from "../../../domain/organization/Organization.ts"
import {
  type AccessLimit,
  type Arrival,
  type Caller,
  type OrganizationId,
  readsArchive,
  type Role,
  type Scope,
  type StoredUnlock
} from "../../../domain/people/Access.ts"
import { Entrance } from "../../../ports/credentials/Authentication.ts"
import { OAuthSecrets } from "../../../ports/oauth/OAuthPorts.ts"
import { ApiKeys } from "../../crypto/credentials/ApiKeys.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { state } from "../../RateWindow.ts"
import { organizationColumns } from "../organization/Organizations.ts"
import { LastUses } from "./LastUses.ts"
import { type CountedHit, counting } from "./RateLimiter.ts"

/** The known facts of an admin and their organization. */
export interface AdminRow {
  readonly organization_id: OrganizationId
  readonly closed: boolean
  readonly admin_id: string
  readonly admin_name: string | null
  readonly role: Role
  readonly archive_access: boolean
}

/** The columns of that. */
export const adminColumns = `admin.organization_id, organization.closed_at is not null as closed, admin.id as admin_id,
  coalesce(admin.name, admin.email) as admin_name, admin.role, admin.archive_access`

interface BearerRow extends AdminRow {
  readonly credential_id: string
  readonly label: string
  readonly scopes: ReadonlyArray<Scope>
  /** True if the time of its last use is to be written again. */
  readonly stale: boolean
  /** Null for a key. */
  readonly reach: AccessLimit["scopeType"] | null
  readonly local: boolean
  readonly unlock: Uint8Array | null
}

interface CountedRow extends BearerRow, OrganizationFacts, CountedHit {}

type BearerCaller = Omit<Caller["Service"], "via" | "ip" | "requestId">

export const caller = (
  row: AdminRow,
  scopes: ReadonlyArray<Scope>,
  limit: AccessLimit | null,
  credential: Caller["Service"]["credential"],
  arrival?: Arrival,
  storedUnlock?: StoredUnlock
): BearerCaller => ({
  organizationId: row.organization_id,
  organizationClosed: row.closed,
  adminId: row.admin_id,
  adminName: row.admin_name,
  role: row.role,
  readsArchive: readsArchive(row.role, row.archive_access),
  scopes,
  limit,
  credential,
  arrival,
  storedUnlock
})

/** The age of `last_used_at` from which a request writes it again. */
const lastUsedGrain = Duration.toMillis(Duration.minutes(1))

/**
 * The statement's first parameters are the time, the time from which a last use is written again, and the one
 * organization whose credentials count, null for any; the digests follow.
 */
const digestsFrom = 4
const inDigests = (column: string, count: number): string =>
  `${column} in (${Array.from({ length: count }, (_, index) => `$${digestsFrom + index}`).join(", ")})`

const keyText = (digests: number): string => `
  select ${adminColumns}, api_key.id as credential_id, api_key.label, api_key.scopes,
    last_used_at is null or last_used_at <= $2 as stale, null as reach, false as local, null::bytea as unlock,
    ${organizationColumns}
  from api_key
  join admin on admin.organization_id = api_key.organization_id and admin.id = api_key.admin_id
  join organization on organization.id = api_key.organization_id
  where ${inDigests("api_key.digest", digests)} and ($3::text is null or $3 = api_key.organization_id)
    and revoked_at is null and (expires_at is null or expires_at > $1)
    and disabled_at is null and (password_changed_at is null or password_changed_at <= api_key.created_at)`

/** One parameter more, the last: the address that the token is presented at. */
const tokenText = (digests: number): string => `
  select ${adminColumns}, ai_connection.id as credential_id, label,
    array(select unnest(oauth_token.scopes) intersect select unnest(ai_connection.scopes)) as scopes,
    last_used_at is null or last_used_at <= $2 as stale,
    case when all_accounts then 'all' else scope_type end as reach, mode = 'local' as local, unlock,
    ${organizationColumns}
  from oauth_token
  join ai_connection on ai_connection.organization_id = oauth_token.organization_id
    and ai_connection.id = oauth_token.connection_id
  join admin on admin.organization_id = ai_connection.organization_id and admin.id = ai_connection.admin_id
  join organization on organization.id = ai_connection.organization_id
  where ${inDigests("oauth_token.digest", digests)} and oauth_token.kind = 'access'
    and ($3::text is null or $3 = ai_connection.organization_id)
    and oauth_token.expires_at > $1 and ai_connection.resource = $${digestsFrom + digests} and revoked_at is null
    and disabled_at is null`

/**
 * The same, and the request counted in the credential's sliding minute, unless that is full; the parameter after the
 * others is the time in milliseconds. Of what was counted nothing has to outlive the database.
 */
const countedText = (text: string, parameter: number): string => {
  const at = `$${parameter}::bigint`
  const rows = `select credential_id::text, array[${at}], true from me`
  return `
  with me as (${text}), hit as (${counting(rows, at, requestsPerMinute)})
  select me.*, hit.*, set_config('synchronous_commit', 'off', true) from me, hit`
}

/** The callers of tokens. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const keys = yield* ApiKeys
  const secrets = yield* OAuthSecrets
  const uses = yield* LastUses

  const isWellFormed = (token: Redacted.Redacted) => secrets.isWellFormed("access", token) || keys.isWellFormed(token)

  /** The one row of the statement, which is counted where `counted` makes it so. */
  const find = <Row extends BearerRow>(counted: boolean, row: (row: Row, now: number) => Arrival | undefined) => {
    const complete = (text: string, parameters: number) => counted ? countedText(text, parameters + 1) : text
    const texts = new Map<string, string>()
    const textOf = (kind: "key" | "token", digests: number): string => {
      const name = `${kind} ${digests}`
      const known = texts.get(name)
      if (known !== undefined) return known
      const text = kind === "key"
        ? complete(keyText(digests), digestsFrom - 1 + digests)
        : complete(tokenText(digests), digestsFrom + digests)
      texts.set(name, text)
      return text
    }
    return (
      token: Redacted.Redacted,
      resource: string,
      only: OrganizationId | null
    ): Effect.Effect<BearerCaller, InvalidApiKey | InvalidToken | ServiceUnavailable> =>
      Effect.flatMap(Clock.currentTimeMillis, (millis) => {
        const isToken = secrets.isWellFormed("access", token)
        if (!isToken && !keys.isWellFormed(token)) return Effect.fail(new InvalidApiKey({}))
        const now = new Date(millis)
        const usedBefore = new Date(millis - lastUsedGrain)
        const digests = isToken ? secrets.digests(token) : keys.digests(token)
        const values = [now, usedBefore, only, ...digests, ...(isToken ? [resource] : []), ...(counted ? [millis] : [])]
        return Effect.flatMap(
          Tenant.ask<Row>(sql, textOf(isToken ? "token" : "key", digests.length), values),
          ([found]): Effect.Effect<BearerCaller, InvalidApiKey | InvalidToken | ServiceUnavailable> => {
            if (found === undefined) return Effect.fail(isToken ? new InvalidToken({}) : new InvalidApiKey({}))
            const { credential_id: id, label, local, organization_id: organizationId, reach, scopes, stale, unlock } =
              found
            if (stale) uses.note(isToken ? "ai_connection" : "api_key", { organizationId, id, at: now })
            return Effect.succeed(caller(
              found,
              scopes,
              reach === null ? null : { scopeType: reach, connectionId: id, ...(local ? { local } : {}) },
              { kind: isToken ? "oauth" : "api_key", id, label },
              row(found, millis),
              unlock === null ? undefined : { sealed: Uint8Array.from(unlock), token }
            ))
          }
        )
      })
  }

  const identified = find<BearerRow>(false, () => undefined)
  return {
    isWellFormed,
    /** The caller of the token. */
    authenticate: (token: Redacted.Redacted, resource: string) => identified(token, resource, null),
    /** The same lookup, and the request counted. */
    enter: find<CountedRow>(true, (row, now) => ({
      admitted: state(row.admitted, row.used, row.oldest, now),
      organization: row
    }))
  }
})

/** One statement that reads the caller, the rest of its budget, and its organization's facts. */
export const layer = Layer.effect(Entrance, Effect.map(make, ({ enter }) => Entrance.of({ enter })))
