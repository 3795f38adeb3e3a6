/** Chats of the simulated platform in the words of the real one. */
import { Long } from "@mtcute/core"
import { Effect, Exit, Scope } from "effect"
import type { SessionRef } from "../../../src/domain/messenger/Messenger.ts"
import type {
  ChatChange,
  ChatFeed,
  ChatPage,
  ChatReader,
  ChatSeen,
  MessagePage,
  MessageSeen,
  MessengerArchive,
  Push
} from "../../../src/ports/messenger/MessengerArchive.ts"
import type * as Clients from "./Clients.ts"
import type * as DataCentre from "./DataCentre.ts"
import { mediaOf } from "./Files.ts"
import { fullChannel, seconds } from "./Said.ts"
import type { Word } from "./Words.ts"

const channelMark = 1_000_000_000_000n
const isChannel = (chatId: bigint) => chatId < -channelMark
const channelId = (chatId: bigint) => Number(-chatId - channelMark)

const peerOf = (chatId: bigint): Word =>
  isChannel(chatId)
    ? { _: "peerChannel", channelId: channelId(chatId) }
    : chatId < 0n
    ? { _: "peerChat", chatId: Number(-chatId) }
    : { _: "peerUser", userId: Number(chatId) }

/** The chat that a request addresses, as the simulation does. */
const refOf = (peer: any): string =>
  peer.channelId === undefined
    ? `common:${peer.userId ?? -peer.chatId}`
    : `own:${-channelMark - BigInt(peer.channelId)}`

const userOf = (id: string, name: string | null, username: string | null): Word => ({
  _: "user",
  id: Number(id),
  accessHash: Long.ONE,
  ...(name === null ? {} : { firstName: name }),
  ...(username === null ? {} : { username })
})

/** The words for a basic group. */
const groupOf = ({ chatId, left, members, migratedTo, title }: ChatSeen): Word => ({
  _: "chat",
  id: Number(-chatId),
  title: title ?? "",
  photo: { _: "chatPhotoEmpty" },
  participantsCount: members ?? 0,
  date: 0,
  version: 1,
  ...(left ? { left: true } : {}),
  ...(migratedTo === null ? {} : {
    migratedTo: { _: "inputChannel", channelId: channelId(migratedTo), accessHash: Long.ONE }
  })
})

const channelOf = (chat: ChatSeen): Word => ({
  _: "channel",
  id: channelId(chat.chatId),
  accessHash: Long.ONE,
  title: chat.title ?? "",
  broadcast: chat.type === "channel",
  megagroup: chat.type === "group",
  photo: { _: "chatPhotoEmpty" },
  date: seconds(chat.joinedAt),
  ...(chat.username === null ? {} : { username: chat.username }),
  ...(chat.protected ? { noforwards: true } : {}),
  ...(chat.members === null ? {} : { participantsCount: chat.members })
})

const named = (chats: ReadonlyArray<ChatSeen>, messages: ReadonlyArray<MessageSeen>) => {
  const people = chats.filter(({ chatId }) => chatId > 0n)
  const senders = messages.flatMap(({ record: { from } }) => from === null ? [] : [from])
  const users = new Map([
    ...senders.map(({ id, name, username }) => [id, userOf(id, name, username)] as const),
    ...people.map(({ chatId, title, username }) => [String(chatId), userOf(String(chatId), title, username)] as const)
  ])
  const groups = chats.filter(({ chatId }) => chatId < 0n)
  return {
    users: [...users.values()],
    chats: groups.map((chat) => isChannel(chat.chatId) ? channelOf(chat) : groupOf(chat))
  }
}

const serviceOf = ({ chatId, record }: MessageSeen): Word => ({
  _: "messageService",
  id: Number(record.id),
  peerId: peerOf(chatId),
  date: record.at,
  action: record.details.service === "ChatMigrateTo"
    ? { _: "messageActionChatMigrateTo", channelId: 1 }
    : { _: "messageActionPinMessage" }
})

