/** Console passwords: argon2id, kept as a PHC string. */
import { hash, verify } from "@node-rs/argon2"
import { Context, Effect, Layer, Redacted, Semaphore } from "effect"

/** How much work a hash is: memory in KiB, passes and lanes. */
export interface Parameters {
  readonly memoryCost: number
  readonly timeCost: number
  readonly parallelism: number
}

const standard: Parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** How many hashes are computed at a time: each takes 19 MiB. */
const atATime = 4

/** Hashes and verifies console passwords; argon2id is the library's default. */
export class PasswordHasher extends Context.Service<PasswordHasher, {
  hash(password: Redacted.Redacted): Effect.Effect<string>
  verify(hashed: string, password: Redacted.Redacted): Effect.Effect<boolean>
  /** Whether the hash was made with the parameters of today. */
  isCurrent(hashed: string): boolean
}>()("org-security-console/layers/crypto/PasswordHasher") {
  static readonly layerWith = (parameters: Parameters) =>
    Layer.sync(PasswordHasher, () => {
      const { memoryCost, parallelism, timeCost } = parameters
      const start = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`
      const limit = Semaphore.makeUnsafe(atATime)
      return {
        hash: (password) =>
          limit.withPermit(
            Effect.promise(() => hash(Redacted.value(password), parameters))
          ),
        verify: (hashed, password) => limit.withPermit(Effect.promise(() => verify(hashed, Redacted.value(password)))),
        isCurrent: (hashed) => hashed.startsWith(start)
      }
    })

  static readonly layer = PasswordHasher.layerWith(standard)
}
