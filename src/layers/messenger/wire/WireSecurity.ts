/** The means that secure an account: its e-mail addresses and passkeys. */
import { Effect, Redacted, Schema } from "effect"
import * as crypto from "node:crypto"
import { maskEmail } from "../../../domain/messenger/Messenger.ts"
import {
  type EmailPending,
  EmailRefused,
  PasskeyRefused,
  type SecurityVerbs
} from "../../../ports/messenger/MessengerSecurity.ts"
import {
  type PasswordInvalid,
  PlatformRefused,
  PlatformUnavailable
} from "../../../ports/messenger/MessengerSession.ts"
import { once } from "./Once.ts"
import type { wire } from "./Protocol.ts"
import type { Client, Meanings } from "./WireClient.ts"
import * as Passwords from "./WirePasswords.ts"

const emailRefused = (reason: EmailRefused["reason"]) => () => new EmailRefused({ reason })
const passkeyRefused = (reason: PasskeyRefused["reason"]) => () => new PasskeyRefused({ reason })

const emailMeanings: Meanings<EmailRefused> = {
  EMAIL_INVALID: emailRefused("invalid"),
  EMAIL_NOT_ALLOWED: emailRefused("not_allowed"),
  EMAIL_NOT_SETUP: emailRefused("not_set_up"),
  CODE_INVALID: emailRefused("code_invalid"),
  PHONE_CODE_INVALID: emailRefused("code_invalid"),
  EMAIL_HASH_EXPIRED: emailRefused("code_expired"),
  EMAIL_VERIFY_EXPIRED: emailRefused("code_expired")
}

const passkeyMeanings: Meanings<PasskeyRefused> = {
  FRESH_RESET_AUTHORISATION_FORBIDDEN: passkeyRefused("too_soon"),
  PASSKEY_ORIGIN_MISMATCH: passkeyRefused("client_not_allowed"),
  ACCESS_DENIED: passkeyRefused("not_available"),
  PASSKEYS_TOO_MUCH: passkeyRefused("limit"),
  CREDENTIAL_INVALID: passkeyRefused("invalid")
}

/** The platform words it as a refusal that a code was sent to the address, and of how many characters. */
const codeSent = /^EMAIL_UNCONFIRMED(?:_(\d+))?$/

const withEmail = (email: string): wire.account.RawPasswordInputSettings => ({
  _: "account.passwordInputSettings",
  email
})

/** The content that has to be signed: the site, and the challenge. */
const Options = Schema.fromJsonString(Schema.Struct({
  publicKey: Schema.Struct({ challenge: Schema.String, rp: Schema.Struct({ id: Schema.String }) })
}))

/** A text or bytes as CBOR has them (RFC 8949), up to 64 KiB. */
const cbor = (major: 0x40 | 0x60, bytes: Uint8Array): Buffer => {
  const head = bytes.length < 24
    ? [major | bytes.length]
    : bytes.length < 256
    ? [major | 24, bytes.length]
    : [major | 25, bytes.length >> 8, bytes.length & 0xff]
  return Buffer.concat([Buffer.from(head), bytes])
}

const cborText = (text: string): Buffer => cbor(0x60, Buffer.from(text))
const cborBytes = (bytes: Uint8Array): Buffer => cbor(0x40, bytes)

/** The key as COSE has it (RFC 9053): ES256 on P-256. */
const coseKey = (x: Uint8Array, y: Uint8Array): Buffer =>
  Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    cborBytes(x),
    Buffer.from([0x22]),
    cborBytes(y)
  ])

/** The flags: the user was present and verified, and a credential follows. */
const flags = 0x45

/** A registration without attestation (WebAuthn Level 3, section 6.5). */
const registration = (
  site: string,
  challenge: string,
  id: string,
  key: Redacted.Redacted
): wire.RawInputPasskeyCredentialPublicKey => {
  const privateKey = crypto.createPrivateKey({
    key: Buffer.from(Redacted.value(key), "base64"),
    format: "der",
    type: "pkcs8"
  })
  const { x = "", y = "" } = crypto.createPublicKey(privateKey).export({ format: "jwk" })
  const credential = Buffer.from(id, "base64url")
  const authenticator = Buffer.concat([
    crypto.createHash("sha256").update(site).digest(),
    Buffer.from([flags, 0, 0, 0, 0]),
    Buffer.alloc(16),
    Buffer.from([credential.length >> 8, credential.length & 0xff]),
    credential,
    coseKey(Buffer.from(x, "base64url"), Buffer.from(y, "base64url"))
  ])
  const attestation = Buffer.concat([
    Buffer.from([0xa3]),
    cborText("fmt"),
    cborText("none"),
    cborText("attStmt"),
    Buffer.from([0xa0]),
    cborText("authData"),
    cborBytes(authenticator)
  ])
  const client = { type: "webauthn.create", challenge, origin: `https://${site}`, crossOrigin: false }
  return {
    _: "inputPasskeyCredentialPublicKey",
    id,
    rawId: id,
    response: {
      _: "inputPasskeyResponseRegister",
      clientData: { _: "dataJSON", data: JSON.stringify(client) },
      attestationData: attestation
    }
  }
}