const messageOf = (message: MessageSeen): Word => {
  const { chatId, expiresAt, files, record } = message
  if (record.kind === "service") return serviceOf(message)
  const media = mediaOf(files)
  return {
    _: "message",
    id: Number(record.id),
    peerId: peerOf(chatId),
    ...(record.from === null ? {} : { fromId: { _: "peerUser", userId: Number(record.from.id) } }),
    date: record.at,
    message: record.text ?? "",
    ...(record.details.outgoing === true ? { out: true } : {}),
    ...(record.details.edited_at === undefined ? {} : { editDate: record.details.edited_at }),
    ...(media === null ? {} : { media }),
    ...(expiresAt === null ? {} : { ttlPeriod: seconds(expiresAt) - record.at })
  }
}

const seenIn = (changes: ReadonlyArray<ChatChange>): ReadonlyArray<MessageSeen> =>
  changes.flatMap((change) => "message" in change ? [change.message] : [])

const updateOf = (change: ChatChange, pts: number, ptsCount: number): Word | null => {
  if (change._tag === "Other") return null
  if (change._tag === "Deleted") {
    const messages = change.ids.map(Number)
    return change.chatId === null || !isChannel(change.chatId)
      ? { _: "updateDeleteMessages", messages, pts, ptsCount }
      : { _: "updateDeleteChannelMessages", channelId: channelId(change.chatId), messages, pts, ptsCount }
  }
  const name = change._tag === "New" ? "New" : "Edit"
  const place = isChannel(change.message.chatId) ? "Channel" : ""
  return { _: `update${name}${place}Message`, message: messageOf(change.message), pts, ptsCount }
}

const pushed = (push: Push): Word | null => {
  if (push._tag === "Behind") {
    return push.box === "common"
      ? { _: "updatesTooLong" }
      : { _: "updateShort", update: { _: "updateChannelTooLong", channelId: channelId(push.box) }, date: 0 }
  }
  const update = updateOf(push.change, push.position, push.count)
  return update === null
    ? null
    : { _: "updates", updates: [update], ...named(push.chats, seenIn([push.change])), date: 0, seq: 0 }
}

/** What a difference has besides new messages. */
const furtherOf = (changes: ReadonlyArray<ChatChange>, pts: number): ReadonlyArray<Word> =>
  changes.filter(({ _tag }) => _tag !== "New").flatMap((change) => updateOf(change, pts, 0) ?? [])

const newOf = (changes: ReadonlyArray<ChatChange>): ReadonlyArray<Word> =>
  changes.flatMap((change) => change._tag === "New" ? [messageOf(change.message)] : [])

/** Chats whose titles begin so are in the archived folder. */
const isArchived = ({ title }: ChatSeen): boolean => title?.startsWith("Archived") === true

interface Opened {
  readonly feed: ChatFeed
  readonly reader: ChatReader
}

type Own = Parameters<Clients.Handlers[string]>[0]

