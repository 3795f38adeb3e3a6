/** Argon2id in a browser: WebAssembly in one thread, about 0.6 s at the usual cost. */
import { Effect, Layer, Redacted } from "effect"
import { argon2id } from "hash-wasm"
import { type Argon2Cost, argon2Cost } from "../../domain/archive/KeyDerivation.ts"
import { PasswordDerivation } from "../../ports/archive/ArchiveCrypto.ts"

const outputSize = 64

const bytesOf = (hex: string): Uint8Array => new Uint8Array((hex.match(/../g) ?? []).map((pair) => parseInt(pair, 16)))

/** New derivations at this cost. */
export const layerWith = (cost: Argon2Cost) =>
  Layer.succeed(PasswordDerivation, {
    cost,
    derive: (password, { lanes, memory_kib, passes, salt }) =>
      Effect.map(
        Effect.promise(() =>
          argon2id({
            password: Redacted.value(password).normalize("NFC"),
            salt: bytesOf(salt),
            memorySize: memory_kib,
            iterations: passes,
            parallelism: lanes,
            hashLength: outputSize,
            outputType: "binary"
          })
        ),
        (bytes) => Redacted.make(bytes)
      )
  })

export const layer = layerWith(argon2Cost)
