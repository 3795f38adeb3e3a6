/** Codes of authenticator apps (RFC 6238): six digits by HMAC-SHA-1, a new one every 30 seconds. */
import { Effect, Redacted } from "effect"
import { totpWindow } from "../../../domain/Limits.ts"

const period = 30
const digits = 6

/** The number of bytes of a secret, as RFC 4226 recommends. */
export const secretBytes = 160 / 8

/** Read when the first code is. */
const library = Effect.promise(() => import("otpauth"))

const options = { algorithm: "SHA1", digits, period } as const

/** The secret of an app as text, as the app takes it. */
export const secretOf = (bytes: Uint8Array<ArrayBuffer>) =>
  Effect.map(library, ({ Secret }) => Redacted.make(new Secret({ buffer: bytes.buffer }).base32))

/** The address by which an app takes the secret, for a QR code. */
export const addressOf = (secret: Redacted.Redacted, issuer: string, label: string) =>
  Effect.map(
    library,
    ({ TOTP }) => Redacted.make(new TOTP({ ...options, secret: Redacted.value(secret), issuer, label }).toString())
  )

/** The time step that the code belongs to, around now; null where it belongs to none of them. */
export const stepOf = (secret: Redacted.Redacted, code: string, now: Date) =>
  Effect.map(library, ({ Secret, TOTP }) => {
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
