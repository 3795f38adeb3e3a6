/** The credentials that an admin gives to programs and takes back again: API keys and AI connections. */
import { Context, type Effect, type Redacted } from "effect"
import type { ApiKeyFacts } from "../../domain/credentials/Credential.ts"
import type { InvalidApiKey } from "../../domain/Failure.ts"
import type { Caller, OrganizationId, Scope } from "../../domain/people/Access.ts"
import type { AdminRef } from "../signin/ConsolePasswords.ts"

export interface NewApiKey {
  readonly label: string
  readonly scopes: ReadonlyArray<Scope>
  /** Null for never. */
  readonly expiresAt: Date | null
}

/** A key that was made, and until when it works. */
export interface IssuedApiKey {
  readonly id: string
  readonly secret: Redacted.Redacted
  readonly expiresAt: Date | null
}

/** A key that an admin has made for themselves, with their address. */
export interface OwnApiKey extends IssuedApiKey {
  readonly email: string
}

/** The id of the key that is made, where it must not be made twice; by default every key gets one of its own. */
export const NewApiKeyId = Context.Reference<string | undefined>(
  "org-security-console/ports/credentials/IssuedCredentials/NewApiKeyId",
  { defaultValue: () => undefined }
)

/** The stored facts of a credential that is held: one that has only ended with its admin is not revoked. */
export interface LockedCredential {
  readonly revoked: boolean
}

/** Issues and revokes credentials; each works within the operation's transaction. */
export class IssuedCredentials extends Context.Service<IssuedCredentials, {
  /**
   * Makes a key of the caller's admin, and answers it: the only time that it can be seen.
   *
   * A key that a key makes ends with it: it expires no later, and is revoked with it. Fails where
   * there is a key of the id `NewApiKeyId` already, and where the caller's
   * credential has ended in the meantime.
   */
  createApiKey(
    caller: Caller["Service"],
    key: NewApiKey,
    now: Date
  ): Effect.Effect<OwnApiKey, InvalidApiKey>
  /**
   * Makes a key of an admin who is locked, bound to no other credential, and answers it: the only time that it can be
   * seen.
   */
  issueApiKey(admin: AdminRef, key: NewApiKey, now: Date): Effect.Effect<IssuedApiKey>
  /** The organization's keys, the newest first. */
  apiKeys(organizationId: OrganizationId): Effect.Effect<ReadonlyArray<ApiKeyFacts>>
  /** The key of an id, if there is one. */
  findApiKey(organizationId: OrganizationId, id: string): Effect.Effect<ApiKeyFacts | null>
  /** Holds the key as it is for the rest of the transaction. */
  lockApiKey(organizationId: OrganizationId, id: string): Effect.Effect<LockedCredential>
  /** Revokes the key and those made by it, at any depth; returns the number of those. */
  revokeApiKey(organizationId: OrganizationId, id: string, now: Date): Effect.Effect<number>
  /** Holds the connection as it is for the rest of the transaction. */
  lockConnection(organizationId: OrganizationId, id: string): Effect.Effect<LockedCredential>
  /** Disconnects: no token of the connection works from here on. */
  revokeConnection(organizationId: OrganizationId, id: string, now: Date): Effect.Effect<void>
}>()("org-security-console/ports/credentials/IssuedCredentials") {}
