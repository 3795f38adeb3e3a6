/** Secure randomness, drawn ahead for ids, because a call for each would dominate their cost. */
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as crypto from "node:crypto"

/** An id takes so many bytes at most; what takes more may be a secret, and is never drawn ahead. */
const idSize = 16
const aheadSize = 4096

const make = (): SecureRandom.SecureRandom["Service"] => {
  const ahead = new Uint8Array(aheadSize)
  let used = aheadSize
  return SecureRandom.make((size) => {
    if (size > idSize) return crypto.randomFillSync(new Uint8Array(size))
    if (used + size > aheadSize) {
      crypto.randomFillSync(ahead)
      used = 0
    }
    return ahead.slice(used, used += size)
  })
}

export const layer = Layer.sync(SecureRandom.SecureRandom, make)
