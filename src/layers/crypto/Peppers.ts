/** The keys under which the service keeps digests and sealed secrets, newest first. */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"

export interface Pepper {
  readonly id: string
  readonly key: Redacted.Redacted<crypto.KeyObject>
}

/** The configured peppers cannot be used; the message never repeats them. */
export class PepperInvalid extends Schema.TaggedError<PepperInvalid>()("PepperInvalid", { message: Schema.String }) {}

const minimumBytes = 32

/** The name of a pepper: the first bytes of its SHA-256, which reveal nothing about the key. */
const identify = (key: Uint8Array): string => crypto.createHash("sha256").update(key).digest("hex").slice(0, 8)

const fromBase64 = Effect.fnUntraced(function*(text: string) {
  const key = Buffer.from(text.trim(), "base64")
  if (key.length < minimumBytes) {
    return yield* new PepperInvalid({ message: `A key has at least ${minimumBytes} bytes, written in base64.` })
  }
  return { id: identify(key), key: Redacted.make(crypto.createSecretKey(key)) }
})

/** Reads a comma-separated list of base64 keys, newest first. */
export const readKeys = Effect.fnUntraced(function*(text: Redacted.Redacted) {
  const [first, ...rest] = Redacted.value(text).split(",")
  return [yield* fromBase64(first ?? ""), ...(yield* Effect.forEach(rest, fromBase64))] as const
})

/** The text of a key's file in the directory, made with a new key and mode 0600 where it is not there yet. */
export const keyFile = (directory: string, name: string): Effect.Effect<Redacted.Redacted> =>
  Effect.sync(() => {
    const file = path.join(directory, name)
    if (!fs.existsSync(file)) {
      const draft = `${file}.new`
      fs.writeFileSync(draft, `${crypto.randomBytes(minimumBytes).toString("base64")}\n`, {
        mode: 0o600,
        flush: true
      })
      fs.renameSync(draft, file)
    }
    return Redacted.make(fs.readFileSync(file, "utf8"))
  })

/** The peppers of this service: the first one makes digests, all of them are looked for. */
export class Peppers extends Context.Service<Peppers, readonly [Pepper, ...ReadonlyArray<Pepper>]>()(
  "org-security-console/layers/crypto/Peppers"
) {
  /** Reads a comma-separated list of base64 keys, newest first. */
  static readonly layerText = (text: Redacted.Redacted) => Layer.effect(Peppers, readKeys(text))

  /** Reads the list from the file `pepper` in the directory, made with mode 0600 where it is not there yet. */
  static readonly layerDirectory = (directory: string) =>
    Layer.effect(Peppers, Effect.flatMap(keyFile(directory, "pepper"), readKeys))
}

/** HMAC-SHA-256 of a text under a pepper, as lower-case hex. */
export const hmac = (pepper: Pepper, text: string): string =>
  crypto.createHmac("sha256", Redacted.value(pepper.key)).update(text).digest("hex")

const fingerprints = new WeakMap<Redacted.Redacted, string>()

/** Names a credential without holding it. */
export const fingerprint = (token: Redacted.Redacted): string => {
  const known = fingerprints.get(token)
  if (known !== undefined) return known
  const made = crypto.hash("sha256", Redacted.value(token), "base64")
  fingerprints.set(token, made)
  return made
}

/** True if two texts are equal, in constant time. */
export const sameText = (one: string, other: string): boolean => {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && crypto.timingSafeEqual(first, second)
}
