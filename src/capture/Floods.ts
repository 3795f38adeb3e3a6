/** Waits that the messenger demands: until its end, no part of the service calls the method for that account. */
import { Clock, Effect } from "effect"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { ChatFeed, ChatReader } from "../ports/messenger/MessengerArchive.ts"
import { PlatformBusy } from "../ports/messenger/MessengerSession.ts"
import { keyOf } from "./OpenArchives.ts"

/** The waits of a process; those that are over are forgotten with the next one. */
export const makeFloods = () => {
  const untils = new Map<string, number>()

  const note = (name: string, seconds: number) =>
    Effect.map(Clock.currentTimeMillis, (at) => {
      for (const [name, until] of untils) if (until <= at) untils.delete(name)
      untils.set(name, at + seconds * 1000)
    })

  const heeding = (account: ArchivedAccount) => {
    const key = keyOf(account)
    return <A, E, R>(method: string, call: Effect.Effect<A, E | PlatformBusy, R>) =>
      Effect.flatMap(Clock.currentTimeMillis, (at): Effect.Effect<A, E | PlatformBusy, R> => {
        const name = `${key} ${method}`
        const left = (untils.get(name) ?? 0) - at
        if (left > 0) return Effect.fail(new PlatformBusy({ retryAfterSeconds: Math.ceil(left / 1000) }))
        return Effect.tapError(
          call,
          (failure) => failure instanceof PlatformBusy ? note(name, failure.retryAfterSeconds) : Effect.void
        )
      })
  }

  return {
    feed: (account: ArchivedAccount, feed: ChatFeed): ChatFeed => {
      const heed = heeding(account)
      return {
        state: heed("state", feed.state),
        peers: (refs) => heed("peers", feed.peers(refs)),
        difference: (since) => heed("difference", feed.difference(since)),
        channelDifference: (ref, since) => heed("channelDifference", feed.channelDifference(ref, since))
      }
    },
    reader: (account: ArchivedAccount, reader: ChatReader): ChatReader => {
      const heed = heeding(account)
      return {
        ...reader,
        chats: (cursor) => heed("chats", reader.chats(cursor)),
        history: (ref, below, limit) => heed("history", reader.history(ref, below, limit)),
        messages: (ref, ids) => heed("messages", reader.messages(ref, ids)),
        members: (ref, cursor) => heed("members", reader.members(ref, cursor)),
        visibleFrom: (ref) => heed("visibleFrom", reader.visibleFrom(ref))
      }
    }
  }
}
