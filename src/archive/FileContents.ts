/** Storing of files: a content that is known already is kept once in an account, and a new one is sealed as it comes. */
import { Clock, Effect, Redacted, Schedule, Stream } from "effect"
import { sealedSize } from "../domain/archive/Blob.ts"
import { uuidOf } from "../domain/archive/Bytes.ts"
import { ContentBroken } from "../domain/Content.ts"
import { ArchiveBlobs, type WholeBlob } from "../ports/archive/ArchiveBlobs.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import { type FileStored, type NewContent, WriterReplaced } from "../ports/archive/ArchiveWriter.ts"
import { BlobStore, type KeptObject } from "../ports/archive/BlobStore.ts"
import { ContentDigest } from "../ports/archive/ContentDigest.ts"
import { Db } from "../ports/Db.ts"
import { removeBlob } from "./BlobRemoval.ts"
import { type FileKey, sealBlob } from "./BlobSealing.ts"
import type { EpochWriter } from "./EpochWriter.ts"

/** The period in which a writer says that it is still writing; collect_blobs gives a row up after several of them. */
const renewed = Schedule.spaced("10 minutes")

interface Begun {
  readonly blobId: string
  readonly key: FileKey
}

const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

const ended = (attached: boolean, outcome: FileStored): FileStored => attached ? outcome : "gone"

/** Gives the file a content that is saved already, or begins a row for the new one. */
const begin = Effect.fnUntraced(function*(
  writer: EpochWriter,
  fileId: string,
  { bytes, messengerFile }: Pick<NewContent<never, never>, "bytes" | "messengerFile">
) {
  const { account } = writer
  const blobs = yield* ArchiveBlobs
  const crypto = yield* ArchiveCrypto
  const epochId = yield* writer.fence
  const saved = yield* blobs.saved(account, messengerFile)
  if (saved !== null) return ended(yield* blobs.attach(account, fileId, saved, yield* now), "known")
  const blobId = uuidOf(yield* crypto.random(16))
  const { key, sealedKey } = yield* writer.fileKey(blobId)
  yield* blobs.begin(account, { blobId, messengerFile, epochId, sealedKey, bytes }, writer.id, yield* now)
  const begun: Begun = { blobId, key }
  return begun
})

/** Makes the row that of a whole object. Another file may have brought the same content meanwhile: it stays the one. */
const finish = Effect.fnUntraced(function*(
  writer: EpochWriter,
  fileId: string,
  messengerFile: string,
  blob: WholeBlob
) {
  const { account } = writer
  const blobs = yield* ArchiveBlobs
  yield* writer.fence
  const saved = yield* blobs.saved(account, messengerFile)
  if (saved !== null) {
    return { kept: false, outcome: ended(yield* blobs.attach(account, fileId, saved, yield* now), "known") }
  }
  if (!(yield* blobs.attach(account, fileId, blob.blobId, yield* now))) return { kept: false, outcome: "gone" as const }
  if (!(yield* blobs.finish(account, blob, yield* now))) return yield* new WriterReplaced()
  return { kept: true, outcome: "stored" as const }
})

/** Leaves what was begun to collect_blobs: the store may still store what it was asked to. */
const giveUp = Effect.fnUntraced(function*({ account }: EpochWriter, blobId: string, kept: KeptObject) {
  const blobs = yield* ArchiveBlobs
  const db = yield* Db
  yield* db.transaction(account.organizationId, blobs.leave({ ...account, blobId }, kept, yield* now))
}, (ending) => Effect.ignore(ending))

/** Exactly as many bytes as were announced, digested as they come. */
const counted = <E, R>(content: NewContent<E, R>, update: (bytes: Uint8Array) => void) =>
  Stream.suspend(() => {
    let seen = 0
    const wrong = () => Effect.fail(new ContentBroken({ reason: "a file has not the size that was announced" }))
    const checked = Stream.mapEffect(content.content, (bytes) => {
      seen += bytes.length
      if (seen > content.bytes) return wrong()
      update(bytes)
      return Effect.succeed(bytes)
    })
    return Stream.concat(
      checked,
      Stream.fromEffectDrain(Effect.suspend(() => seen < content.bytes ? wrong() : Effect.void))
    )
  })

/**
 * Stores the content of a file: row, object, then row and file in one transaction. It runs outside any transaction, and
 * whatever ends it, a row names the object until collect_blobs has removed it.
 */
export const storeFile = Effect.fnUntraced(function*<E, R>(
  writer: EpochWriter,
  fileId: string,
  content: NewContent<E, R>
) {
  const { account } = writer
  const { organizationId } = account
  const db = yield* Db
  const begun = yield* db.transaction(organizationId, begin(writer, fileId, content))
  if (typeof begun === "string") return begun
  const { blobId, key } = begun
  const blobs = yield* ArchiveBlobs
  const digest = yield* (yield* ContentDigest).start
  const store = yield* BlobStore
  const isHeld = Effect.flatMap(now, (time) => db.transaction(organizationId, blobs.renew(account, blobId, time)))
  const renew = isHeld.pipe(
    Effect.flatMap((held) => held ? Effect.void : Effect.fail(new WriterReplaced())),
    Effect.schedule(renewed),
    Effect.andThen(Effect.never)
  )
  const put = store.put(
    blobId,
    sealedSize(content.bytes),
    sealBlob(key, { ...account, blobId }, counted(content, digest.update))
  )
  const write = Effect.gen(function*() {
    const stored = yield* Effect.raceFirst(put, renew).pipe(
      Effect.onError(() => giveUp(writer, blobId, { version: null, lockedUntil: null }))
    )
    const blob = { ...stored, blobId, sha256: digest.digest() }
    const { kept, outcome } = yield* db.transaction(
      organizationId,
      finish(writer, fileId, content.messengerFile, blob)
    ).pipe(Effect.onError(() => giveUp(writer, blobId, stored)))
    // It is left to collect_blobs if that fails.
    if (!kept) yield* Effect.ignore(removeBlob({ ...account, blobId, version: stored.version }))
    return outcome
  })
  return yield* Effect.ensuring(write, Effect.sync(() => Redacted.value(key).fill(0)))
})
