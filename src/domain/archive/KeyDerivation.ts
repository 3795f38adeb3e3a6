/** The derivation of a wrap's keys from its secret; stored as JSON beside the wrap. */
import { Schema } from "effect"

/** 16 to 64 bytes in lower-case hexadecimal digits. */
const Salt = Schema.String.check(Schema.isPattern(/^(?:[0-9a-f]{2}){16,64}$/))
const whole = (least: number, most: number) => Schema.Int.check(Schema.isBetween({ minimum: least, maximum: most }))

/**
 * Argon2id (RFC 9106), version 0x13. Its parameters come from the database, so that they are bounded before any is
 * used: memory to 1 GiB, 16 passes, 16 lanes.
 */
export const Argon2Parameters = Schema.Struct({
  name: Schema.Literal("argon2id"),
  memory_kib: whole(1024, 1_048_576),
  passes: whole(1, 16),
  lanes: whole(1, 16),
  salt: Salt
})
export type Argon2Parameters = typeof Argon2Parameters.Type

/** HKDF-SHA-256 (RFC 5869) of a recovery code, which has 256 random bits and needs no slow derivation. */
export const RecoveryParameters = Schema.Struct({ name: Schema.Literal("hkdf-sha256") })

export const KeyDerivation = Schema.Union([Argon2Parameters, RecoveryParameters])
export type KeyDerivation = typeof KeyDerivation.Type

/** The cost of a password's derivation, in KiB, passes and lanes. */
export interface Argon2Cost {
  readonly memory_kib: number
  readonly passes: number
  readonly lanes: number
}

/** 114 ms on two cores. */
export const argon2Cost: Argon2Cost = { memory_kib: 131_072, passes: 3, lanes: 4 }
