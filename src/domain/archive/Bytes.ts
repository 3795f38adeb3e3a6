/** Bytes as the archive's format writes them: big-endian numbers, JSON arrays of names, varints. */

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export const utf8 = (text: string): Uint8Array => encoder.encode(text)

/** The text, or null where the bytes are not UTF-8. */
export const readUtf8 = (bytes: Uint8Array): string | null => {
  try {
    return decoder.decode(bytes)
  } catch {
    return null
  }
}

/** The binding of a key or ciphertext: UTF-8 of a JSON array of strings. */
export const boundTo = (...names: ReadonlyArray<string>): Uint8Array => utf8(JSON.stringify(names))

export const concat = (...parts: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

/** A random UUID (version 4) of 16 random bytes. */
export const uuidOf = (bytes: Uint8Array): string => {
  const text = hex(bytes)
  const variant = "89ab"[(bytes[8] ?? 0) & 3]
  return [
    text.slice(0, 8),
    text.slice(8, 12),
    `4${text.slice(13, 16)}`,
    `${variant}${text.slice(17, -12)}`,
    text.slice(-12)
  ].join("-")
}

/** True if both are equal; the time depends on their lengths alone. */
export const sameBytes = (one: Uint8Array, other: Uint8Array): boolean => {
  if (one.length !== other.length) return false
  let difference = 0
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0)
  return difference === 0
}

/** The length followed by the bytes and by zeros up to a multiple of `block`. */
export const pad = (bytes: Uint8Array, block: number): Uint8Array => {
  const padded = new Uint8Array(Math.ceil((bytes.length + 4) / block) * block)
  viewOf(padded).setUint32(0, bytes.length)
  padded.set(bytes, 4)
  return padded
}

/** The bytes that `pad` was given; null if the length or a zero is wrong. */
export const unpad = (padded: Uint8Array): Uint8Array | null => {
  if (padded.length < 4) return null
  const end = viewOf(padded).getUint32(0) + 4
  return end > padded.length || padded.subarray(end).some((byte) => byte !== 0) ? null : padded.subarray(4, end)
}

/** Bytes whose characters fit into the arguments of one call. */
const charactersAtOnce = 8192

/** Browsers and newer versions of Node have both ways of base64 natively, which takes a tenth of the time. */
const isNative = typeof Uint8Array.fromBase64 === "function"
const hasBuffers = typeof globalThis.Buffer === "function"

/** Base64 as RFC 4648, section 4, writes it. */
export const toBase64 = (bytes: Uint8Array): string => {
  if (isNative) return bytes.toBase64()
  if (hasBuffers) return globalThis.Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64")
  let text = ""
  for (let at = 0; at < bytes.length; at += charactersAtOnce) {
    // A spread goes through an array, which takes six times as long.
    text += Reflect.apply(String.fromCharCode, null, bytes.subarray(at, at + charactersAtOnce))
  }
  return btoa(text)
}

/** The bytes, or null where the text is not base64. */
export const readBase64 = (text: string): Uint8Array | null => {
  try {
    if (isNative) return Uint8Array.fromBase64(text)
    const characters = atob(text)
    const bytes = new Uint8Array(characters.length)
    for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at)
    return bytes
  } catch {
    return null
  }
}
