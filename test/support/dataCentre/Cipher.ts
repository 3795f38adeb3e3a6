/** The ciphers of the messenger's protocol, by node:crypto alone: the adapter under test has its own. */
import * as crypto from "node:crypto"

const hash = (name: string) => (...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const made = crypto.createHash(name)
  for (const part of parts) made.update(part)
  return made.digest()
}

export const sha1 = hash("sha1")
export const sha256 = hash("sha256")

/** A key with an initialization vector of two blocks. */
export interface Secret {
  readonly key: Uint8Array
  readonly iv: Uint8Array
}

/** AES-256 in the mode "infinite garble extension". */
const ige = (encrypting: boolean) => ({ iv, key }: Secret, data: Uint8Array): Buffer => {
  const block = (encrypting ? crypto.createCipheriv : crypto.createDecipheriv)("aes-256-ecb", key, null)
  block.setAutoPadding(false)
  const result = Buffer.alloc(data.length)
  let before = iv.subarray(encrypting ? 0 : 16, encrypting ? 16 : 32)
  let beforeThat = iv.subarray(encrypting ? 16 : 0, encrypting ? 32 : 16)
  for (let at = 0; at < data.length; at += 16) {
    const taken = data.subarray(at, at + 16)
    const mixed = Buffer.alloc(16)
    for (let i = 0; i < 16; i++) mixed[i] = taken[i]! ^ before[i]!
    const made = block.update(mixed)
    for (let i = 0; i < 16; i++) result[at + i] = made[i]! ^ beforeThat[i]!
    before = result.subarray(at, at + 16)
    beforeThat = taken
  }
  return result
}

export const encrypt = ige(true)
export const decrypt = ige(false)

export const toNumber = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex") || "0"}`)

/** A number in so many bytes, the highest first. */
export const toBytes = (number: bigint, length: number): Buffer =>
  Buffer.from(number.toString(16).padStart(length * 2, "0"), "hex")

/** The safe prime of 2048 bits that clients know. */
export const prime = BigInt(
  "0xc71caeb9c6b1c9048e6c522f70f13f73980d40238e3e21c14934d037563d930f48198a0aa7c14058229493d22530f4dbfa336f6e0ac9251395" +
    "43aed44cce7c3720fd51f69458705ac68cd4fe6b6b13abdc9746512969328454f18faf8c595f642477fe96bb2a941d5bcd1d4ac8cc49880708fa" +
    "9b378e3c4f3a9060bee67cf9a4a4a695811051907e162753b56b0f6b410dba74d8a84b2a14b3144e0ef1284754fd17ed950d5965b4b9dd46582d" +
    "b1178d169c6bc465b0d6ff9ca3928fef5b9ae4e418fc15e83ebea0f87fa9ff5eed70050ded2849f47bf959d956850ce929851f0d8115f635b105" +
    "ee2e4e15d04b2454bf6f4fadf034b10403119cd8e3b92fcc5b"
)

/** The key of what both sides agree on while they make a lasting one. */
export const handshakeSecret = (serverNonce: Uint8Array, newNonce: Uint8Array): Secret => {
  const second = sha1(serverNonce, newNonce)
  return {
    key: Buffer.concat([sha1(newNonce, serverNonce), second.subarray(0, 12)]),
    iv: Buffer.concat([second.subarray(12, 20), sha1(newNonce, newNonce), newNonce.subarray(0, 4)])
  }
}

/** The key of one packet; `from` is who sends it. */
export const packetSecret = (authKey: Uint8Array, packetKey: Uint8Array, from: "client" | "server"): Secret => {
  const at = from === "client" ? 0 : 8
  const first = sha256(packetKey, authKey.subarray(at, at + 36))
  const second = sha256(authKey.subarray(at + 40, at + 76), packetKey)
  return {
    key: Buffer.concat([first.subarray(0, 8), second.subarray(8, 24), first.subarray(24, 32)]),
    iv: Buffer.concat([second.subarray(0, 8), first.subarray(8, 24), second.subarray(24, 32)])
  }
}

/** What a packet is recognized by: a digest of its content under a part of the key. */
export const packetKey = (authKey: Uint8Array, content: Uint8Array, from: "client" | "server"): Buffer => {
  const at = from === "client" ? 88 : 96
  return sha256(authKey.subarray(at, at + 32), content).subarray(8, 24)
}

/** Made once, for that takes a second: the prime is checked. */
let group: crypto.DiffieHellman | undefined

/** A power modulo the prime. */
export const power = (base: bigint, exponent: bigint): bigint => {
  group ??= crypto.createDiffieHellman(toBytes(prime, 256), 3)
  group.setPrivateKey(toBytes(exponent, 256))
  return toNumber(group.computeSecret(toBytes(base, 256)))
}
