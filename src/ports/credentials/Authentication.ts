/** The admission of a request with a bearer token: its caller is found and the request counted, in one query. */
import { Context, type Effect, type Redacted } from "effect"
import type { InvalidApiKey, InvalidToken, ServiceUnavailable } from "../../domain/Failure.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"

/** Counts a request with a bearer token that is right. */
export class Entrance extends Context.Service<Entrance, {
  /**
   * The admin behind the token as `Credentials` knows them, with what is left of the credential's budget and the
   * organization's facts as they were when the request was counted.
   *
   * `only` is the one organization whose credentials work here; null for any. A credential of another one fails as one
   * that is unknown, and is not counted.
   */
  enter(
    token: Redacted.Redacted,
    resource: string,
    only: OrganizationId | null
  ): Effect.Effect<
    Omit<Caller["Service"], "via" | "ip" | "requestId">,
    InvalidApiKey | InvalidToken | ServiceUnavailable
  >
}>()("org-security-console/ports/credentials/Authentication/Entrance") {}
