/** The ports that the authorization server depends on; one layer in SQL and one of cryptography implement them. */
import { Context, type Effect, type Redacted, Schema } from "effect"
import type { RateLimited, ServiceUnavailable } from "../../domain/Failure.ts"
import type { Assistant, Resource } from "../../domain/oauth/OAuth.ts"
import type {
  ChosenAccess,
  Code,
  Digest,
  Granter,
  OAuthClient,
  OAuthConnection,
  Token
} from "../../domain/oauth/OAuthRecords.ts"
import type { OrganizationId, Scope } from "../../domain/people/Access.ts"

/** The purpose of a secret of the authorization server; each kind has a form of its own. */
export type OAuthSecretKind = "code" | "access" | "refresh" | "client"

/** The content of a refresh token, so that a used one is recognised without being stored. */
export interface RefreshReference {
  readonly connectionId: string
  /** Its number among its connection's refresh tokens, counted from 1. */
  readonly generation: number
  readonly expiresAt: Date
}

/** Making secrets and their digests. */
export class OAuthSecrets extends Context.Service<OAuthSecrets, {
  make(kind: Exclude<OAuthSecretKind, "refresh">): Effect.Effect<Redacted.Redacted>
  /** A refresh token with sealed contents; it is valid only by its stored digest. */
  makeRefresh(reference: RefreshReference): Effect.Effect<Redacted.Redacted>
  /** The contents of a well-formed refresh token; null for an older one without contents. */
  reference(secret: Redacted.Redacted): RefreshReference | null
  /** True if the text has the form of a secret of this kind, its checksum and its seal included. */
  isWellFormed(kind: OAuthSecretKind, secret: Redacted.Redacted): boolean
  digest(secret: Redacted.Redacted): Digest
  /** Every digest under which the secret may have been kept. */
  digests(secret: Redacted.Redacted): ReadonlyArray<string>
  /** The S256 challenge of a verifier (RFC 7636, section 4.2). */
  challenge(verifier: Redacted.Redacted): string
  readonly newId: Effect.Effect<string>
}>()("org-security-console/ports/oauth/OAuthPorts/OAuthSecrets") {}

/** A registration to keep. */
export interface NewClient extends Omit<OAuthClient, "secretDigest"> {
  readonly secret: Digest | null
  readonly createdAt: Date
  /** The address that it came from, for the limit. */
  readonly address: string | null
}

/** The applications that registered themselves, each at one issuer. */
export class OAuthClients extends Context.Service<OAuthClients, {
  find(issuer: string, id: string): Effect.Effect<OAuthClient | null, ServiceUnavailable>
  /** Keeps a registration; fails when there were too many from the address or in all. */
  register(issuer: string, client: NewClient): Effect.Effect<void, RateLimited | ServiceUnavailable>
}>()("org-security-console/ports/oauth/OAuthPorts/OAuthClients") {}

