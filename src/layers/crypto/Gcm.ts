/** AES-256-GCM as sealed secrets use it: a random nonce, the text, and its tag, bound to what it was sealed for. */
import * as crypto from "node:crypto"

const nonceLength = 12
const tagLength = 16

/** As a key of Node's own: to find out that bytes are none takes Node 24 longer than to use them. */
export const secretKey = (bytes: Uint8Array): crypto.KeyObject => crypto.createSecretKey(bytes)

const bound = (context: ReadonlyArray<string>): Buffer => Buffer.from(JSON.stringify(context))

export const seal = (key: Uint8Array, bytes: Uint8Array, context: ReadonlyArray<string>): Buffer => {
  const nonce = crypto.randomBytes(nonceLength)
  const cipher = crypto.createCipheriv("aes-256-gcm", secretKey(key), nonce)
  cipher.setAAD(bound(context))
  const text = Buffer.concat([cipher.update(bytes), cipher.final()])
  return Buffer.concat([nonce, text, cipher.getAuthTag()])
}

/** Throws if the bytes were sealed under another key or for another context, or were changed. */
export const open = (key: Uint8Array, sealed: Uint8Array, context: ReadonlyArray<string>): Buffer => {
  const decipher = crypto.createDecipheriv("aes-256-gcm", secretKey(key), sealed.subarray(0, nonceLength), {
    authTagLength: tagLength
  })
  decipher.setAAD(bound(context))
  decipher.setAuthTag(sealed.subarray(-tagLength))
  return Buffer.concat([decipher.update(sealed.subarray(nonceLength, -tagLength)), decipher.final()])
}
