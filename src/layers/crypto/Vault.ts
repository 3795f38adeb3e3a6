/** Secrets that the service must be able to use again, sealed at rest. */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import * as crypto from "node:crypto"
import * as Gcm from "./Gcm.ts"
import { type Pepper, Peppers } from "./Peppers.ts"

const sealingKey = (pepper: Pepper): Uint8Array =>
  new Uint8Array(crypto.hkdfSync("sha256", Redacted.value(pepper.key), "", "vault/1", 32))

/** The pepper that a text is sealed under is not given. */
export class PepperNotGiven extends Schema.TaggedError<PepperNotGiven>()("PepperNotGiven", { id: Schema.String }) {
  override get message(): string {
    return `A secret is sealed under the pepper ${this.id}, which is not configured`
  }
}

/**
 * AES-256-GCM under a key derived from the pepper. `context` says what the secret belongs to: sealed for one account,
 * it does not open for another.
 */
export class Vault extends Context.Service<Vault, {
  seal(secret: Redacted.Redacted, context: ReadonlyArray<string>): string
  /** Dies when the text was sealed for something else or changed, with `PepperNotGiven` where its pepper is gone. */
  open(sealed: string, context: ReadonlyArray<string>): Effect.Effect<Redacted.Redacted>
  sealBytes(secret: Redacted.Redacted<Uint8Array>, context: ReadonlyArray<string>): string
  /** Dies as `open` does. */
  openBytes(sealed: string, context: ReadonlyArray<string>): Effect.Effect<Redacted.Redacted<Uint8Array>>
  /** True if the text is sealed under the pepper that new ones are sealed under. */
  isCurrent(sealed: string): boolean
}>()("org-security-console/layers/crypto/Vault") {
  static readonly layer = Layer.effect(
    Vault,
    Effect.gen(function*() {
      const peppers = yield* Peppers
      const seal = (bytes: Uint8Array, context: ReadonlyArray<string>) =>
        `${peppers[0].id}.${Gcm.seal(sealingKey(peppers[0]), bytes, context).toString("base64url")}`
      const open = (sealed: string, context: ReadonlyArray<string>) =>
        Effect.sync(() => {
          const [id = "", body = ""] = sealed.split(".")
          const pepper = peppers.find((known) => known.id === id)
          if (pepper === undefined) throw new PepperNotGiven({ id })
          return Gcm.open(sealingKey(pepper), Buffer.from(body, "base64url"), context)
        })
      return {
        seal: (secret, context) => seal(Buffer.from(Redacted.value(secret)), context),
        open: (sealed, context) => Effect.map(open(sealed, context), (bytes) => Redacted.make(bytes.toString("utf8"))),
        sealBytes: (secret, context) => seal(Redacted.value(secret), context),
        openBytes: (sealed, context) =>
          Effect.map(open(sealed, context), (bytes) => Redacted.make(new Uint8Array(bytes))),
        isCurrent: (sealed) => sealed.startsWith(`${peppers[0].id}.`)
      }
    })
  )
}
