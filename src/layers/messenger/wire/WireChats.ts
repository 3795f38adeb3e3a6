/** Reading of chats over the platform's own protocol. */
import { Effect, Option, Stream } from "effect"
import {
  type ChatReader,
  ChatRefused,
  type ChatSeen,
  FileExpired,
  FileGone,
  type MessageSeen
} from "../../../ports/messenger/MessengerArchive.ts"
import { PlatformRefused, PlatformUnavailable } from "../../../ports/messenger/MessengerSession.ts"
import { Long, type wire } from "./Protocol.ts"
import * as Values from "./WireChatValues.ts"
import type { Meanings } from "./WireClient.ts"
import type { Reading } from "./WireReading.ts"

export type ChatFailure = ChatRefused | PlatformRefused

const refused = (reason: ChatRefused["reason"]) => () => new ChatRefused({ reason })

export const refusals = {
  CHANNEL_PRIVATE: refused("private"),
  CHANNEL_PUBLIC_GROUP_NA: refused("private"),
  USER_BANNED_IN_CHANNEL: refused("banned"),
  CHAT_FORBIDDEN: refused("left"),
  CHANNEL_INVALID: refused("unknown"),
  CHAT_ID_INVALID: refused("unknown"),
  PEER_ID_INVALID: refused("unknown"),
  // The platform answers, and fails at this chat alone.
  500: () => new PlatformRefused({ reason: "500" })
}

export const peerOf = (ref: string): Effect.Effect<Values.Peer, ChatRefused> => {
  const peer = Values.readRef(ref)
  return peer === null ? Effect.fail(new ChatRefused({ reason: "unknown" })) : Effect.succeed(peer)
}

const dialogsPerPage = 100
/** The main folder, and the archived one of the platform. */
const lastFolder = 1

/** The place in the dialogs after which a page begins. */
interface DialogCursor {
  readonly folder: number
  readonly date: number
  readonly id: number
  readonly ref: string | null
  /** The chats of the folder that are not answered yet, as the first page counts them; null before that page. */
  readonly left: number | null
}

const firstPage: DialogCursor = { folder: 0, date: 0, id: 0, ref: null, left: null }

const isCursor = (value: unknown): value is DialogCursor =>
  typeof value === "object" && value !== null && "folder" in value && "left" in value

const readCursor = (text: string | null): DialogCursor => {
  if (text === null) return firstPage
  const value: unknown = JSON.parse(text)
  return isCursor(value) ? value : firstPage
}

type Dialogs = Exclude<wire.messages.TypeDialogs, wire.messages.RawDialogsNotModified>

/** The chats of dialogs, with their newest messages and positions. */
export const chatsOf = (
  answer: Pick<wire.messages.RawDialogs, "chats" | "dialogs" | "users">
): ReadonlyArray<ChatSeen> => {
  const named = Values.namesOf(answer)
  return answer.dialogs.flatMap((dialog): ReadonlyArray<ChatSeen> => {
    if (dialog._ !== "dialog") return []
    const chat = Values.chatSeen(Values.chatIdOf(dialog.peer), named)
    if (chat === null) return []
    const topId = dialog.topMessage === 0 ? null : BigInt(dialog.topMessage)
    return [{ ...chat, topId, position: dialog.pts ?? null }]
  })
}

type Slice = wire.messages.RawDialogsSlice

/**
 * The place of the last row that has one: pinned rows are in no order, and the newest messages of some are missing.
 * Messages are found by chat and id, as ids of different chats coincide.
 */
const lastPlace = (answer: Slice, rows: ReadonlyArray<wire.RawDialog>) => {
  const named = Values.namesOf(answer)
  const key = (peer: wire.TypePeer, id: number) => `${Values.chatIdOf(peer)} ${id}`
  const dates = new Map(
    answer.messages.flatMap((message) =>
      message._ === "messageEmpty" ? [] : [[key(message.peerId, message.id), message.date] as const]
    )
  )
  for (const { peer, pinned, topMessage: id } of rows.toReversed()) {
    const date = dates.get(key(peer, id))
    const chat = Values.chatSeen(Values.chatIdOf(peer), named)
    if (pinned !== true && date !== undefined && chat !== null) return { date, id, ref: chat.ref }
  }
  return null
}

