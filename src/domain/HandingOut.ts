/** What a credential may hand out to somebody else: never more than it has itself. */
import type { Caller, Scope } from "./Access.ts"
import { ScopeExceeded } from "./Failure.ts"

/** What is handed out. */
export interface HandedOut {
  readonly scopes?: ReadonlyArray<Scope>
  /** Whether it reaches every account that its holder reaches, without a limit. */
  readonly unlimited?: boolean
}

/** Why the caller may not hand it out; null where it may. */
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
