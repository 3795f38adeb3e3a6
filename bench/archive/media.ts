/**
 * Files as the archive seals them: what that costs, and how soon the end of a large one is there. It is measured in a
 * process of its own, with Node's flags of the service: the collector counts what else is in memory.
 */
import { Effect, Layer, Schema, Stream } from "effect"
import * as childProcess from "node:child_process"
import * as crypto from "node:crypto"
import { promisify } from "node:util"
import { newFileKey, openBlob, sealBlob } from "../../src/archive/BlobSealing.ts"
import { newEpoch } from "../../src/archive/EpochKeys.ts"
import { makeKeyPair } from "../../src/archive/KeyWraps.ts"
import { nodeFlags } from "../../src/cli/process/NodeFlags.ts"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { chunkSize, sealedSize } from "../../src/domain/archive/Blob.ts"
import * as NodeCrypto from "../../src/layers/archive/NodeCrypto.ts"
import * as FileBlobs from "../../src/layers/blobs/FileBlobs.ts"
import { BlobStore } from "../../src/ports/archive/BlobStore.ts"
import { only } from "../../test/support/archive/blobLaws.ts"
import { organizationId } from "./sealed.ts"

const mebibyte = 1024 * 1024
const size = 2048 * mebibyte
/** Bytes of a piece, as they come from the messenger. */
const piece = 512 * 1024
const ranges = 50

/** MB a second of processor time. */
const rateOf = Effect.fnUntraced(function*<A, E, R>(work: Effect.Effect<A, E, R>) {
  const before = process.cpuUsage()
  yield* work
  const { system, user } = process.cpuUsage(before)
  return size / (user + system)
})

/** The cipher alone, over one chunk again and again. */
const cipherAlone = Effect.sync(() => {
  const key = crypto.createSecretKey(crypto.randomBytes(32))
  const chunk = crypto.randomBytes(chunkSize)
  const nonce = new Uint8Array(12)
  for (let at = 0; at < size; at += chunkSize) {
    const cipher = crypto.createCipheriv("aes-256-gcm", key, nonce)
    cipher.update(chunk)
    cipher.final()
  }
})

const firstByte = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) =>
  Effect.gen(function*() {
    const begun = performance.now()
    yield* Stream.runDrain(Stream.take(bytes, 1))
    return performance.now() - begun
  })

const measure = Effect.gen(function*() {
  const store = yield* BlobStore
  const blobId = crypto.randomUUID()
  const accountId = AccountId.make(crypto.randomUUID())
  const { keyId, publicKey } = yield* makeKeyPair
  const ref = { organizationId, accountId, blobId }
  const { key: epoch } = yield* newEpoch({ ...ref, epochId: 1n, keyId }, publicKey)
  const { key } = yield* newFileKey(epoch, blobId)
  const bytes = new Uint8Array(crypto.randomBytes(piece))
  const alone = yield* rateOf(cipherAlone)
  const content = Stream.fromIterable(Array.from({ length: size / piece }, () => bytes))
  const sealed = yield* rateOf(Stream.runDrain(sealBlob(key, ref, content)))
  yield* store.put(blobId, sealedSize(size), sealBlob(key, ref, content))
  const read = (range: { readonly start: number; readonly end: number }) => store.get(only(blobId), range)
  const opened = yield* rateOf(Stream.runDrain(openBlob(key, ref, size, read)))
  const starts = Array.from({ length: ranges }, (_, turn) => size - (turn + 1) * 300_000)
  const waited = yield* Effect.forEach(
    starts,
    (start) => firstByte(openBlob(key, ref, size, read, { start, end: start + mebibyte / 4 }))
  )
  yield* store.remove(only(blobId))
  return { alone, sealed, opened, waited }
})

/** MB that the cipher alone seals in a second of processor time, the archive, and opens; milliseconds until a first byte. */
const Measured = Schema.fromJsonString(Schema.Struct({
  alone: Schema.Number,
  sealed: Schema.Number,
  opened: Schema.Number,
  waited: Schema.Array(Schema.Number)
}))

/** Measures in a process of its own, with files in the directory. */
export const measureMedia = async (directory: string) => {
  const args = [...nodeFlags, import.meta.filename, directory]
  const { stdout } = await promisify(childProcess.execFile)(process.execPath, args)
  return Schema.decodeUnknownSync(Measured)(stdout)
}

const [, program, directory] = process.argv
if (program === import.meta.filename && directory !== undefined) {
  const measured = await Effect.runPromise(
    measure.pipe(Effect.provide(Layer.merge(NodeCrypto.layer, FileBlobs.layer(directory))))
  )
  console.log(Schema.encodeSync(Measured)(measured))
}
