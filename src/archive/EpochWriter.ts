/** The epoch that a writer holds: begun by a takeover, fenced by every write, and given up by the next one's. */
import { Clock, Context, Duration, Effect, Option, Redacted } from "effect"
import type { EpochKey, FrameKind, FramePlace } from "../domain/archive/Epoch.ts"
import { framesPerEpoch } from "../domain/archive/PageRules.ts"
import type { RecordOf } from "../domain/archive/Records.ts"
import type { Vocabulary } from "../domain/archive/Vocabulary.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import type { RevisionMark } from "../ports/archive/ArchiveRecords.ts"
import { NoSuchAccount, type SealingKey, WriterReplaced } from "../ports/archive/ArchiveWriter.ts"
import { type ArchivedAccount, Epochs } from "../ports/archive/Epochs.ts"
import { Db } from "../ports/Db.ts"
import { newFileKey } from "./BlobSealing.ts"
import { eraseEpochKey, newEpoch } from "./EpochKeys.ts"
import { openFrames, sealFrame } from "./Frames.ts"
import { sealVocabulary } from "./Vocabularies.ts"

/** An epoch ends after this, so that deleting one key deletes a week. */
const epochLifetime = Duration.days(7)

/** Frames that one transaction may seal at most: with fewer left the epoch is renewed. */
const framesInReserve = 100_000

/** Bytes of a mark: two revisions of one second and message collide once in 2⁶⁴. */
const markSize = 8

/** A page that the writer has made, and that has no vocabulary yet. */
export interface MadePage {
  readonly number: bigint
  /** Pages of one kind and calendar quarter belong together. */
  readonly group: string
  /** The time of its newest record, in Unix seconds. */
  readonly lastAt: number
  /** Milliseconds. */
  readonly madeAt: number
}

interface Held {
  readonly key: EpochKey
  readonly openedAt: number
  frames: number
}

/** Takes the account over: the epoch of the writer before is closed in the transaction that opens this one. */
const begin = Effect.fnUntraced(function*(account: ArchivedAccount, { keyId, publicKey }: SealingKey, writer: string) {
  const db = yield* Db
  const epochs = yield* Epochs
  const openedAt = yield* Clock.currentTimeMillis
  const now = new Date(openedAt)
  return yield* db.transaction(
    account.organizationId,
    Effect.gen(function*() {
      const epochId = yield* epochs.begin(account, now)
      if (epochId === null) return yield* new NoSuchAccount()
      const { key, sealedKey } = yield* newEpoch({ ...account, epochId, keyId }, publicKey)
      yield* epochs.open(key.ref, sealedKey, writer, now)
      const held: Held = { key, openedAt, frames: 0 }
      return held
    })
  )
})

export type EpochWriter = Effect.Success<ReturnType<typeof takeOver>>

