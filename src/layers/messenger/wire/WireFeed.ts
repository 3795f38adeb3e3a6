/** Pushes and differences of an account's chats over the platform's own protocol. */
import { Effect } from "effect"
import { serviceAccounts } from "../../../domain/messenger/Messenger.ts"
import {
  type Box,
  type BoxState,
  type ChannelNews,
  type ChatChange,
  type ChatFeed,
  ChatRefused,
  type ChatSeen,
  type Difference,
  PositionRefused,
  type Push,
  type Pushed
} from "../../../ports/messenger/MessengerArchive.ts"
import { PlatformRefused } from "../../../ports/messenger/MessengerSession.ts"
import type { wire } from "./Protocol.ts"
import { type ChatFailure, chatsOf, peerOf, refusals } from "./WireChats.ts"
import * as Values from "./WireChatValues.ts"
import type { Client, Unasked } from "./WireClient.ts"

const changesPerDifference = 100

const positionRefused = () => new PositionRefused()

const positions = {
  PERSISTENT_TIMESTAMP_EMPTY: positionRefused,
  PERSISTENT_TIMESTAMP_INVALID: positionRefused,
  // The platform's own state is behind: the position stays.
  PERSISTENT_TIMESTAMP_OUTDATED: () => new PlatformRefused({ reason: "PERSISTENT_TIMESTAMP_OUTDATED" })
}

/** A change and where it took its box; null where it moves none. */
interface Moved {
  readonly box: Box
  readonly position: number
  readonly count: number
  readonly change: ChatChange
}

const nothing: ChatChange = { _tag: "Other" }

/** A message of a service account is none: nothing waits with a login code in it. */
const ofMessage = (message: wire.TypeMessage, named: Values.Named, tag: "New" | "Edited"): ChatChange => {
  const seen = Values.messageSeen(message, named)
  return seen === null || serviceAccounts.has(seen.chatId) ? nothing : { _tag: tag, message: seen }
}

/** The move of its box by an update; updates of other things than messages move it all the same. */
const movedBy = (update: wire.TypeUpdate, named: Values.Named): Moved | null => {
  const at = (box: Box, change: ChatChange): Moved | null =>
    "pts" in update && "ptsCount" in update && typeof update.pts === "number" && typeof update.ptsCount === "number"
      ? { box, position: update.pts, count: update.ptsCount, change }
      : null
  switch (update._) {
    case "updateNewMessage":
      return at("common", ofMessage(update.message, named, "New"))
    case "updateEditMessage":
      return at("common", ofMessage(update.message, named, "Edited"))
    case "updateDeleteMessages":
      return at("common", { _tag: "Deleted", chatId: null, ids: update.messages.map(BigInt) })
    case "updateNewChannelMessage":
    case "updateEditChannelMessage": {
      const change = ofMessage(update.message, named, update._ === "updateNewChannelMessage" ? "New" : "Edited")
      return "message" in change ? at(change.message.chatId, change) : null
    }
    case "updateDeleteChannelMessages": {
      const chatId = Values.channelChatId(update.channelId)
      return at(chatId, { _tag: "Deleted", chatId, ids: update.messages.map(BigInt) })
    }
    default:
      return at(
        "channelId" in update && typeof update.channelId === "number"
          ? Values.channelChatId(update.channelId)
          : "common",
        nothing
      )
  }
}

const chatsIn = (change: ChatChange, named: Values.Named): ReadonlyArray<ChatSeen> => {
  if (change._tag !== "New" && change._tag !== "Edited") return []
  const chat = Values.chatSeen(change.message.chatId, named)
  return chat === null ? [] : [chat]
}

const pushOf = (update: wire.TypeUpdate, named: Values.Named): ReadonlyArray<Push> => {
  if (update._ === "updateChannelTooLong") return [{ _tag: "Behind", box: Values.channelChatId(update.channelId) }]
  const moved = movedBy(update, named)
  return moved === null ? [] : [{ _tag: "Pushed", ...moved, chats: chatsIn(moved.change, named) }]
}

const noNames: Values.Named = { users: new Map(), chats: new Map() }
const behind: Push = { _tag: "Behind", box: "common" }

type Short = wire.RawUpdateShortChatMessage | wire.RawUpdateShortMessage

/** A message in the platform's short form, which names nobody: its chat is known, or the difference tells of it. */
const ofShort = (short: Short): Pushed => {
  const isGroup = short._ === "updateShortChatMessage"
  const peerId: wire.TypePeer = isGroup
    ? { _: "peerChat", chatId: short.chatId }
    : { _: "peerUser", userId: short.userId }
  const fromId: wire.TypePeer | undefined = isGroup ? { _: "peerUser", userId: short.fromId } : undefined
  const message: wire.RawMessage = {
    _: "message",
    id: short.id,
    peerId,
    ...(fromId === undefined ? {} : { fromId }),
    date: short.date,
    message: short.message,
    ...(short.out === undefined ? {} : { out: short.out }),
    ...(short.entities === undefined ? {} : { entities: short.entities }),
    ...(short.replyTo === undefined ? {} : { replyTo: short.replyTo }),
    ...(short.fwdFrom === undefined ? {} : { fwdFrom: short.fwdFrom })
  }
  return {
    _tag: "Pushed",
    box: "common",
    position: short.pts,
    count: short.ptsCount,
    chats: [],
    change: ofMessage(message, noNames, "New")
  }
}

