/** Frames: records of one chat, day and kind, in columns, deflated, padded and sealed under an epoch's key. */
import { Effect, Redacted } from "effect"
import { boundTo, concat, pad, unpad, viewOf } from "../domain/archive/Bytes.ts"
import { decodeRecords, encodeRecords } from "../domain/archive/Columns.ts"
import type { EpochRef, FrameKey, FrameKind, FramePlace } from "../domain/archive/Epoch.ts"
import { framesPerEpoch, inflatedLimit } from "../domain/archive/PageRules.ts"
import type { RecordOf } from "../domain/archive/Records.ts"
import { ArchiveUnreadable, FrameTooLarge } from "../domain/archive/Unreadable.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"

const version = 1
const headerSize = 20
const nonceSize = 12
const tagSize = 16
const paddedTo = 64

const headerOf = (epochId: bigint, frame: number, bodySize: number): Uint8Array => {
  const header = new Uint8Array(headerSize)
  const view = viewOf(header)
  view.setUint8(0, version)
  view.setBigUint64(2, epochId)
  view.setUint32(10, frame)
  view.setUint32(14, bodySize)
  return header
}

const boundFrame = (header: Uint8Array, ref: EpochRef, place: FramePlace): Uint8Array =>
  concat(
    header,
    boundTo("frame/1", ref.organizationId, ref.accountId, String(place.chatId), place.day, place.kind)
  )

/**
 * Seals records into one frame. `frame` is its number in the epoch, below 2^24, and is used once. Fails where the
 * records take more than 8 MiB of columns: they belong in several frames.
 */
export const sealFrame: <Kind extends FrameKind>(
  key: FrameKey,
  place: FramePlace<Kind>,
  frame: number,
  records: ReadonlyArray<RecordOf<Kind>>
) => Effect.Effect<Uint8Array, FrameTooLarge, ArchiveCrypto> = Effect.fnUntraced(
  function*<Kind extends FrameKind>(
    key: FrameKey,
    place: FramePlace<Kind>,
    frame: number,
    records: ReadonlyArray<RecordOf<Kind>>
  ) {
    const crypto = yield* ArchiveCrypto
    if (!(frame >= 0 && frame < framesPerEpoch)) return yield* Effect.die(new RangeError("An epoch has 2^24 frames"))
    const columns = encodeRecords(place.kind, records)
    if (columns.length > inflatedLimit) return yield* new FrameTooLarge({ bytes: columns.length })
    const plain = pad(yield* crypto.deflate(columns), paddedTo)
    const nonce = yield* crypto.random(nonceSize)
    const header = headerOf(key.ref.epochId, frame, nonceSize + plain.length + tagSize)
    const sealed = yield* crypto.aeadSeal(
      Redacted.value(key.frames),
      nonce,
      plain,
      boundFrame(header, key.ref, place)
    )
    return concat(header, nonce, sealed)
  }
)

interface SealedFrame {
  readonly header: Uint8Array
  readonly epochId: bigint
  readonly nonce: Uint8Array
  readonly sealed: Uint8Array
}

/** The frames of a page, or null where it is cut, empty, or of another version. */
const split = (bytes: Uint8Array): ReadonlyArray<SealedFrame> | null => {
  const view = viewOf(bytes)
  const frames: Array<SealedFrame> = []
  let at = 0
  while (at < bytes.length) {
    if (bytes.length - at < headerSize || view.getUint16(at) !== version << 8) return null
    const body = at + headerSize
    const end = body + view.getUint32(at + 14)
    if (view.getUint16(at + 18) !== 0 || end < body + nonceSize + tagSize || end > bytes.length) return null
    frames.push({
      header: bytes.subarray(at, body),
      epochId: view.getBigUint64(at + 2),
      nonce: bytes.subarray(body, body + nonceSize),
      sealed: bytes.subarray(body + nonceSize, end)
    })
    at = end
  }
  return frames.length === 0 ? null : frames
}

/** The epochs whose keys a page needs, each once. */
export const epochsOf = (bytes: Uint8Array): Effect.Effect<ReadonlyArray<bigint>, ArchiveUnreadable> => {
  const frames = split(bytes)
  return frames === null
    ? Effect.fail(new ArchiveUnreadable({ part: "frame" }))
    : Effect.succeed([...new Set(frames.map(({ epochId }) => epochId))])
}

