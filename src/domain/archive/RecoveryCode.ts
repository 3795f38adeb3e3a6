/** The printed form of a recovery code: 256 bits in Crockford's base 32, 13 groups of 4 characters. */

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
const codeLength = 52
const groupLength = 4

/** `bytes` has 32 bytes; the last character holds one bit of them and four zeros. */
export const formatRecoveryCode = (bytes: Uint8Array): string => {
  let bits = 0
  let held = 0
  let text = ""
  for (const byte of bytes) {
    held = held << 8 | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet[held >> bits & 31]
    }
    held &= (1 << bits) - 1
  }
  if (bits > 0) text += alphabet[held << 5 - bits & 31]
  return (text.match(new RegExp(`.{1,${groupLength}}`, "g")) ?? []).join("-")
}

/** The 32 bytes, or null where the text is no code. Case, spaces and hyphens do not matter; I, L are 1, O is 0. */
export const readRecoveryCode = (text: string): Uint8Array | null => {
  const characters = text.toUpperCase().replace(/[\s-]/g, "").replace(/[IL]/g, "1").replace(/O/g, "0")
  if (characters.length !== codeLength) return null
  const bytes = new Uint8Array(32)
  let bits = 0
  let held = 0
  let at = 0
  for (const character of characters) {
    const value = alphabet.indexOf(character)
    if (value < 0) return null
    held = held << 5 | value
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes[at++] = held >> bits
      held &= (1 << bits) - 1
    }
  }
  return held === 0 ? bytes : null
}
