/** The size and SHA-256 of files, as they are and as they grow. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as fs from "node:fs"

/** The size and SHA-256 of bytes until now. */
export class RunningDigest {
  bytes = 0
  readonly #hash = crypto.createHash("sha256")

  add(piece: Uint8Array): void {
    this.#hash.update(piece)
    this.bytes += piece.length
  }

  get sha256(): string {
    return this.#hash.copy().digest("hex")
  }
}

/** The digest of a file, to which what is written behind it can be added. */
export const readDigest = (file: string) =>
  Effect.promise(async () => {
    const digest = new RunningDigest()
    for await (const piece of fs.createReadStream(file)) digest.add(piece)
    return digest
  })

export const digestFile = (file: string) => Effect.map(readDigest(file), ({ bytes, sha256 }) => ({ bytes, sha256 }))