export const make = Effect.fnUntraced(function*(
  clients: Clients.Clients,
  archive: MessengerArchive["Service"],
  push: (key: DataCentre.Key, update: Word) => void
) {
  const context = yield* Effect.context<never>()
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const opened = new Map<string, Promise<Opened>>()

  const open = (key: Own): Promise<Opened> => {
    const ref = key.of["ref"] as SessionRef
    const known = opened.get(ref) ?? Effect.runPromiseWith(context)(
      Effect.gen(function*() {
        const tell = (one: Push) => {
          const word = pushed(one)
          if (word !== null) push(key, word)
        }
        const feed = yield* archive.feed(ref, undefined, { pushed: tell, ended: () => {} })
        return { feed, reader: yield* archive.read(ref) }
      }).pipe(Scope.provide(scope))
    )
    opened.set(ref, known)
    return known
  }

  const everyChat = async (reader: ChatReader): Promise<ReadonlyArray<ChatSeen>> => {
    const found: Array<ChatSeen> = []
    let cursor: string | null = null
    do {
      const page: ChatPage = await clients.ask(reader.chats(cursor))
      found.push(...page.chats)
      cursor = page.next
    } while (cursor !== null)
    return found
  }

  /** The messages that are asked for; with the number of those in the whole chat where these are not all. */
  const messages = async (key: Own, peer: unknown, ask: (reader: ChatReader, ref: string) => any) => {
    const { reader } = await open(key)
    const chats = await everyChat(reader)
    const ref = refOf(peer)
    const { messages: found, total }: MessagePage = await clients.ask(ask(reader, ref))
    const answer = { messages: found.map(messageOf), topics: [], ...named(chats, found) }
    if (total === null || total === found.length) return { _: "messages.messages", ...answer }
    return isChannel(BigInt(ref.slice(ref.indexOf(":") + 1)))
      ? { _: "messages.channelMessages", pts: 1, count: total, ...answer }
      : { _: "messages.messagesSlice", count: total, ...answer }
  }

  const all = (found: Effect.Effect<ReadonlyArray<MessageSeen>, unknown>) =>
    Effect.map(found, (messages): MessagePage => ({ messages, total: null }))

  const table: Clients.Handlers = {
    "updates.getState": async (key) => {
      await clients.live(key)
      const state = await clients.ask((await open(key)).feed.state)
      return { _: "updates.state", pts: state.position, qts: 0, date: state.date, seq: 0, unreadCount: 0 }
    },
    "updates.getDifference": async (key, { date, pts, qts }) => {
      const found = await clients.ask((await open(key)).feed.difference({ position: pts, date, qts }))
      if (found._tag === "TooLong") return { _: "updates.differenceTooLong", pts: found.state.position }
      const state = {
        _: "updates.state",
        pts: found.state.position,
        qts: 0,
        date: found.state.date,
        seq: 0,
        unreadCount: 0
      }
      return {
        _: found.more ? "updates.differenceSlice" : "updates.difference",
        newMessages: newOf(found.changes),
        newEncryptedMessages: [],
        otherUpdates: furtherOf(found.changes, found.state.position),
        ...named(found.chats, seenIn(found.changes)),
        ...(found.more ? { intermediateState: state } : { state })
      }
    },
    "updates.getChannelDifference": async (key, { channel, pts }) => {
      const found = await clients.ask((await open(key)).feed.channelDifference(refOf(channel), pts))
      if (found._tag === "TooLong") {
        return {
          _: "updates.channelDifferenceTooLong",
          final: true,
          dialog: dialogOf(found.chat),
          messages: found.messages.map(messageOf),
          ...named([found.chat], found.messages)
        }
      }
      return {
        _: "updates.channelDifference",
        final: !found.more,
        pts: found.position,
        newMessages: newOf(found.changes),
        otherUpdates: furtherOf(found.changes, found.position),
        ...named(found.chats, seenIn(found.changes))
      }
    },
    "messages.getDialogs": async (key, { folderId, limit, offsetPeer }) => {
      const { reader } = await open(key)
      const folder = (await everyChat(reader)).filter((chat) => isArchived(chat) === (folderId === 1))
      const after = offsetPeer._ === "inputPeerEmpty" ? "" : refOf(offsetPeer)
      const from = folder.findIndex(({ ref }) => ref === after) + 1
      const page = folder.slice(from, from + limit)
      const tops: Array<MessageSeen> = []
      for (const { ref } of [...page.slice(0, 1), ...page.slice(-1)]) {
        tops.push(...(await clients.ask(reader.history(ref, null, 1))).messages)
      }
      return {
        _: "messages.dialogsSlice",
        count: folder.length,
        dialogs: page.map(dialogOf),
        messages: tops.map(messageOf),
        ...named(page, tops)
      }
    },
    "messages.getPeerDialogs": async (key, { peers }) => {
      const { feed } = await open(key)
      const page = await clients.ask(feed.peers(peers.map((one: { peer: unknown }) => refOf(one.peer))))
      const { date, position } = await clients.ask(feed.state)
      return {
        _: "messages.peerDialogs",
        dialogs: page.chats.map(dialogOf),
        messages: [],
        ...named(page.chats, []),
        state: { _: "updates.state", pts: position, qts: 0, date, seq: 0, unreadCount: 0 }
      }
    },
    "channels.getFullChannel": async (key, { channel }) => {
      const { reader } = await open(key)
      const visibleFrom = await clients.ask(reader.visibleFrom(refOf(channel)))
      return fullChannel(channel.channelId, { pts: 0, availableMinId: Number(visibleFrom - 1n) })
    },
    "channels.getParticipants": async (key, { channel, limit, offset }) => {
      const { reader } = await open(key)
      const { members } = await clients.ask(reader.members(refOf(channel), null))
      const page = members.slice(offset, offset + limit)
      return {
        _: "channels.channelParticipants",
        count: members.length,
        participants: page.map(participantOf),
        users: page.map(({ id, name, username }) => userOf(id, name, username)),
        chats: []
      }
    },
    "messages.getHistory": (key, { limit, offsetId, peer }) =>
      messages(key, peer, (reader, ref) => reader.history(ref, offsetId === 0 ? null : BigInt(offsetId), limit)),
    // Ids of the common box name their chats.
    "messages.getMessages": async (key, { id }) => {
      const { reader } = await open(key)
      const common = (await everyChat(reader)).filter(({ chatId }) => !isChannel(chatId))
      const found: Array<MessageSeen> = []
      for (const { ref } of common) {
        found.push(...await clients.ask(reader.messages(ref, id.map((one: { id: number }) => BigInt(one.id)))))
      }
      return { _: "messages.messages", messages: found.map(messageOf), topics: [], ...named(common, found) }
    },
    "messages.getFullChat": async (key, { chatId }) => {
      const { reader } = await open(key)
      const { members } = await clients.ask(reader.members(`common:${-chatId}`, null))
      return {
        _: "messages.chatFull",
        fullChat: {
          _: "chatFull",
          id: chatId,
          about: "",
          participants: { _: "chatParticipants", chatId, participants: members.map(memberOf), version: 1 },
          notifySettings: { _: "peerNotifySettings" }
        },
        chats: [],
        users: members.map(({ id, name, username }) => userOf(id, name, username))
      }
    },
    "channels.getMessages": (key, { channel, id }) =>
      messages(
        key,
        channel,
        (reader, ref) => all(reader.messages(ref, id.map((one: { id: number }) => BigInt(one.id))))
      )
  }
  const read = async (key: Own, name: string, from: number) => (await open(key)).reader.file(name, from)
  return { read, table }
})

