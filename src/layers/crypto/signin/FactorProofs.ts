import { Clock, Duration, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { factorSetUp, passkeyAsked, totpWindow } from "../../../domain/Limits.ts"
import { FactorProofs, type Party } from "../../../ports/signin/FactorProofs.ts"
import { FormSignatures, SignInSecrets } from "../../../ports/signin/SignInSecrets.ts"
import * as Passkeys from "./Passkeys.ts"

/** Codes of authenticator apps (RFC 6238): six digits by HMAC-SHA-1, a new one every 30 seconds. */
const period = 30
const digits = 6

/** The number of bytes of a secret, as RFC 4226 recommends. */
const secretBytes = 160 / 8

/** Read when the first code is. */
const otpauth = Effect.promise(() => import("otpauth"))

const options = { algorithm: "SHA1", digits, period } as const

/** The secret of an app as text, as the app takes it. */
const secretOf = (bytes: Uint8Array<ArrayBuffer>) =>
  Effect.map(otpauth, ({ Secret }) => Redacted.make(new Secret({ buffer: bytes.buffer }).base32))

/** The address by which an app takes the secret, for a QR code. */
const addressOf = (secret: Redacted.Redacted, issuer: string, label: string) =>
  Effect.map(
    otpauth,
    ({ TOTP }) => Redacted.make(new TOTP({ ...options, secret: Redacted.value(secret), issuer, label }).toString())
  )

/** The time step that the code belongs to, around now; null where it belongs to none of them. */
const stepOf = (secret: Redacted.Redacted, code: string, now: Date) =>
  Effect.map(otpauth, ({ Secret, TOTP }) => {
    const timestamp = now.getTime()
    const delta = TOTP.validate({
      ...options,
      secret: Secret.fromBase32(Redacted.value(secret)),
      token: code,
      timestamp,
      window: totpWindow
    })
    return delta === null ? null : Math.floor(timestamp / 1000 / period) + delta
  })

/** The purposes of tickets. */
const question = (subject: string, { id }: Party) => ["passkey", subject, id]
const newPasskey = (subject: string, { id }: Party) => ["new passkey", subject, id]
const newApp = (subject: string) => ["new app", subject]

const read = (response: string) => {
  const answer = Option.getOrNull(Passkeys.readAssertion(response))
  return answer === null || answer.id.includes("\u0000") ? null : answer
}

/** Proofs by passkeys and authenticator apps, with tickets under the keys of forms. */
export const layer = Layer.effect(
  FactorProofs,
  Effect.gen(function*() {
    const { isSigned, sign } = yield* FormSignatures
    const random = yield* SecureRandom.SecureRandom
    const { newSecret } = yield* SignInSecrets
    const text = (about: ReadonlyArray<string>, value: string, at: string) =>
      JSON.stringify(["ticket", ...about, value, at])

    /** A ticket: a value without a full stop, the moment, and a signature of both and the purpose. */
    const write = (about: ReadonlyArray<string>, value: string) =>
      Effect.map(Clock.currentTimeMillis, (at) => `${value}.${at}.${sign(text(about, value, String(at)))}`)

    /** Reads a ticket of the same purpose that was given out not longer ago than that. */
    const readTicket = (about: ReadonlyArray<string>, ticket: string, now: Date, lifetime: Duration.Duration) => {
      const [value = "", at = "", signature = ""] = ticket.split(".", 3)
      const given = /^[0-9]{1,16}$/.test(at) ? Number(at) : 0
      const valid = isSigned(text(about, value, at), signature)
      const age = now.getTime() - given
      return valid && age < Duration.toMillis(lifetime) && age >= 0 ? { value, at: given } : null
    }

    return FactorProofs.of({
      partyOf: Passkeys.partyOf,

      ask: Effect.fnUntraced(function*(subject, party, known) {
        const challenge = yield* newSecret
        const ticket = yield* write(question(subject, party), challenge)
        return { ticket, options: yield* Passkeys.request(party, challenge, known) }
      }),

      askNew: Effect.fnUntraced(function*(holder, party, known) {
        const challenge = yield* newSecret
        const ticket = yield* write(newPasskey(holder.subject, party), challenge)
        return { ticket, options: yield* Passkeys.creation(party, challenge, holder, known) }
      }),

      idOf: (response) => read(response)?.id ?? null,

      open: (admin, subject, party, { response, ticket }, at) => {
        const answer = read(response)
        const asked = readTicket(question(subject, party), ticket, at, passkeyAsked)
        const handle = answer?.response.userHandle ?? null
        const own = handle === null || handle === Buffer.from(Passkeys.handleOf(admin)).toString("base64url")
        if (answer === null || asked === null || !own) return null
        return {
          id: answer.id,
          verify: (stored) =>
            Effect.map(
              Passkeys.asserted(party, asked.value, answer, stored),
              (found) => found === null ? null : { ...found, askedAt: new Date(asked.at) }
            )
        }
      },

      provePasskey: (subject, party, { response, ticket }, at) => {
        const asked = readTicket(newPasskey(subject, party), ticket, at, passkeyAsked)
        return asked === null ? Effect.succeed(null) : Passkeys.made(party, asked.value, response)
      },

      newApp: Effect.fnUntraced(function*({ email, subject }) {
        const secret = yield* secretOf(Uint8Array.from(yield* random.randomBytes(secretBytes)))
        return {
          secret,
          address: yield* addressOf(secret, "Security Console", email),
          ticket: yield* write(newApp(subject), Redacted.value(secret))
        }
      }),

      readApp: (subject, ticket, at) => {
        const asked = readTicket(newApp(subject), ticket, at, factorSetUp)
        return asked === null ? null : Redacted.make(asked.value)
      },

      stepOf: stepOf
    })
  })
)