/** The account's epoch in this process, until the scope closes. */
export const takeOver = Effect.fnUntraced(function*(account: ArchivedAccount, key: SealingKey, writer: string) {
  const services = Context.pick(ArchiveCrypto, Db, Epochs)(yield* Effect.context<ArchiveCrypto | Db | Epochs>())
  const crypto = yield* ArchiveCrypto
  const db = yield* Db
  const epochs = yield* Epochs
  let held: Held | null = yield* begin(account, key, writer)
  let frames = 0
  /** Pages of the epoch. What a transaction has rolled back is among them too. */
  const made = new Map<bigint, MadePage>()
  /** Marks of the snapshots that are stored. A transaction that is rolled back ends the writer. */
  const snapshots = new Map<string, string>()

  const drop = Effect.suspend(() => {
    const dropped = held
    held = null
    return dropped === null ? Effect.void : eraseEpochKey(dropped.key)
  })

  const current = Effect.suspend(() => held === null ? Effect.fail(new WriterReplaced()) : Effect.succeed(held))

  /**
   * Locks the account's archive and the epoch for the rest of the transaction, and answers the epoch's id and what it then
   * reads.
   */
  const fenced = Effect.fnUntraced(function*<A, E, R>(read: (epochId: bigint) => Effect.Effect<A, E, R>) {
    const { key: { ref: { epochId } } } = yield* current
    const [isOpen, found] = yield* Effect.all([epochs.fence(account, epochId), read(epochId)], {
      concurrency: "unbounded"
    })
    if (isOpen) return { epochId, found }
    yield* drop
    return yield* new WriterReplaced()
  })

  const fence = Effect.map(fenced(() => Effect.void), ({ epochId }) => epochId)

  const seal = Effect.fnUntraced(function*<Kind extends FrameKind>(
    place: FramePlace<Kind>,
    records: ReadonlyArray<RecordOf<Kind>>
  ) {
    const epoch = yield* current
    frames += 1
    return yield* Effect.provideService(sealFrame(epoch.key, place, epoch.frames++, records), ArchiveCrypto, crypto)
  })

  /** The records of frames that were sealed under the epoch itself; none where they are another's or do not open. */
  const reopen = Effect.fnUntraced(function*<Kind extends FrameKind>(place: FramePlace<Kind>, frames: Uint8Array) {
    const epoch = yield* current
    const opened = openFrames(() => Effect.succeed(epoch.key), place, frames)
    return yield* Effect.option(Effect.provideService(opened, ArchiveCrypto, crypto))
  })

  /** A keyed digest of a revision's content, which only this epoch's writer can compare. */
  const markOf = Effect.fnUntraced(function*(content: string) {
    const { key } = yield* current
    const digest = yield* crypto.hmac(Redacted.value(key.marks), new TextEncoder().encode(content))
    return { epochId: key.ref.epochId, digest: digest.subarray(0, markSize) } satisfies RevisionMark
  })

  /** Seals the vocabulary of a block under the epoch, which it answers. */
  const sealWords = Effect.fnUntraced(function*(blockId: bigint, vocabulary: Vocabulary) {
    const { key } = yield* current
    const sealed = yield* Effect.provideService(sealVocabulary(key, blockId, vocabulary), ArchiveCrypto, crypto)
    return { epochId: key.ref.epochId, sealed }
  })

  /** A new key of a content, and its form that is sealed under the epoch. */
  const fileKey = Effect.fnUntraced(function*(blobId: string) {
    const { key } = yield* current
    return yield* Effect.provideService(newFileKey(key, blobId), ArchiveCrypto, crypto)
  })

  const isDue = (epoch: Held, next: SealingKey, now: number) =>
    next.keyId !== epoch.key.ref.keyId || now - epoch.openedAt >= Duration.toMillis(epochLifetime) ||
    epoch.frames > framesPerEpoch - framesInReserve

  /** Begins another epoch where this one is due to end, after `before`. */
  const renew = Effect.fnUntraced(function*<E>(next: SealingKey, before: Effect.Effect<void, E>) {
    const epoch = yield* current
    if (!isDue(epoch, next, yield* Clock.currentTimeMillis)) return
    yield* before
    const still = yield* db.transaction(account.organizationId, epochs.fence(account, epoch.key.ref.epochId))
    yield* drop
    made.clear()
    snapshots.clear()
    if (!still) return yield* new WriterReplaced()
    held = yield* begin(account, next, writer).pipe(
      Effect.catchTag("NoSuchAccount", () => Effect.fail(new WriterReplaced())),
      Effect.provide(services)
    )
  })

  /** Closes the epoch, where it is still this writer's, and forgets the key. */
  const end = Effect.gen(function*() {
    const epoch = yield* Effect.option(current)
    if (Option.isNone(epoch)) return
    const now = new Date(yield* Clock.currentTimeMillis)
    yield* Effect.ignore(
      db.transaction(account.organizationId, epochs.close(account, epoch.value.key.ref.epochId, now))
    )
    yield* drop
  })

  return {
    account,
    id: writer,
    made,
    snapshots,
    frames: () => frames,
    fence,
    fenced,
    fileKey,
    seal,
    markOf,
    sealWords,
    reopen,
    renew,
    end
  }
})