const memberOf = ({ id, role }: { readonly id: string; readonly role: string }): Word =>
  role === "owner"
    ? { _: "chatParticipantCreator", userId: Number(id) }
    : { _: role === "admin" ? "chatParticipantAdmin" : "chatParticipant", userId: Number(id), inviterId: 0, date: 0 }

const participantOf = ({ id, role }: { readonly id: string; readonly role: string }): Word =>
  role === "owner"
    ? { _: "channelParticipantCreator", userId: Number(id), adminRights: { _: "chatAdminRights" } }
    : role === "admin"
    ? {
      _: "channelParticipantAdmin",
      userId: Number(id),
      promotedBy: 0,
      date: 0,
      adminRights: { _: "chatAdminRights" }
    }
    : { _: "channelParticipant", userId: Number(id), date: 0 }

const dialogOf = (chat: ChatSeen): Word => ({
  _: "dialog",
  peer: peerOf(chat.chatId),
  topMessage: Number(chat.topId ?? 0n),
  readInboxMaxId: 0,
  readOutboxMaxId: 0,
  unreadCount: 0,
  unreadMentionsCount: 0,
  unreadReactionsCount: 0,
  unreadPollVotesCount: 0,
  notifySettings: { _: "peerNotifySettings" },
  ...(chat.position === null ? {} : { pts: chat.position })
})
