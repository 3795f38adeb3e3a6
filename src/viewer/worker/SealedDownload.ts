/** The object of a content, read chunk by chunk as they are asked for; where the connection is cut it goes on. */
import { Effect } from "effect"
import { chunksAround, sealedChunkSize } from "../../domain/archive/Blob.ts"
import { RemoteRefusal } from "../../ports/archive/SealedArchive.ts"
import { download, type Service } from "./Service.ts"

/** Times in a row that a download goes on after it was cut without a chunk of progress. */
const continuations = 3

const cut = () => new RemoteRefusal({ code: "service_unavailable", message: "The file ended early. Try again." })

type Body = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>

export interface SealedDownload {
  /** The next sealed chunk. */
  readonly next: () => Effect.Effect<Uint8Array, RemoteRefusal>
  readonly close: () => void
}

/** Nothing is asked for before the first chunk is. */
export const makeDownload = (service: Service, fileId: string, size: number): SealedDownload => {
  const { stored } = chunksAround(size, { start: 0, end: size })
  let at = 0
  let body: Body | null = null
  let rest: Uint8Array = new Uint8Array()
  let left = continuations

  const close = () => {
    // A body that has failed has nothing to cancel.
    body?.cancel().catch(() => undefined)
    body = null
    rest = new Uint8Array()
  }

  const start = Effect.map(
    Effect.suspend(() => download(service, fileId, at === 0 ? null : at)),
    (stream): Body => stream.getReader()
  )

  /** The bytes of the chunk, as far as the connection brings them. */
  const fill = async (reader: Body, chunk: Uint8Array): Promise<boolean> => {
    let filled = 0
    while (filled < chunk.length) {
      if (rest.length === 0) {
        const { done, value } = await reader.read()
        if (done) return false
        rest = value
      }
      const part = rest.subarray(0, chunk.length - filled)
      chunk.set(part, filled)
      filled += part.length
      rest = rest.subarray(part.length)
    }
    return true
  }

  const next = (): Effect.Effect<Uint8Array, RemoteRefusal> =>
    Effect.gen(function*() {
      const reader = body ?? (yield* start)
      body = reader
      const chunk = new Uint8Array(Math.min(sealedChunkSize, stored.end - at))
      const isWhole = yield* Effect.promise(() => fill(reader, chunk).catch(() => false))
      if (isWhole) {
        at += chunk.length
        left = continuations
        return chunk
      }
      close()
      if (left === 0) return yield* cut()
      left -= 1
      return yield* next()
    })

  return { next, close }
}
