/** What the authorization server and the protected resources agree on (specification, section 5.2). */
import { Duration, Schema } from "effect"

/** The two protected resources: the tools for assistants, and the interface for programs. */
export const resources = ["mcp", "v1"] as const
export type Resource = typeof resources[number]

/** What a token is issued for, as a client writes it: the resource's exact address. */
export const resourceAddress = (baseUrl: string, resource: Resource): string => `${baseUrl}/${resource}`

/** Where the metadata of a protected resource is (RFC 9728); the resource's path follows it. */
export const resourceMetadataPath = "/.well-known/oauth-protected-resource"

/** Where a client without a token learns how to get one. */
export const resourceMetadata = (baseUrl: string, resource: Resource): string =>
  `${baseUrl}${resourceMetadataPath}/${resource}`

/** The assistants whose official callback addresses the service may know. */
export const Assistant = Schema.Literals(["assistant_a", "assistant_b"])
export type Assistant = typeof Assistant.Type

export const codeLifetime = Duration.seconds(60)
export const accessTokenLifetime = Duration.hours(1)
/** Every rotation starts a new one. */
export const refreshTokenLifetime = Duration.days(90)

/**
 * The pairs of tokens that one connection gets in any minute, and in any hour: with them its live access tokens end.
 */
export const tokensPerMinute = 10
export const tokensPerHour = 60

/** How long a registration lasts that no admin has connected. */
export const unusedClientLifetime = Duration.hours(24)
/** How long a spent or expired code is remembered, so that its second use is recognised. */
export const codeMemory = Duration.hours(24)

/** How large a form or a query of the authorization server may be, in bytes, and how many parameters it may have. */
export const maxFormSize = 8 * 1024
export const maxParameters = 50

export const maxRedirectUris = 10
export const maxRedirectUriLength = 2048
export const maxClientNameLength = 100
/** How many accounts or departments an admin may choose one by one for a connection. */
export const maxChosen = 500
/** A list of more of them is searched, and shows at most so many besides those that are chosen. */
export const choicesSearched = 20
export const choicesListed = 100
/** New registrations in any hour, from one address and from all of them. */
export const registrationsPerAddress = 20
export const registrationsInTotal = 500
export const registrationWindow = Duration.hours(1)

/** How long the address of a document that describes an application may be, and how large the document, in bytes. */
export const maxDocumentAddressLength = 2048
export const maxDocumentSize = 5 * 1024
/** How long a document may take to come, from the name of its host to its last byte. */
export const documentDeadline = Duration.seconds(5)
/** How many of them a process remembers, and how long at least and at most; what could not be read, at least. */
export const documentsRemembered = 500
export const documentKeptLeast = Duration.minutes(1)
export const documentKeptMost = Duration.days(1)
/** How many documents a process fetches in a minute, for one admin and in total. */
export const documentsPerAdmin = 10
export const documentsInTotal = 60
