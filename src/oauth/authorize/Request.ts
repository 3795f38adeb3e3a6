/** A checked authorization request. */
import type { Assistant, Resource } from "../../domain/oauth/OAuth.ts"
import type { OAuthClient, OAuthIssuer } from "../../domain/oauth/OAuthRecords.ts"
import type { Scope } from "../../domain/people/Access.ts"
import type { Parameters } from "../Parameters.ts"
import type { ArchiveMode } from "./archiveMode.ts"

/** A request whose client and address are known: only now may anything be sent there. */
export interface IdentifiedRequest {
  readonly issuer: OAuthIssuer
  readonly client: OAuthClient
  /** The requested address, with the port that the application listens on now. */
  readonly redirectUri: string
  readonly parameters: Parameters
  readonly state: string | undefined
}

/** A request that an admin may grant or deny. */
export interface AuthorizeRequest extends IdentifiedRequest {
  readonly challenge: string
  readonly resource: Resource
  readonly archiveMode: ArchiveMode
  /** The scopes that may be granted: the requested ones, or all if none was requested. */
  readonly offered: ReadonlyArray<Scope>
  /** The scopes that are ticked before the admin chooses. */
  readonly ticked: ReadonlyArray<Scope>
  /** The host that the code goes to. */
  readonly host: string
  /** The assistant whose callback address this is, compared as a whole. */
  readonly known: Assistant | null
}
