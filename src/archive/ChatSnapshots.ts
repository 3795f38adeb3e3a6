/** Titles and members of chats, as they are seen: a page of its own for each change. */
import { Clock, Effect, Option } from "effect"
import { hex } from "../domain/archive/Bytes.ts"
import { dayOf } from "../domain/archive/PageRules.ts"
import type { RecordOf } from "../domain/archive/Records.ts"
import { ArchiveChats, type SealedChat } from "../ports/archive/ArchiveChats.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import type { SealedFrames } from "../ports/archive/ArchivePages.ts"
import { ArchiveRecords } from "../ports/archive/ArchiveRecords.ts"
import type { AccountArchive, SeenChat } from "../ports/archive/ArchiveWriter.ts"
import type { EpochWriter } from "./EpochWriter.ts"

/** Stores a snapshot, unless it is known to be that of the page before; under another epoch it is not known. */
const snapshot = Effect.fnUntraced(function*<Kind extends "chat" | "members">(
  writer: EpochWriter,
  chatId: bigint,
  kind: Kind,
  before: SealedFrames | null,
  made: (seenAt: number) => ReadonlyArray<RecordOf<Kind>>
) {
  const { account } = writer
  const chats = yield* ArchiveChats
  const crypto = yield* ArchiveCrypto
  const records = yield* ArchiveRecords
  const now = new Date(yield* Clock.currentTimeMillis)
  const seenAt = Math.floor(now.getTime() / 1000)
  const name = `${kind} ${chatId}`
  const mark = hex((yield* writer.markOf(JSON.stringify(made(0)))).digest)
  if (before !== null && writer.snapshots.get(name) === mark) return
  writer.snapshots.set(name, mark)
  if (before !== null) {
    const opened = yield* writer.reopen({ chatId, day: before.day, kind }, before.sealed)
    const known = Option.getOrElse(opened, () => [])
    if (JSON.stringify(known) === JSON.stringify(made(known[0]?.seen_at ?? seenAt))) return
  }
  const day = dayOf(seenAt)
  const sealed = yield* writer.seal({ chatId, day, kind }, made(seenAt))
  const digest = yield* crypto.sha256(sealed)
  const [page] = yield* records.addPages(account, [{
    chatId,
    day,
    kind,
    ids: [],
    firstAt: now,
    lastAt: now,
    sentDay: null,
    digest,
    sealed
  }])
  if (page !== undefined) yield* chats.describe(account, chatId, kind, page)
  yield* records.resize(account, chatId, sealed.length)
})

const isAsStored = ({ leftAt, type }: SeenChat, stored: SealedChat | undefined): boolean =>
  stored !== undefined && stored.type === type && stored.leftAt?.getTime() === leftAt?.getTime()

/** Reads the stored chats at once: a look at many of them mostly finds them as they were. */
export const see = Effect.fnUntraced(function*(writer: EpochWriter, seen: ReadonlyArray<SeenChat>) {
  const { account } = writer
  const chats = yield* ArchiveChats
  const { found } = yield* writer.fenced(() => chats.some(account, seen.map(({ chatId }) => chatId)))
  const known = new Map(found.map((chat) => [chat.chatId, chat]))
  for (const chat of seen) {
    const { chatId, info, leftAt, type } = chat
    const stored = known.get(chatId)
    if (!isAsStored(chat, stored)) yield* chats.see(account, chatId, type, leftAt)
    yield* snapshot(writer, chatId, "chat", stored?.info ?? null, (seen_at) => [{ seen_at, ...info }])
  }
})

export const setMembers = Effect.fnUntraced(function*(
  writer: EpochWriter,
  chatId: bigint,
  members: Parameters<AccountArchive["setMembers"]>[1]
) {
  const chats = yield* ArchiveChats
  const { found: before } = yield* writer.fenced(() => chats.members(writer.account, chatId))
  yield* snapshot(
    writer,
    chatId,
    "members",
    before,
    (seen_at) => members.map((member) => ({ seen_at, ...member }))
  )
})