/** The next page's beginning. A page may be shorter than asked though more follow; one that leads nowhere is the last. */
const after = (answer: Dialogs, cursor: DialogCursor): DialogCursor | null => {
  const { date, folder, id, ref } = cursor
  const nextFolder = folder < lastFolder ? { ...firstPage, folder: folder + 1 } : null
  const rows = answer.dialogs.filter((dialog) => dialog._ === "dialog")
  if (answer._ === "messages.dialogs" || rows.length === 0) return nextFolder
  const left = (cursor.left ?? answer.count) - rows.length
  if (left <= 0 && rows.length < dialogsPerPage) return nextFolder
  const place = lastPlace(answer, rows) ?? { date, id, ref }
  const isRepeated = cursor.left !== null && place.date === date && place.id === id && place.ref === ref
  return isRepeated ? nextFolder : { folder, left, ...place }
}

/** The messages of an answer, the newest first. */
const messagesOf = (answer: wire.messages.TypeMessages): ReadonlyArray<MessageSeen> => {
  if (answer._ === "messages.messagesNotModified") return []
  const named = Values.namesOf(answer)
  return answer.messages.flatMap((message) => Values.messageSeen(message, named) ?? [])
}

/** The number of messages in the whole chat of an answer; one with all of them says none. */
const totalOf = (answer: wire.messages.TypeMessages): number | null =>
  answer._ === "messages.messagesNotModified"
    ? null
    : answer._ === "messages.messages"
    ? answer.messages.length
    : answer.count

const memberOf = (
  role: "owner" | "admin" | "member",
  userId: number,
  joined: number | undefined,
  { users }: Values.Named
) => {
  const user = users.get(BigInt(userId))
  const name = user === undefined ? "" : [user.firstName, user.lastName].filter((part) => part !== undefined).join(" ")
  return {
    id: String(userId),
    name: name.toWellFormed(),
    username: user?.username ?? null,
    phone: user?.phone === undefined || user.phone === "" ? null : `+${user.phone}`,
    role,
    joined_at: joined ?? null,
    last_seen_in_chat_at: null
  }
}

const ofParticipant = (one: wire.TypeChannelParticipant, named: Values.Named) => {
  switch (one._) {
    case "channelParticipantCreator":
      return [memberOf("owner", one.userId, undefined, named)]
    case "channelParticipantAdmin":
      return [memberOf("admin", one.userId, one.date, named)]
    case "channelParticipant":
    case "channelParticipantSelf":
      return [memberOf("member", one.userId, one.date, named)]
    default:
      return []
  }
}

/** The members of a basic group; none where the platform does not show them. */
const membersIn = (participants: wire.TypeChatParticipants, named: Values.Named) =>
  participants._ !== "chatParticipants" ? [] : participants.participants.map((one) =>
    memberOf(
      one._ === "chatParticipantCreator" ? "owner" : one._ === "chatParticipantAdmin" ? "admin" : "member",
      one.userId,
      "date" in one ? one.date : undefined,
      named
    )
  )

const membersPerPage = 200

export interface Located {
  readonly kind: "document" | "photo"
  /** The data centre that has it. */
  readonly centre: number
  readonly id: string
  readonly accessHash: string
  readonly reference: string
  readonly size?: string
}

const isLocated = (value: unknown): value is Located =>
  typeof value === "object" && value !== null && "reference" in value && "centre" in value

const inputFile = ({ accessHash, id, kind, reference, size = "" }: Located): wire.TypeInputFileLocation => {
  const common = {
    id: Long.fromString(id),
    accessHash: Long.fromString(accessHash),
    fileReference: new Uint8Array(Buffer.from(reference, "base64")),
    thumbSize: size
  }
  return kind === "photo"
    ? { _: "inputPhotoFileLocation", ...common }
    : { _: "inputDocumentFileLocation", ...common }
}

const partSize = 1024 * 1024

const fileRefusals: Meanings<FileExpired | FileGone> = {
  FILE_REFERENCE_EXPIRED: () => new FileExpired(),
  FILE_REFERENCE_INVALID: () => new FileExpired(),
  FILE_ID_INVALID: () => new FileGone(),
  LOCATION_INVALID: () => new FileGone()
}

