/** The statements that find the callers of bearer tokens, and count their requests. */
import { requestsPerMinute } from "../../../domain/Limits.ts"
import type { OrganizationFacts } from "../../../domain/organization/Organization.ts"
import type { AccessLimit, OrganizationId, Role, Scope } from "../../../domain/people/Access.ts"
import { organizationColumns } from "../organization/Organizations.ts"
import { type CountedHit, counting, hitColumns } from "./RateLimiter.ts"

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

export interface BearerRow extends AdminRow {
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

export interface CountedRow extends BearerRow, OrganizationFacts, CountedHit {}

/** A row of several tokens; one that is not counted, because its credential already is, has no hit. */
export type BatchRow =
  & { readonly place: number }
  & ((CountedRow & { readonly key: string }) | BearerRow & { readonly key: null })

export type TokenKind = "key" | "token"

/** The parts of a statement that say what it looks for. Its first parameters are the time, and that before which a use is stale. */
interface Sought {
  /** The condition that the column has the digest, under any pepper. */
  readonly digest: (column: string) => string
  /** The one organization whose credentials count; empty for any. */
  readonly only: string
  /** The address that an access token is presented at. */
  readonly resource: string
}

const keyText = ({ digest, only }: Sought): string => `
  select ${adminColumns}, api_key.id as credential_id, api_key.label, api_key.scopes,
    last_used_at is null or last_used_at <= $2 as stale, null as reach, false as local, null::bytea as unlock,
    ${organizationColumns}
  from api_key
  join admin on admin.organization_id = api_key.organization_id and admin.id = api_key.admin_id
  join organization on organization.id = api_key.organization_id
  where ${digest("api_key.digest")} and ${only} in ('', api_key.organization_id)
    and revoked_at is null and (expires_at is null or expires_at > $1)
    and disabled_at is null and (password_changed_at is null or password_changed_at <= api_key.created_at)`

const tokenText = ({ digest, only, resource }: Sought): string => `
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
  where ${digest("oauth_token.digest")} and oauth_token.kind = 'access'
    and ${only} in ('', ai_connection.organization_id)
    and oauth_token.expires_at > $1 and ai_connection.resource = ${resource} and revoked_at is null
    and disabled_at is null`

const texts = { key: keyText, token: tokenText } as const

const forgetful = "set_config('synchronous_commit', 'off', true)"

/** One token, whose parameters follow in this order: the organization, digests, for an access token the address. */
export const lookup = (kind: TokenKind, digests: number): string =>
  texts[kind]({
    digest: (column) => `${column} in (${Array.from({ length: digests }, (_, index) => `$${4 + index}`).join(", ")})`,
    only: "$3::text",
    resource: `$${4 + digests}`
  })

/**
 * The same, and the request counted in the credential's sliding minute, unless that is full; the parameter after the
 * others is the time in milliseconds. Of what was counted nothing has to outlive the database.
 */
export const countedLookup = (kind: TokenKind, digests: number): string => {
  const at = `$${(kind === "key" ? 4 : 5) + digests}::bigint`
  const rows = `select credential_id::text, array[${at}], true from me`
  return `
  with me as (${lookup(kind, digests)}),
  hit as (${counting(rows, at, requestsPerMinute)} returning ${hitColumns})
  select me.*, hit.*, ${forgetful} from me, hit`
}

/**
 * The same for several tokens, given by arrays: after the time in milliseconds a place, a digest, an organization, and
 * for access tokens an address each. They are counted in the order of their credentials, so that no two processes wait
 * for each other; the second token of one credential is found without being counted.
 */
export const countedLookups = (kind: TokenKind): string => {
  const [members, arrays] = kind === "key" ? ["", ""] : [", resource", ", $7::text[]"]
  const sought = {
    digest: (column: string) => `${column} = asked.digest`,
    only: "asked.bound",
    resource: "asked.resource"
  }
  const rows = `select credential_id::text, array[$3::bigint], true from me where turn = 1 order by 1`
  return `
  with asked as (
    select * from unnest($4::int[], $5::text[], $6::text[]${arrays}) as asked (place, digest, bound${members})),
  me as (
    select place, row_number() over (partition by credential_id order by place) as turn, me.*
    from asked cross join lateral (${texts[kind](sought)}) as me),
  hit as (${counting(rows, "$3::bigint", requestsPerMinute)} returning key, ${hitColumns})
  select me.*, hit.*, ${forgetful} from me left join hit on turn = 1 and key = credential_id::text`
}
