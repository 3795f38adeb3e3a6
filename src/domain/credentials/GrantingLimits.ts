/** The limits of what a credential may grant to others: never more than it has itself. */
import { ScopeExceeded } from "../Failure.ts"
import { type Caller, canAccessEveryAccount, isNarrowing, type Role, type Scope } from "../people/Access.ts"

export interface HandedOut {
  readonly scopes?: ReadonlyArray<Scope>
  /** True if it can access every account that its holder can access, without a limit. */
  readonly unlimited?: boolean
}

/** The reason that the caller may not hand it out; null where it may. */
export const exceeded = (
  { limit, scopes: carried }: Pick<Caller["Service"], "limit" | "scopes">,
  { scopes = [], unlimited = false }: HandedOut
): ScopeExceeded | null => {
  if (unlimited && limit !== null) {
    return new ScopeExceeded({
      message: "A credential limited to accounts or departments cannot grant access that has no such limit."
    })
  }
  return scopes.every((scope) => carried.includes(scope)) ? null : new ScopeExceeded({ param: "scopes" })
}

/** An access that an admin has or is given: by which role, and whether a grant of it lies beyond the caller's limit. */
export interface HandedAccess {
  readonly role: Role
  readonly beyond: boolean
}

/** The failure for a caller with a limit who grants access beyond it. */
export const beyondLimit = (param?: string): ScopeExceeded =>
  new ScopeExceeded({
    message: "A credential limited to accounts or departments gives access to no others.",
    ...(param === undefined ? {} : { param })
  })

/** The reason that a caller with a limit may not hand the access out; null where it lies within the limit. */
export const accessExceeded = (
  { limit }: Pick<Caller["Service"], "limit">,
  { beyond, role }: HandedAccess
): ScopeExceeded | null =>
  isNarrowing(limit) && (beyond || canAccessEveryAccount(role))
    ? beyondLimit()
    : null
