/** Chats of the accounts at the data centre: a short one of each, and the histories that runs read. */
import { Long } from "@mtcute/core"
import type { Word } from "../../test/support/dataCentre/Words.ts"
import { chatOf } from "../archive/corpus.ts"

/**
 * The first accounts have 120 chats with 100,000 messages, those after them one chat with 10,000 messages or with files,
 * and all others a channel of which nothing is pushed; each has the short chat.
 */
const kinds = { large: 2, busy: 28, files: 4 }
type Kind = keyof typeof kinds | "other"

/** Accounts to which nobody writes while it is measured. */
export const silent = kinds.large + kinds.busy + kinds.files

export const kindOf = (place: number): Kind => {
  if (place < kinds.large) return "large"
  if (place < kinds.large + kinds.busy) return "busy"
  return place < silent ? "files" : "other"
}

export const messagesOfLarge = 100_000
const messagesOfBusy = 10_000
const messagesOfFiles = 80
export const fileBytes = 16 * 1024 * 1024
const chatsOfLarge = 120
/** Every sixth chat is a group with a box of its own. */
const isGroup = (chat: number) => chat % 6 === 5

/** The private chat in which people write to every account. */
export const grace = 901
const team = 902

export interface Entry {
  readonly id: number
  /** In Unix seconds. */
  readonly at: number
  readonly text: string
  readonly outgoing: boolean
  readonly hasFile?: boolean
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

const oneChat = (place: number, size: number, hasFile: boolean): Chat => {
  const { chatId, messages, title } = chatOf(place, 0, size)
  return {
    peer: peerOf(Number(chatId), false),
    title,
    messages: messages.map(({ at, id, text }) => ({ id: Number(id), at, text: text ?? "", outgoing: false, hasFile }))
  }
}

const quietChannel = (): Chat => ({
  peer: peerOf(team, true),
  title: "Team",
  messages: [{ id: 1, at: 1_700_000_000, text: "Welcome", outgoing: false }]
})

const histories: { readonly [_ in Kind]: (place: number) => ReadonlyArray<Chat> } = {
  large: (place) =>
    Array.from({ length: chatsOfLarge }, (_, chat) => largeChat(place, chat)).toSorted((one, other) =>
      (other.messages[0]?.at ?? 0) - (one.messages[0]?.at ?? 0)
    ),
  busy: (place) => [oneChat(place, messagesOfBusy, false)],
  files: (place) => [oneChat(place, messagesOfFiles, true)],
  other: () => [quietChannel()]
}

/** The chats of an account, that with the newest message first. */
export const chatsOf = (place: number): ReadonlyArray<Chat> => [
  { peer: peerOf(grace, false), title: "Grace", messages: [] },
  ...histories[kindOf(place)](place)
]

/** The number that a request or an answer names a chat by. */
export const numberOf = (peer: Word): number => peer["channelId"] ?? peer["userId"] ?? 0

const fileOf = (id: number): Word => ({
  _: "messageMediaDocument",
  document: {
    _: "document",
    id: Long.fromNumber(id),
    accessHash: Long.ONE,
    fileReference: Buffer.from("file"),
    date: 0,
    mimeType: "application/octet-stream",
    size: fileBytes,
    dcId: 1,
    attributes: []
  }
})

export const messageOf = ({ peer }: Chat, { at, hasFile, id, outgoing, text }: Entry): Word => ({
  _: "message",
  id,
  peerId: peer,
  ...(outgoing || peer._ === "peerUser" ? {} : { fromId: { _: "peerUser", userId: grace } }),
  date: at,
  message: text,
  ...(hasFile === true ? { media: fileOf(id) } : {}),
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
