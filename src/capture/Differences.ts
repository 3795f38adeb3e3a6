/** Changes of boxes since their last known positions, asked for and stored. */
import { Effect } from "effect"
import { now } from "../domain/Moments.ts"
import { inTime } from "../messenger/OpenSessions.ts"
import type { ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { ChatFeed } from "../ports/messenger/MessengerArchive.ts"
import { commit, consult, seeChats, storeChange } from "./CaptureSteps.ts"

/** Everything since the stored state of the common box; without one, the state from which on changes count. */
export const catchUp = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  feed: ChatFeed
) {
  const store = yield* CaptureStore
  const setState = (state: Parameters<typeof store.setState>[1]) =>
    Effect.flatMap(now, (at) => store.setState(account, state, at))
  const lose = Effect.flatMap(
    inTime(feed.state),
    (state) => commit(account, claimed, () => Effect.andThen(store.breakEdges(account), setState(state)))
  )
  while (true) {
    const since = yield* consult(account, claimed, store.state(account))
    if (since === null) return yield* lose
    const found = yield* inTime(feed.difference(since)).pipe(
      Effect.catchTag("PositionRefused", () => Effect.succeed(null))
    )
    if (found === null) return yield* lose
    if (found._tag === "TooLong") {
      yield* commit(account, claimed, () => Effect.andThen(store.breakEdges(account), setState(found.state)))
      return
    }
    yield* commit(account, claimed, (archive) =>
      Effect.gen(function*() {
        yield* seeChats(account, archive, found.chats)
        for (const change of found.changes) yield* storeChange(account, archive, change, true)
        yield* setState(found.state)
      }))
    for (const { chat } of found.channels) yield* catchUpChannel(account, claimed, feed, chat.chatId)
    if (!found.more) return
  }
})

/** Everything since the stored position of a channel's box, where it is archived. */
export const catchUpChannel = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  feed: ChatFeed,
  chatId: bigint
) {
  const store = yield* CaptureStore
  while (true) {
    const [chat] = yield* consult(account, claimed, store.chats(account, [chatId]))
    if (chat === undefined || chat.position === null || chat.effect !== "archive") return
    const found = yield* inTime(feed.channelDifference(chat.ref, chat.position)).pipe(
      Effect.catchTags({
        PositionRefused: () => Effect.succeed(null),
        ChatRefused: () => Effect.succeed(null)
      })
    )
    if (found === null) {
      const lost = { ...chat.progress, edge: null }
      yield* commit(
        account,
        claimed,
        () => Effect.andThen(store.promise(account, chatId, lost, null), store.setPosition(account, chatId, null))
      )
      return
    }
    if (found._tag === "TooLong") {
      yield* commit(account, claimed, (archive) =>
        Effect.gen(function*() {
          yield* store.promise(account, chatId, { ...chat.progress, edge: null }, null)
          yield* seeChats(account, archive, [found.chat])
          for (const message of found.messages) {
            yield* storeChange(account, archive, { _tag: "New", message }, false)
          }
          yield* store.setPosition(account, chatId, found.chat.position)
        }))
      return
    }
    yield* commit(account, claimed, (archive) =>
      Effect.gen(function*() {
        yield* seeChats(account, archive, found.chats)
        for (const change of found.changes) yield* storeChange(account, archive, change, true)
        yield* store.setPosition(account, chatId, found.position)
      }))
    if (!found.more) return
  }
})
