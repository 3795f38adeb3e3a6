/** Argon2id of archive passwords. */
import { hashRaw } from "@node-rs/argon2"
import { Effect, Layer, Redacted } from "effect"
import { type Argon2Cost, argon2Cost } from "../../domain/archive/KeyDerivation.ts"
import { PasswordDerivation } from "../../ports/archive/ArchiveCrypto.ts"

const outputSize = 64

/** New derivations at this cost; argon2id, version 0x13, is the library's default. */
export const layerWith = (cost: Argon2Cost) =>
  Layer.succeed(PasswordDerivation, {
    cost,
    derive: (password, { lanes, memory_kib, passes, salt }) =>
      Effect.promise(() =>
        hashRaw(Redacted.value(password).normalize("NFC"), {
          memoryCost: memory_kib,
          timeCost: passes,
          parallelism: lanes,
          outputLen: outputSize,
          salt: Buffer.from(salt, "hex")
        })
      ).pipe(Effect.map((bytes) => Redacted.make(new Uint8Array(bytes))), Effect.uninterruptible)
  })

export const layer = layerWith(argon2Cost)
