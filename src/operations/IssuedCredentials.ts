/** What an admin gives to programs and takes back again: API keys and AI connections. */
import { Context, type Effect, type Redacted } from "effect"
import type { Caller, OrganizationId, Scope } from "../domain/Access.ts"

export interface NewApiKey {
  readonly label: string
  readonly scopes: ReadonlyArray<Scope>
  /** Null for never. */
  readonly expiresAt: Date | null
}

/** Issues and revokes credentials; each works within the operation's transaction. */
export class IssuedCredentials extends Context.Service<IssuedCredentials, {
  /** Makes a key of the caller's admin, and answers it: the only time that it can be seen. */
  createApiKey(
    caller: Caller["Service"],
    key: NewApiKey,
    now: Date
  ): Effect.Effect<{ readonly id: string; readonly secret: Redacted.Redacted }>
  /** Holds the key as it is for the rest of the transaction. */
  lockApiKey(organizationId: OrganizationId, id: string): Effect.Effect<void>
  revokeApiKey(organizationId: OrganizationId, id: string, now: Date): Effect.Effect<void>
  /** Holds the connection as it is for the rest of the transaction. */
  lockConnection(organizationId: OrganizationId, id: string): Effect.Effect<void>
  /** Disconnects: no token of the connection works from here on. */
  revokeConnection(organizationId: OrganizationId, id: string, now: Date): Effect.Effect<void>
}>()("org-security-console/operations/IssuedCredentials") {}
