/** The peer's identifiers: ULIDs for requests, UUIDs of version 7 for events. */
import * as crypto from "node:crypto"

const pool = Buffer.alloc(4096)
let taken = pool.length

/** Sixteen bytes of chance, of which many are made at once. */
const chance = (): Buffer => {
  if (taken === pool.length) {
    crypto.randomFillSync(pool)
    taken = 0
  }
  taken += 16
  return pool.subarray(taken - 16, taken)
}

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

/** Ten characters of the time and sixteen of chance, each of five bits. */
export const ulid = (): string => {
  let text = ""
  for (let time = Date.now(), left = 10; left > 0; left--) {
    text = alphabet.charAt(time % 32) + text
    time = Math.floor(time / 32)
  }
  for (const byte of chance()) text += alphabet.charAt(byte % 32)
  return text
}

export const uuidV7 = (): string => {
  const bytes = Buffer.from(chance())
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString("hex")
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]].map(([from, to]) => hex.slice(from, to)).join("-")
}
