/**
 * The archive's ports over a service elsewhere, for readers on a user's own machine: it runs in browsers and in Node.
 *
 * A refusal of the service is a defect of what asked it, as a database's is: `remoteRefusal` finds it.
 */
import { Effect, Layer, Schema } from "effect"
import { ArchiveKeyList, SealedBlockList, SealedFileList, SealedPageList } from "../../domain/archive/SealedArchive.ts"
import {
  sealedBlocksParts,
  sealedFilesParts,
  sealedPagesParts,
  sealedScope
} from "../../domain/archive/SealedRequests.ts"
import { RemoteRefusal, SealedArchive } from "../../ports/archive/SealedArchive.ts"
import { Db } from "../../ports/Db.ts"
import * as RemoteChats from "./RemoteChats.ts"
import * as RemoteFiles from "./RemoteFiles.ts"
import * as RemoteKeys from "./RemoteKeys.ts"
import * as RemotePages from "./RemotePages.ts"
import * as RemoteSearch from "./RemoteSearch.ts"
import * as RemoteStates from "./RemoteStates.ts"

/** Calls an operation of sealed data by its id, with its input and its answer as they are on the wire. */
export type CallOperation = (
  operation: "get_archive_keys" | "list_sealed_blocks" | "list_sealed_files" | "list_sealed_pages",
  input: Readonly<Record<string, unknown>>
) => Effect.Effect<unknown, RemoteRefusal>

const reader = <S extends Schema.Codec<unknown, unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(schema))
  return (answer: unknown): Effect.Effect<S["Type"], RemoteRefusal> =>
    Effect.mapError(decode(answer), () =>
      new RemoteRefusal({
        code: "service_unavailable",
        message: "The service answers in another form: use the same version of both."
      }))
}

const readKeys = reader(ArchiveKeyList)
const readPages = reader(SealedPageList)
const readBlocks = reader(SealedBlockList)
const readFiles = reader(SealedFileList)

const writePages = Schema.encodeSync(Schema.Struct(sealedPagesParts))
const writeFiles = Schema.encodeSync(Schema.Struct(sealedFilesParts))
const writeBlocks = Schema.encodeSync(Schema.Struct({ ...sealedScope, ...sealedBlocksParts }))

/** The archive by a function that sends a request. */
const sealedArchive = (call: CallOperation): SealedArchive["Service"] => ({
  keys: Effect.flatMap(call("get_archive_keys", {}), readKeys),
  pages: (accountId, request) =>
    Effect.flatMap(
      Effect.suspend(() => call("list_sealed_pages", { account_id: accountId, ...writePages(request) })),
      readPages
    ),
  files: (request) =>
    Effect.flatMap(Effect.suspend(() => call("list_sealed_files", { ...writeFiles(request) })), readFiles),
  blocks: (request) =>
    Effect.flatMap(Effect.suspend(() => call("list_sealed_blocks", { ...writeBlocks(request) })), readBlocks)
})

/** Nothing is changed from here, and each request is a read of its own. */
const remoteDb = Layer.succeed(Db, {
  transaction: (_, effect) => effect,
  read: (_, effect) => effect,
  check: Effect.void
})

/** Every port that `src/archive` reads by. */
const layer = Layer.mergeAll(
  RemotePages.layer,
  RemoteChats.layer,
  RemoteFiles.layer,
  RemoteSearch.layer,
  RemoteKeys.layer,
  remoteDb
).pipe(Layer.provide(RemoteStates.layer))

/** The ports over a function that sends a request. */
export const layerOver = (call: CallOperation) =>
  Layer.provide(layer, Layer.succeed(SealedArchive, sealedArchive(call)))

/** Fails with the refusal of the service that ended the effect. */
export const failByRefusal = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | RemoteRefusal, R> =>
  Effect.catchDefect(
    effect,
    (defect) => defect instanceof RemoteRefusal ? Effect.fail(defect) : Effect.die(defect)
  )
