/** The checks of every request before its input is read: 429, then 403 for scope, organization, role and limit. */
import { Context, Effect } from "effect"
import * as Failure from "../domain/Failure.ts"
import { Caller, type Role, type Scope } from "../domain/people/Access.ts"
import { RateLimiter, type RateState } from "../ports/RateLimits.ts"
import type { AdmissionFailure, RoleRefusal } from "./Refusals.ts"

/** The admission of callers to an operation. */
export interface AdmissionRules {
  readonly scope: Scope
  readonly roles: ReadonlyArray<Role>
  readonly refusal: RoleRefusal
  readonly whole: Whole
  /** True if it reads the archive. */
  readonly archive: boolean
  /** The role that a caller has after the change: they may repeat it with its key, to get the answer that is kept. */
  readonly roleAfter: Role | undefined
}

/** True if the caller may only ask again for the answer to the change that has taken the role from them. */
export const isRepetition = (
  { roleAfter, roles }: Pick<AdmissionRules, "roleAfter" | "roles">,
  { extras, role }: Caller["Service"]
): boolean => role === roleAfter && !roles.includes(role) && extras?.idempotencyKey !== undefined

/**
 * The limits of a credential that forbid an operation: all where it makes sense for the whole organization alone, and
 * `accounts` where it is about an account that no list of accounts can hold yet.
 */
export type Whole = boolean | "accounts"

/** True if the credential's limit forbids the operation. */
export const isBeyond = (whole: Whole, limit: Caller["Service"]["limit"]): boolean =>
  limit !== null && (whole === "accounts" ? limit.scopeType === "accounts" : whole)

const limited =
  "This concerns the whole organization: a connection that is limited to accounts or departments may not do it."
const limitedToAccounts = "A connection that is limited to accounts may not bring in another one."

const withoutArchive = "The archive was not opened to this admin: the owner and superadmins give access to it."

/** The first refusal that follows from the declaration, in the order of checks; undefined if there is none. */
const refused = (admitted: AdmissionRules, caller: Caller["Service"]): AdmissionFailure | undefined => {
  const { archive, refusal, roles, scope, whole } = admitted
  if (!caller.scopes.includes(scope)) {
    return new Failure.InsufficientScope({ scope, message: `This operation needs the scope ${scope}.` })
  }
  if (caller.organizationClosed) return new Failure.OrganizationClosed({})
  if (!roles.includes(caller.role) && !isRepetition(admitted, caller)) return new refusal({})
  if (archive && !caller.readsArchive) return new Failure.RoleForbidden({ message: withoutArchive })
  return isBeyond(whole, caller.limit)
    ? new Failure.RoleForbidden({ message: whole === "accounts" ? limitedToAccounts : limited })
    : undefined
}

/** Counts the request and checks scope, organization, role and limit, in this order. */
export const admission = (
  admitted: AdmissionRules
): Effect.Effect<RateState, AdmissionFailure, Caller | RateLimiter> =>
  Effect.withFiber(({ context }) => {
    const caller = Context.getUnsafe(context, Caller)
    const counted = caller.arrival?.admitted ??
      Context.getUnsafe(context, RateLimiter).consume(caller.credential.id)
    const failure = refused(admitted, caller)
    return failure === undefined ? counted : Effect.andThen(counted, Effect.fail(failure))
  })