/** The pushes of what the platform sends unasked. */
export const pushesOf = (updates: Unasked): ReadonlyArray<Push> => {
  if (updates === "again") return [behind]
  switch (updates._) {
    case "updates":
    case "updatesCombined": {
      const named = Values.namesOf(updates)
      return updates.updates.flatMap((update) => pushOf(update, named))
    }
    case "updateShort":
      return pushOf(updates.update, noNames)
    case "updateShortMessage":
    case "updateShortChatMessage":
      return [ofShort(updates)]
    case "updatesTooLong":
      return [behind]
    default:
      return []
  }
}

const stateOf = ({ date, pts, qts }: wire.updates.TypeState): BoxState => ({ position: pts, date, qts })

const channelOf = (update: wire.TypeUpdate, named: Values.Named): ReadonlyArray<ChannelNews> => {
  const chatId = update._ === "updateChannelTooLong"
    ? Values.channelChatId(update.channelId)
    : movedBy(update, named)?.box ?? "common"
  const chat = chatId === "common" ? null : Values.chatSeen(chatId, named)
  return chat === null ? [] : [{ chat, position: null }]
}

const seenIn = (
  answer: { readonly chats: ReadonlyArray<wire.TypeChat>; readonly users: ReadonlyArray<wire.TypeUser> },
  changes: ReadonlyArray<ChatChange>
): ReadonlyArray<ChatSeen> => {
  const named = Values.namesOf(answer)
  const seen = new Map(changes.flatMap((change) => chatsIn(change, named)).map((chat) => [chat.chatId, chat]))
  return [...seen.values()]
}

const changesIn = (
  messages: ReadonlyArray<wire.TypeMessage>,
  updates: ReadonlyArray<wire.TypeUpdate>,
  named: Values.Named,
  box: (moved: Box) => boolean
): ReadonlyArray<ChatChange> =>
  [
    ...messages.map((message) => ofMessage(message, named, "New")),
    ...updates.flatMap((update) => {
      const moved = movedBy(update, named)
      return moved === null || !box(moved.box) ? [] : [moved.change]
    })
  ].filter(({ _tag }) => _tag !== "Other")

const differenceOf = (answer: wire.updates.TypeDifference, since: BoxState): Difference => {
  switch (answer._) {
    case "updates.differenceEmpty":
      return {
        _tag: "Since",
        chats: [],
        changes: [],
        channels: [],
        state: { ...since, date: answer.date },
        more: false
      }
    case "updates.differenceTooLong":
      return { _tag: "TooLong", state: { ...since, position: answer.pts } }
    case "updates.difference":
    case "updates.differenceSlice": {
      const named = Values.namesOf(answer)
      const changes = changesIn(answer.newMessages, answer.otherUpdates, named, (box) => box === "common")
      const isSlice = answer._ === "updates.differenceSlice"
      return {
        _tag: "Since",
        chats: seenIn(answer, changes),
        changes,
        channels: answer.otherUpdates.flatMap((update) => channelOf(update, named)),
        state: stateOf(isSlice ? answer.intermediateState : answer.state),
        more: isSlice
      }
    }
  }
}

/** The feed over the session's client. */
export const makeFeed = (client: Client): ChatFeed => ({
  state: Effect.map(client.call({ _: "updates.getState" }), stateOf),
  peers: Effect.fnUntraced(function*(refs) {
    const peers = refs.flatMap((ref) => Values.readRef(ref) ?? [])
    const answer = yield* client.call({
      _: "messages.getPeerDialogs",
      peers: peers.map((peer) => ({ _: "inputDialogPeer", peer: Values.inputPeer(peer) }))
    })
    return { chats: chatsOf(answer), state: stateOf(answer.state) }
  }),
  difference: (since) =>
    Effect.map(
      client.call<wire.updates.RawGetDifferenceRequest, PlatformRefused | PositionRefused>({
        _: "updates.getDifference",
        pts: since.position,
        date: since.date,
        qts: since.qts
      }, positions),
      (answer) => differenceOf(answer, since)
    ),
  channelDifference: Effect.fnUntraced(function*(ref, since) {
    const channel = Values.inputChannel(yield* peerOf(ref))
    if (channel === null) return yield* new ChatRefused({ reason: "unknown" })
    const answer = yield* client.call<wire.updates.RawGetChannelDifferenceRequest, ChatFailure | PositionRefused>({
      _: "updates.getChannelDifference",
      channel,
      filter: { _: "channelMessagesFilterEmpty" },
      pts: since,
      limit: changesPerDifference
    }, { ...refusals, ...positions })
    if (answer._ === "updates.channelDifferenceEmpty") {
      return { _tag: "Since", chats: [], changes: [], position: answer.pts, more: answer.final !== true }
    }
    const named = Values.namesOf(answer)
    if (answer._ === "updates.channelDifference") {
      const changes = changesIn(answer.newMessages, answer.otherUpdates, named, (box) => box !== "common")
      return {
        _tag: "Since",
        chats: seenIn(answer, changes),
        changes,
        position: answer.pts,
        more: answer.final !== true
      }
    }
    const { dialog } = answer
    const chat = dialog._ === "dialog" ? Values.chatSeen(Values.chatIdOf(dialog.peer), named) : null
    if (chat === null || dialog._ !== "dialog") return yield* new PositionRefused()
    return {
      _tag: "TooLong",
      chat: { ...chat, topId: BigInt(dialog.topMessage), position: dialog.pts ?? null },
      messages: answer.messages.flatMap((message) => Values.messageSeen(message, named) ?? [])
    }
  })
})
