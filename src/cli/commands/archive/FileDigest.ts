/** The size and SHA-256 of a file as it is. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as fs from "node:fs"

export const digestFile = (file: string) =>
  Effect.promise(async () => {
    const hash = crypto.createHash("sha256")
    let bytes = 0
    for await (const piece of fs.createReadStream(file)) {
      hash.update(piece)
      bytes += piece.length
    }
    return { bytes, sha256: hash.digest("hex") }
  })
