/** The caller of a bearer token, and the credentials that an admin may see. */
import { Context, type Effect, type Redacted } from "effect"
import type { AiConnection, ApiKey } from "../../domain/credentials/Credential.ts"
import type { InvalidApiKey, InvalidToken, ResourceMissing, ServiceUnavailable } from "../../domain/Failure.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"

/** The caller of a bearer token. */
export class Credentials extends Context.Service<Credentials, {
  /**
   * The admin behind the token, read afresh; every reason to refuse one gives the same failure, by the form of the
   * token.
   *
   * `resource` is the address at which it is presented: an access token works at the one that it was issued for alone.
   */
  authenticate(
    token: Redacted.Redacted,
    resource: string
  ): Effect.Effect<
    Omit<Caller["Service"], "via" | "ip" | "requestId">,
    InvalidApiKey | InvalidToken | ServiceUnavailable
  >
  /** True if the token has the form of a credential of the service: any other is refused without a query. */
  isWellFormed(token: Redacted.Redacted): boolean
  /** An admin of the organization by address, with every scope: for programs that have signed them in themselves. */
  actAs(
    organizationId: OrganizationId,
    email: string
  ): Effect.Effect<Omit<Caller["Service"], "via" | "ip" | "requestId">, ResourceMissing | ServiceUnavailable>
  /** True if the caller's credential still acts as the admin of that role; in a transaction of the organization. */
  isLive(caller: Caller["Service"], now: Date): Effect.Effect<boolean>
  /** The AI connections that the caller may see, newest first. */
  connections(caller: Caller["Service"]): Effect.Effect<ReadonlyArray<AiConnection>>
  /** The API keys that the caller may see, newest first. */
  apiKeys(caller: Caller["Service"]): Effect.Effect<ReadonlyArray<ApiKey>>
  /** The last four characters of those keys by id, as far as they were kept: for people, on the console alone. */
  keyEndings(caller: Caller["Service"]): Effect.Effect<ReadonlyMap<string, string>>
}>()("org-security-console/ports/credentials/Credentials") {}
