/** Chats of the accounts at the data centre: a short one of each, and of the large accounts 120 with 100,000 messages. */
import { Long } from "@mtcute/core"
import type { Word } from "../../test/support/dataCentre/Words.ts"
import { chatOf } from "../archive/corpus.ts"

export const messagesOfLarge = 100_000
const chatsOfLarge = 120
/** Every sixth chat is a group with a box of its own. */
const isGroup = (chat: number) => chat % 6 === 5

/** The private chat in which people write to every account. */
export const grace = 901

export interface Entry {
  readonly id: number
  /** In Unix seconds. */
  readonly at: number
  readonly text: string
  readonly outgoing: boolean
}

export interface Chat {
  readonly peer: Word & { readonly _: "peerChannel" | "peerUser" }
  readonly title: string
  /** The newest first. */
  readonly messages: Array<Entry>
}

const peerOf = (id: number, group: boolean): Chat["peer"] =>
  group ? { _: "peerChannel", channelId: id } : { _: "peerUser", userId: id }

/** Ids of private chats are those of their account's one box. */
const idIn = (chat: number, id: bigint): number => isGroup(chat) ? Number(id) : Number(id) * chatsOfLarge + chat

const largeChat = (place: number, chat: number): Chat => {
  const size = Math.ceil((messagesOfLarge - chat) / chatsOfLarge)
  const { chatId, messages, title } = chatOf(place, chat, size)
  return {
    peer: peerOf(Number(chatId), isGroup(chat)),
    title,
    messages: messages.map(({ at, details, id, text }) => ({
      id: idIn(chat, id),
      at,
      text: text ?? "",
      outgoing: details.outgoing === true
    }))
  }
}

/** The chats of an account, that with the newest message first. */
export const chatsOf = (place: number, isLarge: boolean): ReadonlyArray<Chat> => [
  { peer: peerOf(grace, false), title: "Grace", messages: [] },
  ...(isLarge ? Array.from({ length: chatsOfLarge }, (_, chat) => largeChat(place, chat)) : []).toSorted((one, other) =>
    (other.messages[0]?.at ?? 0) - (one.messages[0]?.at ?? 0)
  )
]

/** The number that a request or an answer names a chat by. */
export const numberOf = (peer: Word): number => peer["channelId"] ?? peer["userId"] ?? 0

export const messageOf = ({ peer }: Chat, { at, id, outgoing, text }: Entry): Word => ({
  _: "message",
  id,
  peerId: peer,
  ...(outgoing || peer._ === "peerUser" ? {} : { fromId: { _: "peerUser", userId: grace } }),
  date: at,
  message: text,
  ...(outgoing ? { out: true } : {})
})

export const dialogOf = ({ messages, peer }: Chat): Word => ({
  _: "dialog",
  peer,
  topMessage: messages[0]?.id ?? 0,
  readInboxMaxId: 0,
  readOutboxMaxId: 0,
  unreadCount: 0,
  unreadMentionsCount: 0,
  unreadReactionsCount: 0,
  unreadPollVotesCount: 0,
  notifySettings: { _: "peerNotifySettings" },
  ...(peer._ === "peerChannel" ? { pts: 1 } : {})
})

const userOf = (id: number, firstName: string): Word => ({ _: "user", id, accessHash: Long.ONE, firstName })

/** The people and groups that an answer about the chats names. */
export const namesOf = (chats: ReadonlyArray<Chat>) => ({
  users: [
    ...(chats.some(({ peer }) => numberOf(peer) === grace) ? [] : [userOf(grace, "Grace")]),
    ...chats.flatMap(({ peer, title }) => peer._ === "peerUser" ? [userOf(numberOf(peer), title)] : [])
  ],
  chats: chats.flatMap(({ peer, title }): ReadonlyArray<Word> =>
    peer._ === "peerUser" ? [] : [{
      _: "channel",
      id: numberOf(peer),
      accessHash: Long.ONE,
      title,
      megagroup: true,
      photo: { _: "chatPhotoEmpty" },
      date: 1,
      participantsCount: 2
    }]
  )
})
