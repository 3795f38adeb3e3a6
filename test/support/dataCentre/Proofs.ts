/** The 2FA passwords of a data centre, which it checks without hearing them (SRP). */
import { Long } from "@mtcute/core"
import * as crypto from "node:crypto"
import * as Cipher from "./Cipher.ts"
import type { Word } from "./Words.ts"

const generator = 3n
const length = 256

const padded = (number: bigint): Buffer => Cipher.toBytes(number, length)

/** How a password is kept: what proves it, and under which salts. */
export interface Verifier {
  readonly salt1: Uint8Array
  readonly salt2: Uint8Array
  readonly value: bigint
}

/** The settings by which a client makes a verifier or a proof. */
export const algorithm = (salt1: Uint8Array, salt2: Uint8Array): Word => ({
  _: "passwordKdfAlgoSHA256SHA256PBKDF2HMACSHA512iter100000SHA256ModPow",
  salt1,
  salt2,
  g: Number(generator),
  p: padded(Cipher.prime)
})

const salted = (data: Uint8Array, salt: Uint8Array): Buffer => Cipher.sha256(salt, data, salt)

const verifiers = new Map<string, Verifier>()

/** The verifier of a password that is set for the nth time: it costs 100,000 rounds, and is the same each time. */
export const verifierOf = (password: string, nth: number): Verifier => {
  const name = `${nth} ${password}`
  const known = verifiers.get(name) ?? newVerifier(password)
  verifiers.set(name, known)
  return known
}

const newVerifier = (password: string): Verifier => {
  const [salt1, salt2] = [crypto.randomBytes(40), crypto.randomBytes(16)]
  const first = salted(salted(Buffer.from(password), salt1), salt2)
  const stretched = crypto.pbkdf2Sync(first, salt1, 100_000, 64, "sha512")
  const secret = Cipher.toNumber(salted(stretched, salt2))
  return { salt1, salt2, value: Cipher.power(generator, secret) }
}

/** What a client was given to make one proof with; it serves once. */
export interface Challenge {
  readonly id: Long
  readonly secret: bigint
  readonly offered: bigint
}

const multiplier = Cipher.toNumber(Cipher.sha256(padded(Cipher.prime), padded(generator)))

export const challenge = ({ value }: Verifier): Challenge => {
  const secret = Cipher.toNumber(crypto.randomBytes(256))
  const offered = (multiplier * value + Cipher.power(generator, secret)) % Cipher.prime
  return { id: Long.fromBytesLE([...crypto.randomBytes(8)]), secret, offered }
}

export const offeredBytes = ({ offered }: Challenge): Buffer => padded(offered)

/** Whether the proof is of the verifier's password. */
export const isProof = ({ salt1, salt2, value }: Verifier, { offered, secret }: Challenge, proof: Word): boolean => {
  const theirs = Cipher.toNumber(proof["A"])
  const both = Cipher.toNumber(Cipher.sha256(padded(theirs), padded(offered)))
  const shared = Cipher.power(theirs * Cipher.power(value, both) % Cipher.prime, secret)
  const of = Cipher.sha256(padded(Cipher.prime)).map((byte, at) => byte ^ Cipher.sha256(padded(generator))[at]!)
  const expected = Cipher.sha256(
    of,
    Cipher.sha256(salt1),
    Cipher.sha256(salt2),
    padded(theirs),
    padded(offered),
    Cipher.sha256(padded(shared))
  )
  return expected.equals(proof["M1"])
}
