/**
 * Messages between the processes of one service, which know each other by the peppers: each is encrypted for one
 * receiver or as the answer to one message, opens for a short time, and once.
 */
import { Redacted, Schema } from "effect"
import * as crypto from "node:crypto"
import * as Gcm from "../crypto/Gcm.ts"
import type { Pepper } from "../crypto/Peppers.ts"

const keyOf = (pepper: Pepper): Uint8Array =>
  new Uint8Array(crypto.hkdfSync("sha256", Redacted.value(pepper.key), "", "cluster/1", 32))

/** The time that a message may take, and by which two clocks may differ, in ms. */
const openFor = 30_000

/** The number of messages that are remembered; beyond it none is opened until older ones are forgotten. */
const remembered = 100_000

const isRequest = Schema.is(Schema.Struct({ nonce: Schema.String, at: Schema.Number, value: Schema.Unknown }))

export interface SealedRequest {
  readonly bytes: Buffer
  readonly nonce: string
}

export interface OpenedRequest {
  readonly value: unknown
  readonly nonce: string
}

export class Seals {
  readonly #keys: ReadonlyArray<Uint8Array>
  readonly #seen = new Map<string, number>()

  constructor(peppers: ReadonlyArray<Pepper>) {
    this.#keys = peppers.map(keyOf)
  }

  #seal(value: unknown, context: ReadonlyArray<string>): Buffer {
    const [key] = this.#keys
    if (key === undefined) throw new Error("There is no pepper")
    return Gcm.seal(key, Buffer.from(JSON.stringify(value)), context)
  }

  /** The value, by whichever known pepper it was sealed; undefined where it is forged, or of another context. */
  #open(bytes: Uint8Array, context: ReadonlyArray<string>): unknown {
    for (const key of this.#keys) {
      try {
        return JSON.parse(Gcm.open(key, bytes, context).toString())
      } catch {
        continue
      }
    }
    return undefined
  }

  sealRequest(value: unknown, receiver: string, now: number): SealedRequest {
    const nonce = crypto.randomBytes(16).toString("hex")
    return { nonce, bytes: this.#seal({ nonce, at: now, value }, ["request", receiver]) }
  }

  /** The request to this receiver; undefined where it is forged, late, for another one, or has come before. */
  openRequest(bytes: Uint8Array, receiver: string, now: number): OpenedRequest | undefined {
    const opened = this.#open(bytes, ["request", receiver])
    if (!isRequest(opened)) return undefined
    const { at, nonce, value } = opened
    if (Math.abs(now - at) > openFor || this.#seen.has(nonce)) return undefined
    // The oldest come first, and every one of them was new at most so long before it came.
    for (const [known, until] of this.#seen) {
      if (until >= now) break
      this.#seen.delete(known)
    }
    if (this.#seen.size >= remembered) return undefined
    this.#seen.set(nonce, now + 2 * openFor)
    return { nonce, value }
  }

  sealAnswer(value: unknown, nonce: string): Buffer {
    return this.#seal({ value }, ["answer", nonce])
  }

  /** The answer to the request of that nonce; undefined where it is forged. */
  openAnswer(bytes: Uint8Array, nonce: string): { readonly value: unknown } | undefined {
    const opened = this.#open(bytes, ["answer", nonce])
    return typeof opened === "object" && opened !== null && "value" in opened ? { value: opened.value } : undefined
  }
}
