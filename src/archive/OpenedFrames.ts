/** Opening of an account's frames with the keys of its epochs, each asked for once. */
import { Effect } from "effect"
import type { EpochKey, EpochRef, FrameKind } from "../domain/archive/Epoch.ts"
import type { RecordOf } from "../domain/archive/Records.ts"
import { ArchiveUnreadable } from "../domain/archive/Unreadable.ts"
import type { SealedFrames } from "../ports/archive/ArchivePages.ts"
import type { OpenedKeys } from "../ports/archive/ArchiveUnlock.ts"
import { type ArchivedAccount, Epochs } from "../ports/archive/Epochs.ts"
import { Db } from "../ports/Db.ts"
import { epochsOf, openFrames } from "./Frames.ts"

/** An account whose archive is open for a request. */
export interface OpenAccount {
  readonly account: ArchivedAccount
  readonly archive: OpenedKeys
  /** Epochs that were asked for; null for one that is not there or does not open. */
  readonly epochs: Map<bigint, EpochKey | null>
}

export const openAccount = (account: ArchivedAccount, archive: OpenedKeys): OpenAccount => ({
  account,
  archive,
  epochs: new Map()
})

/** Opens those of the epochs that neither this request nor one before has opened, by one statement. */
const openEpochs = Effect.fnUntraced(function*(
  { account, archive, epochs }: OpenAccount,
  epochIds: ReadonlyArray<bigint>
) {
  const missing = new Set(epochIds.filter((epochId) => !epochs.has(epochId)))
  for (const epochId of missing) {
    const kept = archive.keptEpoch?.(account, epochId)
    if (kept === undefined) continue
    epochs.set(epochId, kept)
    missing.delete(epochId)
  }
  if (missing.size === 0) return
  const db = yield* Db
  const stored = yield* db.read(
    account.organizationId,
    Effect.flatMap(Epochs, (port) => port.sealed(account, [...missing]))
  )
  for (const { epochId, keyId, sealedKey } of stored) {
    const ref: EpochRef = { ...account, epochId, keyId }
    const key = sealedKey === null ? null : yield* Effect.orElseSucceed(archive.epochKey(ref, sealedKey), () => null)
    epochs.set(epochId, key)
  }
  for (const epochId of missing) if (!epochs.has(epochId)) epochs.set(epochId, null)
})

const known = ({ epochs }: OpenAccount, epochId: bigint) => {
  const key = epochs.get(epochId)
  return key === undefined || key === null
    ? Effect.fail(new ArchiveUnreadable({ part: "epoch" }))
    : Effect.succeed(key)
}

/** The key of one of the account's epochs. */
export const epochKeyOf = (open: OpenAccount, epochId: bigint) =>
  open.epochs.has(epochId)
    ? known(open, epochId)
    : Effect.andThen(openEpochs(open, [epochId]), Effect.suspend(() => known(open, epochId)))

/** Frames with the chat that they belong to. */
export type ChatFrames = SealedFrames & { readonly chatId: bigint }

/** The keys of all the frames, once they are opened. */
export const keysOf = Effect.fnUntraced(function*(open: OpenAccount, frames: ReadonlyArray<SealedFrames>) {
  const needed = yield* Effect.forEach(frames, ({ sealed }) => Effect.orElseSucceed(epochsOf(sealed), () => []))
  yield* openEpochs(open, needed.flat())
  return (epochId: bigint) => known(open, epochId)
})

/**
 * Opens the frames one after another, so that no more than the records of one are held; their keys are asked for
 * together. The records are null where the frames do not open.
 */
export const openInTurn = Effect.fnUntraced(function*<Kind extends FrameKind, Frames extends ChatFrames>(
  open: OpenAccount,
  kind: Kind,
  frames: ReadonlyArray<Frames>,
  use: (records: ReadonlyArray<RecordOf<Kind>> | null, frames: Frames) => void
) {
  const keyOf = yield* keysOf(open, frames)
  for (const each of frames) {
    const { chatId, day, number, sealed } = each
    const records = yield* Effect.orElseSucceed(openFrames(keyOf, { chatId, day, kind }, sealed), () => null)
    if (records === null) open.archive.missed?.(open.account, number)
    use(records, each)
  }
})

/** The records of each of the frames, in their order; null where they do not open. */
export const openEach = Effect.fnUntraced(function*<Kind extends FrameKind>(
  open: OpenAccount,
  kind: Kind,
  frames: ReadonlyArray<ChatFrames>
) {
  const opened: Array<ReadonlyArray<RecordOf<Kind>> | null> = []
  yield* openInTurn(open, kind, frames, (records) => void opened.push(records))
  return opened
})
