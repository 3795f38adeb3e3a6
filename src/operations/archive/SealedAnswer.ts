/** Parts that answers of sealed data have in common: a budget of bytes, and what belongs to the pages in them. */
import { Effect } from "effect"
import { epochsOf } from "../../archive/Frames.ts"
import { toBase64 } from "../../domain/archive/Bytes.ts"
import type { SealedPageList } from "../../domain/archive/SealedArchive.ts"
import { sealedBytesPerAnswer } from "../../domain/Limits.ts"
import {
  ArchivePages,
  type MessageChanges,
  type MessageName,
  type SealedFrames,
  type StoredFile
} from "../../ports/archive/ArchivePages.ts"
import { type ArchivedAccount, Epochs } from "../../ports/archive/Epochs.ts"
import { Db } from "../../ports/Db.ts"

type Wire<Name extends "files" | "frames" | "states"> = Array<SealedPageList[Name][number]>

const nameOf = ({ chatId, messageId }: MessageName): string => `${chatId}/${messageId}`

const wireName = ({ accountId }: ArchivedAccount, { chatId, messageId }: MessageName) => ({
  account_id: accountId,
  chat_id: String(chatId),
  message_id: String(messageId)
})

const framedAs = ({ accountId }: ArchivedAccount, { number }: SealedFrames): string => `${accountId} ${number}`

/** The bytes of a time of an edit in an answer. */
const bytesPerDate = 11

/** An answer as it grows. */
export class SealedAnswer {
  readonly states: Wire<"states"> = []
  readonly files: Wire<"files"> = []
  readonly frames: Wire<"frames"> = []
  stated = 0
  has_more = false
  /** The epochs of each account whose keys the answer needs. */
  private readonly needed = new Map<string, { readonly account: ArchivedAccount; readonly epochs: Set<bigint> }>()
  private readonly framed = new Set<string>()
  private left = sealedBytesPerAnswer
  private started = false

  /** True if so many bytes fit; the first item always does. */
  private takes(size: number): boolean {
    const fits = !this.started || size <= this.left
    if (fits) this.left -= size
    if (fits && size > 0) this.started = true
    return fits
  }

  /** The items from the first on that fit; the answer says where some do not. */
  take<A>(items: ReadonlyArray<A>, sizeOf: (item: A) => number): ReadonlyArray<A> {
    const end = items.findIndex((item) => !this.takes(sizeOf(item)))
    if (end < 0) return items
    this.has_more = true
    return items.slice(0, end)
  }

  /** The answer needs the key of an epoch. */
  need(account: ArchivedAccount, epochId: bigint): void {
    const known = this.needed.get(account.accountId) ?? { account, epochs: new Set() }
    this.needed.set(account.accountId, known)
    known.epochs.add(epochId)
  }

  /** Frames as they are sent; their keys will be in the answer. */
  seal(account: ArchivedAccount, frames: SealedFrames) {
    // Frames that cannot be read name no epoch, and their reader counts them as unreadable.
    for (const epoch of Effect.runSync(Effect.orElseSucceed(epochsOf(frames.sealed), () => []))) {
      this.need(account, epoch)
    }
    return {
      account_id: account.accountId,
      number: String(frames.number),
      day: frames.day,
      sealed: toBase64(frames.sealed)
    }
  }

  /** Adds frames of changes, once; false where they do not fit. */
  addFrames(account: ArchivedAccount, frames: SealedFrames): boolean {
    if (this.framed.has(framedAs(account, frames))) return true
    if (!this.takes(frames.sealed.length)) return false
    this.push(account, frames)
    return true
  }

  private push(account: ArchivedAccount, frames: SealedFrames): void {
    this.framed.add(framedAs(account, frames))
    this.frames.push(this.seal(account, frames))
  }

  /** Adds the states of groups of messages, from the first on; `stated` is the number of groups that fit. */
  addStates(
    account: ArchivedAccount,
    groups: ReadonlyArray<ReadonlyArray<MessageName>>,
    { changes, files, stated }: MessageStates
  ): void {
    const changed = new Map(changes.map((change) => [nameOf(change), change]))
    const sent = Map.groupBy(files, nameOf)
    for (const group of groups) {
      const names = group.map(nameOf)
      if (!names.every((name) => stated.has(name))) return
      const states = names.flatMap((name) => changed.get(name) ?? [])
      const fresh = new Map(
        states.flatMap(({ newest }) =>
          newest === null || this.framed.has(framedAs(account, newest)) ? [] : [[newest.number, newest] as const]
        )
      )
      const dates = states.reduce((sum, { editDates }) => sum + editDates.length, 0)
      const sealed = [...fresh.values()].reduce((sum, frames) => sum + frames.sealed.length, 0)
      const size = sealed + dates * bytesPerDate
      if (size > 0 && !this.takes(size)) return
      for (const frames of fresh.values()) this.push(account, frames)
      for (const { deletedAt, deletedWhy, editDates, edits, newest, ...name } of states) {
        this.states.push({
          ...wireName(account, name),
          edit_dates: editDates,
          ...(edits > editDates.length ? { edits } : {}),
          deleted_at: deletedAt,
          deleted_reason: deletedWhy,
          newest: newest === null ? null : String(newest.number)
        })
      }
      for (const { at, fileId, reason, sha256, state, ...name } of names.flatMap((name) => sent.get(name) ?? [])) {
        const hash = sha256 === null ? null : toBase64(sha256)
        this.files.push({ ...wireName(account, name), file: fileId, state, reason, sha256: hash, at })
      }
      this.stated += 1
    }
  }

  /** The keys of the epochs that the answer needs. */
  readonly keys = Effect.fnUntraced(function*(this: SealedAnswer) {
    const db = yield* Db
    const epochs = yield* Epochs
    const found = yield* Effect.forEach(
      this.needed.values(),
      ({ account, epochs: ids }) =>
        Effect.map(
          db.read(account.organizationId, epochs.sealed(account, [...ids])),
          (keys) =>
            keys.map(({ epochId, keyId, sealedKey }) => ({
              account_id: account.accountId,
              epoch_id: String(epochId),
              key_id: keyId,
              sealed_key: sealedKey === null ? null : toBase64(sealedKey)
            }))
        ),
      { concurrency: "unbounded" }
    )
    return found.flat()
  }).bind(this)

  /** The members that belong to the pages of the answer. */
  readonly attached = Effect.fnUntraced(function*(this: SealedAnswer) {
    const epochs = yield* this.keys()
    const { files, frames, has_more, stated, states } = this
    return { states, files, frames, epochs, stated, has_more }
  }).bind(this)
}

/** The edits, deletions and files of messages, by whose names those are known that `changes` has all of. */
export interface MessageStates {
  readonly changes: ReadonlyArray<MessageChanges>
  readonly files: ReadonlyArray<StoredFile>
  readonly stated: ReadonlySet<string>
}

/** The states of messages, from the first on, whose newest edits are in so many bytes of frames. */
export const readStates = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  messages: ReadonlyArray<MessageName>,
  bytes = sealedBytesPerAnswer
) {
  const db = yield* Db
  const pages = yield* ArchivePages
  const { files, part } = yield* db.read(
    account.organizationId,
    Effect.all({
      part: pages.changes(account, messages, bytes),
      files: pages.files(account, messages)
    }, { concurrency: "unbounded" })
  )
  const stated = new Set(messages.slice(0, part.stated).map(nameOf))
  return { changes: part.changes, files, stated } satisfies MessageStates
})
