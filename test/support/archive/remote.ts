/** The archive's ports over the service's own operations, as a bridge or a viewer has them. */
import { type Context, Effect, Redacted, Stream } from "effect"
import type { Content } from "../../../src/domain/Content.ts"
import type { Failure } from "../../../src/domain/Failure.ts"
import { Caller } from "../../../src/domain/people/Access.ts"
import type * as Operation from "../../../src/kernel/Operation.ts"
import { type CallOperation, layerOver } from "../../../src/layers/archive/RemoteArchive.ts"
import { downloadSealedFile } from "../../../src/operations/archive/download_sealed_file.ts"
import { getArchiveKeys } from "../../../src/operations/archive/get_archive_keys.ts"
import { listSealedBlocks } from "../../../src/operations/archive/list_sealed_blocks.ts"
import { listSealedFiles } from "../../../src/operations/archive/list_sealed_files.ts"
import { listSealedPages } from "../../../src/operations/archive/list_sealed_pages.ts"
import { RemoteRefusal } from "../../../src/ports/archive/SealedArchive.ts"
import { Credentials } from "../../../src/ports/credentials/Credentials.ts"
import * as World from "../world.ts"

const operations: ReadonlyArray<Operation.Any> = [getArchiveKeys, listSealedBlocks, listSealedFiles, listSealedPages]

/** A request that was sent, and its answer. */
export interface Sent {
  readonly operation: string
  readonly input: Readonly<Record<string, unknown>>
  readonly answer: any
}

/** Changes an answer on its way. */
type OnTheWay = (sent: Sent) => unknown

/** The ports as a caller of mode `local` reads by them; `sent` grows with each request. */
export const remoteArchive = Effect.fnUntraced(function*(
  key: Redacted.Redacted | string,
  onTheWay: OnTheWay = ({ answer }) => answer
) {
  const sent: Array<Sent> = []
  const context: Context.Context<any> = yield* Effect.context<any>()
  const token = typeof key === "string" ? Redacted.make(key) : key
  const known = yield* (yield* Credentials).authenticate(token, `${World.baseUrl}/v1`)
  const caller = Caller.of({ ...known, via: "console", ip: null, requestId: null })
  const call: CallOperation = (id, input) => {
    const operation = operations.find((one) => one.id === id)!
    const answered = operation.respond(input) as Effect.Effect<{ readonly text: string }, Failure, any>
    return answered.pipe(
      Effect.map(({ text }) => {
        const request = { operation: id, input, answer: JSON.parse(text) }
        sent.push(request)
        return onTheWay(request)
      }),
      Effect.mapError(({ _tag, message, param }) =>
        new RemoteRefusal({ code: _tag, message, ...(param === undefined ? {} : { param }) })
      ),
      Effect.provideService(Caller, caller),
      Effect.provideContext(context)
    ) as Effect.Effect<unknown, RemoteRefusal>
  }
  /** The content of a file as it is stored. */
  const sealedFile = (fileId: string) => {
    const input = { file_id: fileId }
    const answered = downloadSealedFile.respond(input) as Effect.Effect<{ readonly content: Content }, Failure, any>
    return answered.pipe(
      Effect.flatMap(({ content }) => {
        sent.push({ operation: downloadSealedFile.id, input, answer: content })
        return Stream.mkUint8Array(content.bytes())
      }),
      Effect.provideService(Caller, caller),
      Effect.provideContext(context)
    ) as Effect.Effect<Uint8Array, Failure>
  }
  return { layer: layerOver(call), sealedFile, sent }
})
