/** Passkeys (WebAuthn Level 3): the options for browsers, and the verification of their responses. */
import { Duration, Effect, Option, Schema } from "effect"
import * as crypto from "node:crypto"
import * as net from "node:net"
import { passkeyAsked } from "../../../domain/Limits.ts"
import type { AdminRef } from "../../../ports/signin/ConsolePasswords.ts"
import type { Party, PasskeyDescriptor, ProvedPasskey, StoredPasskey } from "../../../ports/signin/FactorProofs.ts"

/** Loaded when the first passkey is requested. */
const library = Effect.promise(() => import("@simplewebauthn/server"))

const base = {
  id: Schema.String,
  rawId: Schema.String,
  type: Schema.Literal("public-key")
}

const Registration = Schema.fromJsonString(Schema.Struct({
  ...base,
  response: Schema.Struct({
    clientDataJSON: Schema.String,
    attestationObject: Schema.String,
    transports: Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(8)))
  })
}))

const Assertion = Schema.fromJsonString(Schema.Struct({
  ...base,
  response: Schema.Struct({
    clientDataJSON: Schema.String,
    authenticatorData: Schema.String,
    signature: Schema.String,
    userHandle: Schema.optionalKey(Schema.NullOr(Schema.String))
  })
}))

/** A browser's answer with a passkey. */
export type Assertion = typeof Assertion.Type

/** Reads what a browser has answered; none where it is not of that form. */
export const readAssertion = (text: string): Option.Option<Assertion> => Schema.decodeUnknownOption(Assertion)(text)

/** The party of a site; null at an address without a name, where browsers have no passkeys. */
export const partyOf = ({ baseUrl }: { readonly baseUrl: string }): Party | null => {
  const { hostname, origin } = new URL(baseUrl)
  return net.isIP(hostname.replaceAll(/[[\]]/g, "")) === 0 ? { id: hostname, origin } : null
}

/** Names the admin to authenticators without saying who it is. */
export const handleOf = ({ adminId, organizationId }: AdminRef): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(crypto.createHash("sha256").update(JSON.stringify([organizationId, adminId])).digest())

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text, "base64url"))

const listed = (passkeys: ReadonlyArray<PasskeyDescriptor>) =>
  passkeys.map(({ id, transports }) => ({ id, transports: [...transports] }))

/** Ed25519, ECDSA with P-256, and RSA, as COSE numbers them. */
const algorithms = [-8, -7, -257]

const timeout = Duration.toMillis(passkeyAsked)

/** The argument of `navigator.credentials.create`, as JSON. */
export const creation = (
  party: Party,
  challenge: string,
  owner: AdminRef & { readonly email: string; readonly adminName: string | null },
  exclude: ReadonlyArray<PasskeyDescriptor>
) =>
  Effect.flatMap(library, ({ generateRegistrationOptions }) =>
    Effect.promise(() =>
      generateRegistrationOptions({
        rpName: "Security Console",
        rpID: party.id,
        userID: handleOf(owner),
        userName: owner.email,
        userDisplayName: owner.adminName ?? owner.email,
        challenge: bytesOf(challenge),
        timeout,
        supportedAlgorithmIDs: algorithms,
        attestationType: "none",
        excludeCredentials: listed(exclude),
        authenticatorSelection: { residentKey: "required", userVerification: "required" }
      })
    )).pipe(Effect.map((options) => JSON.stringify(options)))

/** The argument of `navigator.credentials.get`, as JSON; without passkeys the person chooses one. */
export const request = (party: Party, challenge: string, allow: ReadonlyArray<PasskeyDescriptor>) =>
  Effect.flatMap(library, ({ generateAuthenticationOptions }) =>
    Effect.promise(() =>
      generateAuthenticationOptions({
        rpID: party.id,
        challenge: bytesOf(challenge),
        timeout,
        userVerification: "required",
        ...(allow.length === 0 ? {} : { allowCredentials: listed(allow) })
      })
    )).pipe(Effect.map((options) => JSON.stringify(options)))

/** The passkey that the browser has made for the challenge; null where it has not, or without verifying its user. */
export const made = Effect.fnUntraced(function*(party: Party, challenge: string, text: string) {
  const sent = Schema.decodeUnknownOption(Registration)(text)
  if (Option.isNone(sent)) return null
  const { verifyRegistrationResponse } = yield* library
  const { id, rawId, response, type } = sent.value
  const { transports = [], ...attested } = response
  const found = yield* Effect.option(Effect.tryPromise(() =>
    verifyRegistrationResponse({
      response: { id, rawId, type, response: attested, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms
    })
  ))
  if (Option.isNone(found) || !found.value.verified) return null
  const { credential, credentialBackedUp } = found.value.registrationInfo
  const passkey: ProvedPasskey = {
    id: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString("base64url"),
    counter: credential.counter,
    transports: transports.filter((one) => /^[a-z-]{1,32}$/.test(one)),
    backedUp: credentialBackedUp
  }
  return passkey
})

/**
 * The passkey's counter and backup state after the challenge was signed with it; null where it was not, or without
 * verifying its user.
 */
export const asserted = Effect.fnUntraced(function*(
  party: Party,
  challenge: string,
  { id, rawId, response, type }: Assertion,
  kept: StoredPasskey
) {
  const { verifyAuthenticationResponse } = yield* library
  const { authenticatorData, clientDataJSON, signature } = response
  const found = yield* Effect.option(Effect.tryPromise(() =>
    verifyAuthenticationResponse({
      response: {
        id,
        rawId,
        type,
        response: { authenticatorData, clientDataJSON, signature },
        clientExtensionResults: {}
      },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      credential: { id: kept.id, publicKey: bytesOf(kept.publicKey), counter: kept.counter }
    })
  ))
  if (Option.isNone(found) || !found.value.verified) return null
  const { credentialBackedUp, newCounter } = found.value.authenticationInfo
  return { counter: newCounter, backedUp: credentialBackedUp }
})
