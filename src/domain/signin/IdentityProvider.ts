/** An organization's own identity provider (OpenID Connect Core 1.0), by which its admins sign in at the console. */
import { Schema } from "effect"

/**
 * The party that asks for the second factor of an admin who comes by the provider: `console` as after a password;
 * `claim` the provider, where the `amr` of its ID token says `mfa`, and else the console; `provider` the provider
 * alone.
 */
export const SecondFactorBy = Schema.Literals(["console", "claim", "provider"])
export type SecondFactorBy = typeof SecondFactorBy.Type

/** The provider of an organization, without the secret that the console has there. */
export interface IdentityProviderFacts {
  readonly issuer: string
  readonly client_id: string
  /** True if everybody but the owner has to come by it: their passwords open no session. */
  readonly required: boolean
  readonly second_factor: SecondFactorBy
  /** True if it may be at addresses of private networks. */
  readonly private_network: boolean
  /** The most minutes since a person signed in there; null leaves that to the provider. */
  readonly max_age_minutes: number | null
  /** Changes with whatever a sign-in that is under way relies on. */
  readonly version: string
}

/** The provider's identity of an admin: only issuer and subject together identify a person. */
export interface IdentityLink {
  readonly admin_id: string
  readonly email: string
  readonly issuer: string
  readonly subject: string
  readonly linked_at: Date
}

/** A week. */
const maxAgeMost = 10_080

/** Minutes between a sign-in at the provider and one at the console, at most; 0 has everybody sign in there again. */
export const MaxAge = Schema.Number.check(
  Schema.makeFilter((minutes) => Number.isInteger(minutes) && minutes >= 0 && minutes <= maxAgeMost, {
    expected: `whole minutes, from 0 to ${maxAgeMost}, or any`
  })
)

/** The longest subject (OpenID Connect Core 1.0, section 2). */
export const maxSubjectLength = 255

const maxIssuerLength = 500

/** True if the text names an issuer: an https address with a host by name, and without query and fragment. */
const isIssuer = (text: string): boolean => {
  if (text.length > maxIssuerLength || !/^https:\/\/[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return false
  const { hash, hostname, password, search, username } = new URL(text)
  const named = /[a-z]/i.test(hostname) && !hostname.startsWith("[")
  return named && `${username}${password}${search}${hash}` === "" && !/[?#\\]/.test(text)
}

export const Issuer = Schema.String.check(
  Schema.makeFilter(isIssuer, { expected: "an issuer: an https:// address with the name of a host, without ? and #" })
)

export const Subject = Schema.String.check(
  Schema.isPattern(/^[\x20-\x7e]+$/, { expected: "a subject: what the provider calls the person in `sub`" }),
  Schema.isMaxLength(maxSubjectLength)
)

/**
 * The page on which people name their organization, to sign in by its provider; with the organization, a link to it.
 */
export const providerPath = "/console/sign-in/provider"

/** The path where the provider of the organization sends people back to: one of its own for each, against mix-up. */
export const callbackPath = (organizationId: string) => `${providerPath}/callback/${organizationId}` as const
