/** The permissions of people: roles, scopes and the admin that a credential acts as. */
import { Context, type Effect, type Redacted, Schema } from "effect"
import type { RateLimited } from "../Failure.ts"
import type { OrganizationFacts } from "../organization/Organization.ts"
import type { OrganizationId } from "../organization/OrganizationId.ts"
import type { Scope } from "./Scopes.ts"

export * from "../organization/OrganizationId.ts"
export * from "./Scopes.ts"

/** The roles of an organization's admins (specification, section 1). */
export const Role = Schema.Literals(["owner", "superadmin", "admin", "billing", "archive"])
export type Role = typeof Role.Type

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
/** Those that may read the archive; an admin only where it was granted. */
export const archiveReaders: ReadonlyArray<Role> = ["owner", "superadmin", "admin", "archive"]

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
  /** True if the connection opens the archive on its user's machine, and never here. */
  readonly local?: boolean
}

/** True if the limit keeps anything of what the admin can access from the credential. */
export const isNarrowing = (limit: AccessLimit | null): limit is AccessLimit =>
  limit !== null && limit.scopeType !== "all"

/** True if the caller opens the archive on its own machine: a connection of mode `local`, or a page of the console. */
export const readsSealed = ({ limit, via }: Pick<Caller["Service"], "limit" | "via">): boolean =>
  limit?.local === true || via === "console"

/** The parts of a request other than its input; nothing of them is ever an argument of a tool. */
export interface Extras {
  /** The key under which the request may be repeated without further effect. */
  readonly idempotencyKey?: string
  /** The password that opens the organization's archive. */
  readonly archivePassword?: Redacted.Redacted
}

/** The seed of the archive's key as the request's token keeps it, and the token that opens it. */
export interface StoredUnlock {
  readonly sealed: Uint8Array
  readonly token: Redacted.Redacted
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
  /** Of a connection with which the archive password is kept. */
  readonly storedUnlock?: StoredUnlock | undefined
  readonly arrival?: Arrival | undefined
}>()("org-security-console/domain/people/Access/Caller") {}
