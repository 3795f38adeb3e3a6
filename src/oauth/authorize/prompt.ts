import { Effect } from "effect"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"

/** An admin always decides, so that nothing can be granted without a page. */
export const checkPrompt = (parameters: Parameters) =>
  (parameters.get("prompt") ?? "").split(" ").includes("none")
    ? Effect.fail(refuse("interaction_required", "An admin has to grant access on the consent page."))
    : Effect.void