/** A code works once: if it may have been used already, its refusal proves nothing. */
const confirmed = <A, E>(client: Client, ask: Effect.Effect<A, E | EmailRefused>) =>
  once(
    client,
    Effect.asVoid(ask),
    (refusal) => Effect.fail(refusal instanceof EmailRefused ? new PlatformUnavailable() : refusal)
  )

/** The verbs over the client of a session that is signed in. */
export const make = (client: Client): SecurityVerbs => ({
  setRecoveryEmail: Effect.fn("LiveSession.setRecoveryEmail")(({ current, email }) =>
    Passwords.proved(
      client,
      current,
      ({ proof }) =>
        client.call<wire.account.RawUpdatePasswordSettingsRequest, EmailRefused | PasswordInvalid | Passwords.Stale>(
          { _: "account.updatePasswordSettings", password: proof, newSettings: withEmail(email) },
          { ...emailMeanings, ...Passwords.meanings }
        )
    ).pipe(
      Effect.as<EmailPending>({ pattern: maskEmail(email), codeLength: null }),
      Effect.catchTag("PlatformRefused", (refused) => {
        const [said, length] = codeSent.exec(refused.reason) ?? []
        return said === undefined
          ? Effect.fail(refused)
          : Effect.succeed({ pattern: maskEmail(email), codeLength: length === undefined ? null : Number(length) })
      })
    )
  ),
  confirmRecoveryEmail: Effect.fn("LiveSession.confirmRecoveryEmail")((code) =>
    confirmed(client, client.call({ _: "account.confirmPasswordEmail", code: Redacted.value(code) }, emailMeanings))
  ),
  cancelRecoveryEmail: Effect.asVoid(client.call({ _: "account.cancelPasswordEmail" })).pipe(
    Effect.catchIf(
      (failure) => failure instanceof PlatformRefused && failure.reason === "EMAIL_HASH_EXPIRED",
      () => Effect.void
    )
  ),
  removeRecoveryEmail: Effect.fn("LiveSession.removeRecoveryEmail")((current) =>
    Passwords.proved(client, current, ({ proof }) =>
      Effect.asVoid(client.call(
        { _: "account.updatePasswordSettings", password: proof, newSettings: withEmail("") },
        Passwords.meanings
      )))
  ),
  startLoginEmail: Effect.fn("LiveSession.startLoginEmail")((email) =>
    client.call({
      _: "account.sendVerifyEmailCode",
      purpose: { _: "emailVerifyPurposeLoginChange" },
      email
    }, emailMeanings).pipe(Effect.map(({ length }): EmailPending => ({
      pattern: maskEmail(email),
      codeLength: length
    })))
  ),
  confirmLoginEmail: Effect.fn("LiveSession.confirmLoginEmail")((code) =>
    confirmed(
      client,
      client.call({
        _: "account.verifyEmail",
        purpose: { _: "emailVerifyPurposeLoginChange" },
        verification: { _: "emailVerificationCode", code: Redacted.value(code) }
      }, emailMeanings)
    )
  ),
  addPasskey: Effect.fn("LiveSession.addPasskey")(function*({ id, key }) {
    const { options } = yield* client.call({ _: "account.initPasskeyRegistration" }, passkeyMeanings)
    const { publicKey } = yield* Effect.mapError(
      Schema.decodeEffect(Options)(options.data),
      () => new PlatformRefused({ reason: "unknown options of a passkey" })
    )
    const credential = registration(publicKey.rp.id, publicKey.challenge, id, key)
    const registered = client.call({ _: "account.registerPasskey", credential }, passkeyMeanings)
    return yield* once(
      client,
      Effect.map(registered, (added) => ({ id: added.id })),
      (refusal) =>
        Effect.flatMap(
          client.call({ _: "account.getPasskeys" }),
          ({ passkeys }) => passkeys.some((one) => one.id === id) ? Effect.succeed({ id }) : Effect.fail(refusal)
        )
    )
  }),
  removePasskey: Effect.fn("LiveSession.removePasskey")((id) =>
    Effect.catchIf(
      Effect.asVoid(client.call({ _: "account.deletePasskey", id })),
      (failure) => failure instanceof PlatformRefused && failure.reason === "PASSKEY_INVALID",
      () => Effect.void
    )
  )
})
