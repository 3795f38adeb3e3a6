import { Effect } from "effect"
import { isIrreversible, needsPassword, Scope } from "../../domain/people/Access.ts"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"

/**
 * The scopes of a request: unknown ones are dropped, and every connection can be refreshed without asking. What cannot
 * be taken back is never ticked beforehand: applications ask for whatever the metadata names.
 */
export const checkScope = (parameters: Parameters) => {
  const asked = (parameters.get("scope") ?? "").split(" ").filter((scope) => scope !== "" && scope !== "offline_access")
  const offered = asked.length === 0 ? Scope.literals : Scope.literals.filter((scope) => asked.includes(scope))
  return offered.length === 0
    ? Effect.fail(refuse("invalid_scope", "None of the scopes is known."))
    : Effect.succeed({
      offered,
      ticked: offered.filter((scope) => !(asked.length === 0 ? needsPassword(scope) : isIrreversible(scope)))
    })
}