/** The reader over a connection for reading. */
export const makeReader = (client: Reading): ChatReader => {
  const chats = Effect.fnUntraced(function*(text: string | null) {
    const cursor = readCursor(text)
    const peer = cursor.ref === null ? null : Values.readRef(cursor.ref)
    const answer = yield* client.call({
      _: "messages.getDialogs",
      folderId: cursor.folder,
      // Pinned chats come with the first page alone.
      excludePinned: cursor.left !== null,
      offsetDate: cursor.date,
      offsetId: cursor.id,
      offsetPeer: peer === null ? { _: "inputPeerEmpty" } : Values.inputPeer(peer),
      limit: dialogsPerPage,
      hash: Long.ZERO
    })
    if (answer._ === "messages.dialogsNotModified") return { chats: [], next: null, total: null }
    const next = after(answer, cursor)
    return {
      chats: chatsOf(answer),
      next: next === null ? null : JSON.stringify(next),
      total: answer._ === "messages.dialogsSlice" ? answer.count : null
    }
  })

  const ids = (all: ReadonlyArray<bigint>): Array<wire.TypeInputMessage> =>
    all.map((id) => ({ _: "inputMessageID", id: Number(id) }))

  const membersOfGroup = Effect.fnUntraced(function*(chatId: number) {
    const answer = yield* client.call<wire.messages.RawGetFullChatRequest, ChatFailure>(
      { _: "messages.getFullChat", chatId },
      refusals
    )
    return answer.fullChat._ === "chatFull" ? membersIn(answer.fullChat.participants, Values.namesOf(answer)) : []
  })

  const partAt = (centre: number, located: Located, offset: number) =>
    client.part(centre, { _: "upload.getFile", location: inputFile(located), offset, limit: partSize }, fileRefusals)

  /** The content from an offset on; the data centre that a part was found at has the next one too. */
  const content = (located: Located, from: number) => {
    let centre = located.centre
    const part = Effect.fnUntraced(function*(offset: number) {
      const answer = yield* partAt(centre, located, offset).pipe(
        Effect.catchTag("FileMoved", (moved) => {
          centre = moved.centre
          return partAt(centre, located, offset)
        }),
        Effect.catchTag("FileMoved", () => Effect.fail(new PlatformUnavailable()))
      )
      if (answer._ !== "upload.file") return yield* new PlatformUnavailable()
      return [
        [answer.bytes],
        answer.bytes.length < partSize ? Option.none<number>() : Option.some(offset + partSize)
      ] as const
    })
    return Stream.paginate(from, part)
  }

  return {
    chats,
    history: Effect.fnUntraced(function*(ref, below, limit) {
      const peer = yield* peerOf(ref)
      const answer = yield* client.call<wire.messages.RawGetHistoryRequest, ChatFailure>({
        _: "messages.getHistory",
        peer: Values.inputPeer(peer),
        offsetId: below === null ? 0 : Number(below),
        offsetDate: 0,
        addOffset: 0,
        limit,
        maxId: 0,
        minId: 0,
        hash: Long.ZERO
      }, refusals)
      return { messages: messagesOf(answer), total: totalOf(answer) }
    }),
    messages: Effect.fnUntraced(function*(ref, wanted) {
      const peer = yield* peerOf(ref)
      const channel = Values.inputChannel(peer)
      const answer = channel === null
        ? yield* client.call({ _: "messages.getMessages", id: ids(wanted) })
        : yield* client.call<wire.channels.RawGetMessagesRequest, ChatFailure>(
          { _: "channels.getMessages", channel, id: ids(wanted) },
          refusals
        )
      return messagesOf(answer)
    }),
    members: Effect.fnUntraced(function*(ref, cursor) {
      const peer = yield* peerOf(ref)
      const channel = Values.inputChannel(peer)
      if (channel === null) return { members: peer.kind === "group" ? yield* membersOfGroup(peer.id) : [], next: null }
      const offset = cursor === null ? 0 : Number(cursor)
      const answer = yield* client.call<wire.channels.RawGetParticipantsRequest, ChatFailure>({
        _: "channels.getParticipants",
        channel,
        filter: { _: "channelParticipantsRecent" },
        offset,
        limit: membersPerPage,
        hash: Long.ZERO
      }, { ...refusals, CHAT_ADMIN_REQUIRED: refused("private") })
      if (answer._ !== "channels.channelParticipants") return { members: [], next: null }
      const named = Values.namesOf(answer)
      const members = answer.participants.flatMap((one) => ofParticipant(one, named))
      const next = offset + answer.participants.length
      return { members, next: answer.participants.length > 0 && next < answer.count ? String(next) : null }
    }),
    visibleFrom: Effect.fnUntraced(function*(ref) {
      const channel = Values.inputChannel(yield* peerOf(ref))
      if (channel === null) return 1n
      const { fullChat } = yield* client.call<wire.channels.RawGetFullChannelRequest, ChatFailure>(
        { _: "channels.getFullChannel", channel },
        refusals
      )
      return fullChat._ === "channelFull" ? BigInt((fullChat.availableMinId ?? 0) + 1) : 1n
    }),
    file: (location, from) => {
      const located: unknown = JSON.parse(location)
      if (!isLocated(located)) return Stream.fail(new FileGone())
      return Stream.suspend(() => content(located, from))
    }
  }
}