const openFrame = Effect.fnUntraced(function*<Kind extends FrameKind>(
  key: FrameKey,
  place: FramePlace<Kind>,
  frame: SealedFrame
) {
  const crypto = yield* ArchiveCrypto
  if (key.ref.epochId !== frame.epochId) return yield* new ArchiveUnreadable({ part: "frame" })
  const plain = unpad(
    yield* crypto.aeadOpen(
      Redacted.value(key.frames),
      frame.nonce,
      frame.sealed,
      boundFrame(frame.header, key.ref, place)
    )
  )
  if (plain === null) return yield* new ArchiveUnreadable({ part: "frame" })
  const records = decodeRecords(place.kind, yield* crypto.inflate(plain, inflatedLimit))
  return records === null ? yield* new ArchiveUnreadable({ part: "records" }) : records
})

/** Opens a page: one frame, or several, in their order. `keys` opens an epoch of the page's account. */
export const openFrames: <Kind extends FrameKind, E, R>(
  keys: (epochId: bigint) => Effect.Effect<FrameKey, E, R>,
  place: FramePlace<Kind>,
  bytes: Uint8Array
) => Effect.Effect<ReadonlyArray<RecordOf<Kind>>, ArchiveUnreadable | E, ArchiveCrypto | R> = Effect.fnUntraced(
  function*<Kind extends FrameKind, E, R>(
    keys: (epochId: bigint) => Effect.Effect<FrameKey, E, R>,
    place: FramePlace<Kind>,
    bytes: Uint8Array
  ) {
    const frames = split(bytes)
    if (frames === null) return yield* new ArchiveUnreadable({ part: "frame" })
    const records: Array<RecordOf<Kind>> = []
    for (const frame of frames) {
      const key = yield* keys(frame.epochId)
      const opened = yield* openFrame(key, place, frame).pipe(
        Effect.catchTag("NotOpened", () => Effect.fail(new ArchiveUnreadable({ part: "frame" })))
      )
      for (const record of opened) records.push(record)
    }
    return records
  }
)

/**
 * The page with each record as `rewrite` answers it. Frames in which it changes none stay as they are; the others are
 * sealed under the key and the number that they had, with nonces of their own.
 */
export const rewriteFrames: <Kind extends FrameKind, E, R>(
  keys: (epochId: bigint) => Effect.Effect<FrameKey, E, R>,
  place: FramePlace<Kind>,
  bytes: Uint8Array,
  rewrite: (record: RecordOf<Kind>) => RecordOf<Kind>
) => Effect.Effect<Uint8Array, ArchiveUnreadable | E, ArchiveCrypto | R> = Effect.fnUntraced(
  function*<Kind extends FrameKind, E, R>(
    keys: (epochId: bigint) => Effect.Effect<FrameKey, E, R>,
    place: FramePlace<Kind>,
    bytes: Uint8Array,
    rewrite: (record: RecordOf<Kind>) => RecordOf<Kind>
  ) {
    const frames = split(bytes)
    if (frames === null) return yield* new ArchiveUnreadable({ part: "frame" })
    const rewritten: Array<Uint8Array> = []
    for (const frame of frames) {
      const key = yield* keys(frame.epochId)
      const records = yield* openFrame(key, place, frame).pipe(
        Effect.catchTag("NotOpened", () => Effect.fail(new ArchiveUnreadable({ part: "frame" })))
      )
      const changed = records.map(rewrite)
      if (changed.every((record, at) => record === records[at])) {
        rewritten.push(frame.header, frame.nonce, frame.sealed)
      } else {
        const number = viewOf(frame.header).getUint32(10)
        rewritten.push(yield* Effect.orDie(sealFrame(key, place, number, changed)))
      }
    }
    return concat(...rewritten)
  }
)

/** The digest of a page: SHA-256 over its frames. */
export const digestOf = (frames: Uint8Array): Effect.Effect<Uint8Array, never, ArchiveCrypto> =>
  Effect.flatMap(ArchiveCrypto, (crypto) => crypto.sha256(frames))