/** A connection to make. */
export interface NewConnection {
  readonly id: string
  readonly adminId: string
  readonly clientId: string
  readonly clientName: string
  readonly clientHost: string
  readonly clientKnown: Assistant | null
  readonly mode: "cloud" | "local"
  readonly resource: string
  readonly scopes: ReadonlyArray<Scope>
  readonly access: ChosenAccess
  /** True if the archive password is kept with it. */
  readonly hasStoredPassword: boolean
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** A code to keep. */
export interface NewCode extends Omit<Code, "digest" | "redeemedAt"> {
  readonly digest: Digest
  readonly createdAt: Date
}

/** A token to keep. */
export interface NewToken extends Omit<Token, "digest" | "usedAt"> {
  readonly digest: Digest
  /** Null for an access token. */
  readonly generation: number | null
  readonly createdAt: Date
}

/** The facts of an access token that a resource server gets. */
export interface TokenFacts {
  readonly organizationId: OrganizationId
  readonly connectionId: string
  readonly clientId: string | null
  readonly adminId: string
  readonly scopes: ReadonlyArray<Scope>
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** The questions about an application that an admin is about to connect. */
export interface ConsentQuestions {
  readonly client: OAuthClient
  /** The host that the code goes to, and whether it is the admin's own machine. */
  readonly host: string
  readonly loopback: boolean
  /** The address of the resource. */
  readonly resource: string
}

/** A connection of the same admin that a new one may take the place of. */
export interface Replaceable {
  readonly id: string
  readonly name: string
  readonly host: string
  /** True if both have one registration; otherwise it is of the same host, and may be another application. */
  readonly sameClient: boolean
  readonly scopes: ReadonlyArray<Scope>
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

/** An admin's search in a list that they choose from, and what they have ticked in it. */
export interface ListQuery {
  readonly find: string
  readonly ticked: ReadonlyArray<string>
}

/** As much of a list as is shown. */
export interface ListPart<A> {
  /** The number of entries that the admin may choose from. */
  readonly total: number
  /** The ticked ones, found by the search or not; empty where the whole list is short. */
  readonly ticked: ReadonlyArray<A>
  /** The number of others that the search finds, and the first of them. */
  readonly matching: number
  readonly found: ReadonlyArray<A>
}

/** The things that an admin may let an application use, in the console's order. */
export interface Choices {
  readonly accounts: ListPart<{
    readonly id: string
    readonly name: string
    readonly phone_number: string
    readonly role_label: string | null
  }>
  readonly departments: ListPart<{ readonly id: string; readonly name: string }>
}

/** Connections with their codes and tokens. All but `locate` run inside a transaction of the organization. */
export class OAuthGrants extends Context.Service<OAuthGrants, {
  /** The owner of a code or token, by its digests; outside any transaction. */
  locate(
    what: "code" | "token",
    digests: ReadonlyArray<string>
  ): Effect.Effect<
    { readonly organizationId: OrganizationId; readonly connectionId: string } | null,
    ServiceUnavailable
  >
  /** The owner of a connection; outside any transaction. */
  locateConnection(
    connectionId: string
  ): Effect.Effect<
    { readonly organizationId: OrganizationId; readonly connectionId: string } | null,
    ServiceUnavailable
  >
  /**
   * True if the token was stored by a transaction whose result was lost: waits until that has ended, which frees the
   * connection's row, and fails when the database does not answer in time. Outside any transaction.
   */
  isKept(
    organizationId: OrganizationId,
    connectionId: string,
    digests: ReadonlyArray<string>
  ): Effect.Effect<boolean, ServiceUnavailable>
  /** The rights of an access token at the resource now, or null where it is worth nothing; outside any transaction. */
  inspect(
    digests: ReadonlyArray<string>,
    resource: string,
    now: Date
  ): Effect.Effect<TokenFacts | null, ServiceUnavailable>
  /** The connection, locked for the rest of the transaction. */
  lock(organizationId: OrganizationId, connectionId: string): Effect.Effect<OAuthConnection | null>
  /** The connection's code, locked; read after the connection was. */
  code(
    organizationId: OrganizationId,
    connectionId: string,
    digests: ReadonlyArray<string>
  ): Effect.Effect<Code | null>
  /** The connection's token, locked; read after the connection was. */
  token(
    organizationId: OrganizationId,
    connectionId: string,
    digests: ReadonlyArray<string>
  ): Effect.Effect<Token | null>
  /**
   * True if the admin is there and not disabled, which stays so for the rest of the transaction, and the organization
   * is not closed.
   */
  isActive(admin: Granter): Effect.Effect<boolean>
  /** True if the admin can access every one of them. */
  canAccess(admin: Granter, access: ChosenAccess): Effect.Effect<boolean>
  /** The lists that the admin may choose from; a long one is cut to what is ticked and what the search finds. */
  choices(admin: Granter, wanted: { readonly [K in keyof Choices]: ListQuery }): Effect.Effect<Choices>
  /** True if the admin may connect the application: owner and superadmins any, the others where it is approved. */
  mayConnect(admin: Granter, application: string): Effect.Effect<boolean>
  /**
   * The admin's live connections of the application to the same resource, newest first: of the same registration, or of
   * another one under the same host, on the admin's own machine under the same name as well.
   */
  replaceable(admin: Granter, applying: ConsentQuestions, now: Date): Effect.Effect<ReadonlyArray<Replaceable>>
  connect(organizationId: OrganizationId, connection: NewConnection): Effect.Effect<void>
  addCode(organizationId: OrganizationId, connectionId: string, code: NewCode): Effect.Effect<void>
  addToken(organizationId: OrganizationId, connectionId: string, token: NewToken): Effect.Effect<void>
  redeem(organizationId: OrganizationId, code: Code, at: Date): Effect.Effect<void>
  /** Ends a refresh token. It is forgotten where it says itself which one it is, and else kept as used. */
  use(organizationId: OrganizationId, token: Token, at: Date): Effect.Effect<void>
  /** The times when the connection's access tokens were issued that have not been forgotten, newest first. */
  issuedAt(organizationId: OrganizationId, connectionId: string): Effect.Effect<ReadonlyArray<Date>>
  /** Forgets the connection's access tokens that have expired. */
  forgetExpired(organizationId: OrganizationId, connectionId: string, now: Date): Effect.Effect<void>
  /**
   * Moves the moment at which the connection stops when it is not refreshed, by the refresh token of the generation.
   */
  prolong(organizationId: OrganizationId, connectionId: string, generation: number, until: Date): Effect.Effect<void>
  /** Revokes the connection and forgets its codes and tokens. */
  disconnect(organizationId: OrganizationId, connectionId: string, at: Date): Effect.Effect<void>
}>()("org-security-console/ports/oauth/OAuthPorts/OAuthGrants") {}

/** Refreshes that were refused for the connection's limit, remembered by the process that refused them. */
export class RefusedRefreshes extends Context.Service<RefusedRefreshes, {
  /** Seconds that the same request has to wait; 0 where it was not refused. */
  waits(request: Redacted.Redacted): Effect.Effect<number>
  /** Remembers a refusal for so many seconds, a minute at most: the database may say something else by then. */
  remember(request: Redacted.Redacted, seconds: number): Effect.Effect<void>
}>()("org-security-console/ports/oauth/OAuthPorts/RefusedRefreshes") {}

/** A program other than the service that answers at one of its resources, and the secret by which it is known. */
export interface ResourceServer {
  readonly id: string
  readonly resource: Resource
  readonly secret: Redacted.Redacted
}

/** The resource servers that may introspect tokens; none unless configured. */
export const ResourceServers = Context.Reference<ReadonlyArray<ResourceServer>>(
  "org-security-console/ports/oauth/OAuthPorts/ResourceServers",
  { defaultValue: () => [] }
)

/** The assistants that are known by the whole address that their codes go to; none unless configured. */
export const KnownAssistants = Context.Reference<ReadonlyMap<string, Assistant>>(
  "org-security-console/ports/oauth/OAuthPorts/KnownAssistants",
  { defaultValue: () => new Map() }
)

/** The people who may register applications: everybody by default, only with the initial access token, or nobody. */
export type RegistrationPolicy =
  | { readonly mode: "open" | "off" }
  | { readonly mode: "token"; readonly admits: (token: Redacted.Redacted) => boolean }

export const Registration = Context.Reference<RegistrationPolicy>(
  "org-security-console/ports/oauth/OAuthPorts/Registration",
  {
    defaultValue: () => ({ mode: "open" })
  }
)

/** A document did not come, or is none. */
export class DocumentUnread extends Schema.TaggedError<DocumentUnread>()("DocumentUnread", {}) {}

/** Reads documents that describe applications, for admins who are signed in. */
export interface DocumentReader {
  /** The JSON document at the address, fetched on behalf of the admin. */
  read(
    address: string,
    admin: { readonly organizationId: OrganizationId; readonly adminId: string }
  ): Effect.Effect<unknown, DocumentUnread | RateLimited>
}

/** The reader of client metadata documents; null, so that applications have to register, unless configured. */
export const ClientDocuments = Context.Reference<DocumentReader | null>(
  "org-security-console/ports/oauth/OAuthPorts/ClientDocuments",
  { defaultValue: () => null }
)
