/** Console passwords: argon2id, kept as a PHC string. */
import { hash, verify } from "@node-rs/argon2"
import { Context, Effect, Layer, Redacted, Semaphore } from "effect"
import { ServiceUnavailable } from "../../../domain/Failure.ts"

/** The work of a hash: memory in KiB, passes and lanes. */
export interface HashParameters {
  readonly memoryCost: number
  readonly timeCost: number
  readonly parallelism: number
}

const standard: HashParameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** The number of hashes that are computed at a time: each takes 19 MiB. */
const atATime = 4

/** The number of passwords that may wait to be verified; beyond that a request is refused immediately. */
export const maxWaiting = 64

/** Seconds that the longest queue takes, at about 50 ms for each password and four at a time, and some. */
const retryAfter = 2

/** Hashes and verifies console passwords; argon2id is the library's default. */
export class PasswordHasher extends Context.Service<PasswordHasher, {
  hash(password: Redacted.Redacted): Effect.Effect<string>
  /** True if it is the password; fails immediately where too many are waiting to be verified. */
  verify(hashed: string, password: Redacted.Redacted): Effect.Effect<boolean, ServiceUnavailable>
  /** True if the hash was made with the parameters of today. */
  isCurrent(hashed: string): boolean
}>()("org-security-console/layers/crypto/signin/PasswordHasher") {
  static readonly layerWith = (parameters: HashParameters) =>
    Layer.sync(PasswordHasher, () => {
      const { memoryCost, parallelism, timeCost } = parameters
      const start = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`
      const limit = Semaphore.makeUnsafe(atATime)
      // The work continues even if nothing waits for it any more, and keeps its slot.
      const work = <A>(promise: () => Promise<A>) => limit.withPermit(Effect.uninterruptible(Effect.promise(promise)))
      let verifying = 0
      return {
        hash: (password) => work(() => hash(Redacted.value(password), parameters)),
        verify: (hashed, password) =>
          Effect.suspend(() => {
            if (verifying >= atATime + maxWaiting) {
              return Effect.fail(new ServiceUnavailable({ retry_after: retryAfter }))
            }
            verifying += 1
            return Effect.ensuring(
              work(() => verify(hashed, Redacted.value(password))),
              Effect.sync(() => {
                verifying -= 1
              })
            )
          }),
        isCurrent: (hashed) => hashed.startsWith(start)
      }
    })

  static readonly layer = PasswordHasher.layerWith(standard)
}
