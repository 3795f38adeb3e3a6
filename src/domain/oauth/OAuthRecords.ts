/** The records of the authorization server: clients, connections, codes and tokens, never with a secret. */
import { Schema } from "effect"
import type { OrganizationId, Role, Scope } from "../people/Access.ts"

/** The proof of identity that a client gives at the token endpoint (RFC 7591, section 2). */
export const AuthMethod = Schema.Literals(["none", "client_secret_basic", "client_secret_post"])
export type AuthMethod = typeof AuthMethod.Type

/** An application as it registered itself; nothing of it is proved. */
export interface OAuthClient {
  readonly id: string
  readonly name: string
  readonly redirectUris: ReadonlyArray<string>
  readonly authMethod: AuthMethod
  readonly secretDigest: string | null
}

/** A digest to keep, and the pepper that it was made under. */
export interface Digest {
  readonly digest: string
  readonly pepper_id: string
}

/** A connection with the admin that it acts as, as they are now. */
export interface OAuthConnection {
  readonly id: string
  readonly clientId: string | null
  readonly clientName: string
  readonly label: string
  readonly resource: string | null
  readonly revoked: boolean
  /** The number of numbered refresh tokens it has had. */
  readonly generation: number
  readonly adminId: string
  readonly adminName: string | null
  readonly adminDisabled: boolean
  readonly organizationClosed: boolean
}

/** A code that was issued for a connection. */
export interface Code {
  readonly digest: string
  readonly redirectUri: string
  readonly challenge: string
  readonly scopes: ReadonlyArray<Scope>
  readonly expiresAt: Date
  /** The seed of the archive's key, sealed under the code. */
  readonly unlock: Uint8Array | null
  readonly redeemedAt: Date | null
}

export type TokenKind = "access" | "refresh"

/** A token of a connection. */
export interface Token {
  readonly kind: TokenKind
  readonly digest: string
  readonly scopes: ReadonlyArray<Scope>
  readonly expiresAt: Date
  /** The seed of the archive's key, sealed under the token. */
  readonly unlock: Uint8Array | null
  readonly usedAt: Date | null
}

/** The admin who grants. */
export interface Granter {
  readonly organizationId: OrganizationId
  readonly adminId: string
  readonly role: Role
}

/**
 * The access that an admin gives an application: accounts or departments that are chosen, or whatever the admin can
 * access.
 */
export interface ChosenAccess {
  readonly scopeType: "accounts" | "departments"
  /** All accounts, also those that are added later: `scopeType` is accounts then, and no ids are chosen. */
  readonly everything: boolean
  readonly ids: ReadonlyArray<string>
}

/** The origin of a request, for the journal. */
export interface ClientOrigin {
  readonly ip: string | null
  readonly requestId: string | null
}

/** The address that clients know the authorization server by, and the organization that it is for, if one alone. */
export interface OAuthIssuer {
  readonly baseUrl: string
  readonly organizationId: OrganizationId | null
}
