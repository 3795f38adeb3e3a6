/** Members of groups and channels, read again after their number has changed, and once a week. */
import { Duration, Effect } from "effect"
import { type CapturedChat, isRefused, isSaved } from "../domain/archive/CapturedChat.ts"
import { now } from "../domain/Moments.ts"
import { inTime } from "../messenger/OpenSessions.ts"
import type { ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ChatReader, MemberPage } from "../ports/messenger/MessengerArchive.ts"
import { afterWaits, commitRead, exclusively } from "./CaptureSteps.ts"
import type { Pacer } from "./Pacer.ts"
import { someTimes } from "./RefusedChats.ts"

const membersTime = Duration.days(7)

/** Of a larger chat, so many of its members are archived. */
const mostMembers = 1000

/** The chat's members are to be read. */
export const hasDueMembers = ({ leftAt, membersAt, type, ...chat }: CapturedChat, at: Date): boolean =>
  isSaved(chat) && leftAt === null && (type === "group" || type === "channel") && !isRefused(chat, at) &&
  (membersAt === null || at.getTime() - membersAt.getTime() > Duration.toMillis(membersTime))

/** The chat's members; none where the messenger does not show them to the account, null where it fails to answer. */
const askMembers = Effect.fnUntraced(function*(
  { ref }: CapturedChat,
  { pacer, reader }: { readonly pacer: Pacer; readonly reader: ChatReader }
) {
  const found: Array<MemberPage["members"][number]> = []
  let cursor: string | null = null
  do {
    yield* pacer.take
    const page: MemberPage = yield* someTimes(afterWaits(inTime(reader.members(ref, cursor))))
    found.push(...page.members)
    cursor = page.next
  } while (cursor !== null && found.length < mostMembers)
  return found.slice(0, mostMembers)
}, Effect.catchTags({ ChatRefused: () => Effect.succeed([]), PlatformRefused: () => Effect.succeed(null) }))

/** Reads the members of chats that need it. */
export const readMembers = Effect.fnUntraced(function*(
  run: ClaimedRun,
  connections: { readonly pacer: Pacer; readonly reader: ChatReader },
  chats: ReadonlyArray<CapturedChat>
) {
  const store = yield* CaptureStore
  const at = yield* now
  for (const chat of chats.filter((chat) => hasDueMembers(chat, at))) {
    const members = yield* askMembers(chat, connections)
    if (members === null) continue
    yield* exclusively(
      run,
      commitRead(run, run, store.chats(run, [chat.chatId]), (archive, [known]) =>
        Effect.gen(function*() {
          if (known === undefined || !isSaved(known)) return
          if (members.length > 0) yield* archive.setMembers(chat.chatId, members)
          yield* store.keep(run, { ...known, membersAt: at })
        }))
    )
  }
})
