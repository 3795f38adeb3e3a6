/** The terms that the authorization server and the protected resources share (specification, section 5.2). */
import { Duration, Schema } from "effect"

/** The two protected resources: the tools for assistants, and the interface for programs. */
export const resources = ["mcp", "v1"] as const
export type Resource = typeof resources[number]

/** The resource that a token is issued for, as a client writes it: the resource's exact address. */
export const resourceAddress = (baseUrl: string, resource: Resource): string => `${baseUrl}/${resource}`

/** The path of a protected resource's metadata (RFC 9728); the resource's path follows it. */
export const resourceMetadataPath = "/.well-known/oauth-protected-resource"

/** The address where a client without a token learns how to get one. */
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

/** The lifetime of a registration that no admin has connected. */
export const unusedClientLifetime = Duration.hours(24)
/** The time that a spent or expired code is remembered, so that its second use is recognised. */
export const codeMemory = Duration.hours(24)

/** The largest form or query of the authorization server, in bytes, and the most parameters it may have. */
export const maxFormSize = 8 * 1024
export const maxParameters = 50

export const maxRedirectUris = 10
export const maxRedirectUriLength = 2048
export const maxClientNameLength = 100
/** The number of accounts or departments that an admin may choose one by one for a connection. */
export const maxChosen = 500
/** A list of more of them is searched, and shows at most so many besides those that are chosen. */
export const choicesSearched = 20
export const choicesListed = 100
/** New registrations in any hour, from one address and from all of them. */
export const registrationsPerAddress = 20
export const registrationsInTotal = 500
export const registrationWindow = Duration.hours(1)

/** The longest address of a document that describes an application, and the largest document, in bytes. */
export const maxDocumentAddressLength = 2048
export const maxDocumentSize = 5 * 1024
/** The time that a document may take to come, from the name of its host to its last byte. */
export const documentDeadline = Duration.seconds(5)
/**
 * The number of them that a process remembers, and the least and the most time; the least for what could not be read.
 */
export const documentsRemembered = 500
export const documentKeptLeast = Duration.minutes(1)
export const documentKeptMost = Duration.days(1)
/** Documents that a process fetches in a minute, for one admin and in total. */
export const documentsPerAdmin = 10
export const documentsInTotal = 60
