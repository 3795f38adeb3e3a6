/** The permissions of people: roles, scopes and the admin that a credential acts as. */
import { Context, type Effect, type Redacted, Schema } from "effect"
import type { RateLimited } from "../Failure.ts"
import type { OrganizationFacts } from "../organization/Organization.ts"

/** The roles of an organization's admins (specification, section 1). */
export const Role = Schema.Literals(["owner", "superadmin", "admin", "billing", "archive"])
export type Role = typeof Role.Type

/** The permitted uses of a credential (specification, section 5.3). No scope implies another. */
export const Scope = Schema.Literals([
  "archive:read",
  "org:read",
  "accounts:write",
  "security:write",
  "admins:write",
  "archive:delete"
]).annotate({ identifier: "scope" })
export type Scope = typeof Scope.Type

/** The scopes that only read: granting them needs no console password (section 5.3). */
const readingScopes: ReadonlyArray<Scope> = ["archive:read", "org:read"]

/** Those scopes, as texts name them. */
export const readingScopesText = readingScopes.join(" and ")

/** True if granting the scope asks for the console password. */
export const needsPassword = (scope: Scope): boolean => !readingScopes.includes(scope)

/** True if what the scope covers cannot be taken back (section 5.3). */
export const isIrreversible = (scope: Scope): boolean => scope === "archive:delete"

/** The name of the organization that an admin types at sign-in. It is not a UUID. */
export const OrganizationId = Schema.String.pipe(Schema.brand("OrganizationId"))
export type OrganizationId = typeof OrganizationId.Type

/** The form of an organization's id: a lower-case name that is easy to type. */
export const isOrganizationId = Schema.isPattern(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/)

/** The way that a request came in; the journal keeps it with every entry. */
export const Via = Schema.Literals(["rest", "mcp", "console", "background", "cli", "embedded"])
export type Via = typeof Via.Type

export const CredentialKind = Schema.Literals(["console", "api_key", "token", "oauth"])
export type CredentialKind = typeof CredentialKind.Type

/** Every role may call the operation. */
export const everyone: ReadonlyArray<Role> = Role.literals
/** The roles that act on accounts and their messenger profiles. */
export const protectors: ReadonlyArray<Role> = ["owner", "superadmin", "admin"]
/** The roles that administer the organization itself. */
export const superadmins: ReadonlyArray<Role> = ["owner", "superadmin"]

/** Owner, superadmins and billing can access every account; admin and archive can access what was granted to them. */
export const canAccessEveryAccount = (role: Role): boolean => role !== "admin" && role !== "archive"

/** Only these roles see what the account's devices are (specification, section 2.3). */
export const seesDevices = (role: Role): boolean => protectors.includes(role)

/** Billing never reads the archive, an admin where it was granted, the other roles always. */
export const readsArchive = (role: Role, granted: boolean): boolean => role === "admin" ? granted : role !== "billing"

/**
 * The accounts that a connection is limited to, besides the admin's own access: those chosen for it, those in the
 * departments chosen for it, or whatever the admin can access at the request.
 */
export interface AccessLimit {
  readonly scopeType: "all" | "accounts" | "departments"
  readonly connectionId: string
}

/** True if the limit keeps anything of what the admin can access from the credential. */
export const isNarrowing = (limit: AccessLimit | null): limit is AccessLimit =>
  limit !== null && limit.scopeType !== "all"

/** The parts of a request other than its input; nothing of them is ever an argument of a tool. */
export interface Extras {
  /** Under which the request may be repeated without further effect. */
  readonly idempotencyKey?: string
  /** The password that opens the organization's archive. */
  readonly archivePassword?: Redacted.Redacted
}

/** The rest of a credential's budget after a request was counted. */
export interface RateState {
  readonly limit: number
  readonly remaining: number
  /** Seconds until a request is admitted when none is left, else until the oldest one leaves the window. */
  readonly reset: number
}

/** The findings of admission about the request; valid for its first operation. */
export interface Arrival {
  /** The budget, in which the request was counted; fails where it is beyond. */
  readonly admitted: Effect.Effect<RateState, RateLimited>
  readonly organization: OrganizationFacts
}

/**
 * The admin that the request's credential acts as, read afresh for every request, with the credential and the
 * transport.
 */
export class Caller extends Context.Service<Caller, {
  readonly organizationId: OrganizationId
  readonly organizationClosed: boolean
  readonly adminId: string
  readonly adminName: string | null
  readonly role: Role
  readonly readsArchive: boolean
  readonly scopes: ReadonlyArray<Scope>
  /** Null for a credential that can access whatever the admin can access. */
  readonly limit: AccessLimit | null
  readonly credential: { readonly kind: CredentialKind; readonly id: string; readonly label: string }
  readonly via: Via
  readonly ip: string | null
  readonly requestId: string | null
  readonly extras?: Extras
  readonly arrival?: Arrival | undefined
}>()("org-security-console/domain/people/Access/Caller") {}
