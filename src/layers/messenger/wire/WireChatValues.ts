/** The platform's chats and messages as the archive takes them. */
import type { MessageDetails, MessageKind, SenderRecord } from "../../../domain/archive/Records.ts"
import type { ChatSeen, FileSeen, MessageSeen } from "../../../ports/messenger/MessengerArchive.ts"
import { Long, type wire } from "./Protocol.ts"
import { wordsIn } from "./WireWords.ts"

/** Ids of channels begin here, below zero: a person, a group and a channel never share one. */
const channelMark = 1_000_000_000_000

export type Peer =
  | { readonly kind: "user" | "channel"; readonly id: number; readonly accessHash: string }
  | { readonly kind: "group"; readonly id: number }
  | { readonly kind: "self" }

export const refOf = (peer: Peer): string => JSON.stringify(peer)

const isPeer = (value: unknown): value is Peer =>
  typeof value === "object" && value !== null && "kind" in value && typeof value.kind === "string"

/** Null where the text is no reference of this adapter. */
export const readRef = (ref: string): Peer | null => {
  try {
    const value: unknown = JSON.parse(ref)
    return isPeer(value) ? value : null
  } catch {
    return null
  }
}

export const inputPeer = (peer: Peer): wire.TypeInputPeer => {
  switch (peer.kind) {
    case "self":
      return { _: "inputPeerSelf" }
    case "group":
      return { _: "inputPeerChat", chatId: peer.id }
    case "user":
      return { _: "inputPeerUser", userId: peer.id, accessHash: Long.fromString(peer.accessHash) }
    case "channel":
      return { _: "inputPeerChannel", channelId: peer.id, accessHash: Long.fromString(peer.accessHash) }
  }
}

export const inputChannel = (peer: Peer): wire.TypeInputChannel | null =>
  peer.kind === "channel"
    ? { _: "inputChannel", channelId: peer.id, accessHash: Long.fromString(peer.accessHash) }
    : null

export const channelChatId = (channelId: number): bigint => BigInt(-channelMark - channelId)

export const chatIdOf = (peer: wire.TypePeer): bigint => {
  switch (peer._) {
    case "peerUser":
      return BigInt(peer.userId)
    case "peerChat":
      return BigInt(-peer.chatId)
    case "peerChannel":
      return channelChatId(peer.channelId)
  }
}

/** People, groups and channels that an answer names, by their marked ids. */
export interface Named {
  readonly users: ReadonlyMap<bigint, wire.RawUser>
  readonly chats: ReadonlyMap<bigint, wire.TypeChat>
}

export const namesOf = (
  { chats, users }: { readonly chats: ReadonlyArray<wire.TypeChat>; readonly users: ReadonlyArray<wire.TypeUser> }
): Named => ({
  users: new Map(users.flatMap((user) => user._ === "user" ? [[BigInt(user.id), user] as const] : [])),
  chats: new Map(chats.map((chat) =>
    [
      chat._ === "channel" || chat._ === "channelForbidden" ? channelChatId(chat.id) : BigInt(-chat.id),
      chat
    ] as const
  ))
})

/** An archived text stays as it was written, but for what no JSON carries. */
const kept = (value: string): string => value.toWellFormed()

const text = (value: string | undefined): string | null => value === undefined || value === "" ? null : kept(value)

const nameOf = ({ firstName, lastName }: wire.RawUser): string | null =>
  text([firstName, lastName].filter((name) => name !== undefined && name !== "").join(" "))

const date = (seconds: number | undefined): Date | null =>
  seconds === undefined || seconds === 0 ? null : new Date(seconds * 1000)

const unknown = { protected: false, joinedAt: null, left: false, migratedTo: null, topId: null, position: null }

const ofUser = (user: wire.RawUser): ChatSeen | null => {
  if (user.self !== true && (user.min === true || user.accessHash === undefined)) return null
  return {
    ...unknown,
    chatId: BigInt(user.id),
    type: user.self === true ? "saved" : user.bot === true ? "bot" : "private",
    ref: refOf(
      user.self === true
        ? { kind: "self" }
        : { kind: "user", id: user.id, accessHash: user.accessHash?.toString() ?? "0" }
    ),
    title: nameOf(user),
    username: text(user.username),
    members: null
  }
}

const migrationOf = ({ migratedTo }: wire.RawChat): bigint | null =>
  migratedTo?._ === "inputChannel" ? channelChatId(migratedTo.channelId) : null

const ofChat = (chat: wire.TypeChat): ChatSeen | null => {
  switch (chat._) {
    case "chat":
      return {
        ...unknown,
        chatId: BigInt(-chat.id),
        type: "group",
        ref: refOf({ kind: "group", id: chat.id }),
        title: text(chat.title),
        username: null,
        members: chat.participantsCount,
        protected: chat.noforwards === true,
        left: chat.left === true || chat.deactivated === true,
        migratedTo: migrationOf(chat)
      }
    case "channel":
      if (chat.min === true || chat.accessHash === undefined) return null
      return {
        ...unknown,
        chatId: channelChatId(chat.id),
        type: chat.broadcast === true ? "channel" : "group",
        ref: refOf({ kind: "channel", id: chat.id, accessHash: chat.accessHash.toString() }),
        title: text(chat.title),
        username: text(chat.username),
        members: chat.participantsCount ?? null,
        protected: chat.noforwards === true,
        joinedAt: date(chat.date),
        left: chat.left === true
      }
    default:
      return null
  }
}

/** The chat that an answer names; null where it says too little to address it. */
export const chatSeen = (chatId: bigint, { chats, users }: Named): ChatSeen | null => {
  const user = users.get(chatId)
  if (user !== undefined) return ofUser(user)
  const chat = chats.get(chatId)
  return chat === undefined ? null : ofChat(chat)
}

const senderOf = (peer: wire.TypePeer | undefined, { chats, users }: Named): SenderRecord | null => {
  if (peer === undefined) return null
  const id = chatIdOf(peer)
  const user = users.get(id)
  if (user !== undefined) return { id: String(id), name: nameOf(user), username: text(user.username) }
  const chat = chats.get(id)
  const title = chat !== undefined && "title" in chat ? text(chat.title) : null
  return { id: String(id), name: title, username: chat?._ === "channel" ? text(chat.username) : null }
}

interface Media {
  readonly kind: MessageKind
  readonly details?: Partial<MessageDetails>
  readonly files?: ReadonlyArray<FileSeen>
}

/** The words of an object, after its own name where that says what it is. */
const worded = (title: string | null, value: object, named: Named): Partial<MessageDetails> => {
  const nameOf = (userId: number) => senderOf({ _: "peerUser", userId }, named)?.name ?? String(userId)
  const words = wordsIn(value, nameOf).map(kept).join(", ")
  const service = [title, words].filter((part) => part !== null && part !== "").join(": ")
  return service === "" ? {} : { service }
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64")

const ofPhoto = (photo: wire.RawPhoto, once: boolean): FileSeen => {
  const sizes = photo.sizes.flatMap((size) =>
    size._ === "photoSize"
      ? [{ type: size.type, bytes: size.size }]
      : size._ === "photoSizeProgressive"
      ? [{ type: size.type, bytes: Math.max(...size.sizes) }]
      : []
  )
  const largest = sizes.reduce((most, size) => size.bytes > most.bytes ? size : most, { type: "", bytes: 0 })
  return {
    messengerFile: `photo ${photo.id.toString()}`,
    name: null,
    mimeType: "image/jpeg",
    bytes: largest.bytes,
    location: JSON.stringify({
      kind: "photo",
      centre: photo.dcId,
      id: photo.id.toString(),
      accessHash: photo.accessHash.toString(),
      reference: base64(photo.fileReference),
      size: largest.type
    }),
    once
  }
}

/** Stickers are kept by id and name: everybody has their files. */
const ofDocument = (document: wire.RawDocument, once: boolean): Media => {
  const { attributes } = document
  const name = attributes.find((one) => one._ === "documentAttributeFilename")
  const audio = attributes.find((one) => one._ === "documentAttributeAudio")
  const isVideo = attributes.some((one) => one._ === "documentAttributeVideo")
  const sticker = attributes.find((one) =>
    one._ === "documentAttributeSticker" || one._ === "documentAttributeCustomEmoji"
  )
  if (sticker !== undefined) {
    const emoji = "alt" in sticker ? text(sticker.alt) : null
    return { kind: "sticker", details: { sticker: { id: document.id.toString(), emoji } } }
  }
  const file: FileSeen = {
    messengerFile: `document ${document.id.toString()}`,
    name: name?._ === "documentAttributeFilename" ? text(name.fileName) : null,
    mimeType: kept(document.mimeType),
    bytes: document.size,
    location: JSON.stringify({
      kind: "document",
      centre: document.dcId,
      id: document.id.toString(),
      accessHash: document.accessHash.toString(),
      reference: base64(document.fileReference)
    }),
    once
  }
  const isVoice = audio?._ === "documentAttributeAudio" && audio.voice === true
  const kind = isVoice ? "voice" : isVideo ? "video" : "document"
  return { kind, files: [file] }
}

const mediaOf = (media: wire.TypeMessageMedia | undefined, named: Named): Media => {
  if (media === undefined) return { kind: "text" }
  switch (media._) {
    case "messageMediaEmpty":
    case "messageMediaWebPage":
      return { kind: "text" }
    case "messageMediaPhoto":
      return {
        kind: "photo",
        files: media.photo?._ === "photo" ? [ofPhoto(media.photo, media.ttlSeconds !== undefined)] : []
      }
    case "messageMediaDocument":
      return media.document?._ === "document"
        ? ofDocument(media.document, media.ttlSeconds !== undefined)
        : { kind: "document" }
    case "messageMediaContact": {
      const name = [media.firstName, media.lastName].filter((part) => part !== "").join(" ")
      return { kind: "contact", details: { contact: [kept(name), kept(media.phoneNumber)] } }
    }
    case "messageMediaGeo":
    case "messageMediaGeoLive":
    case "messageMediaVenue":
      return {
        kind: "location",
        details: worded(media.geo._ === "geoPoint" ? `${media.geo.lat}, ${media.geo.long}` : null, {
          ...media,
          period: undefined
        }, named)
      }
    case "messageMediaPoll":
      return {
        kind: "poll",
        details: {
          poll: [media.poll.question.text, ...media.poll.answers.flatMap((answer) => answerText(answer))].map(kept)
        }
      }
    default:
      return { kind: "other", details: worded(media._, media, named) }
  }
}

const answerText = (answer: wire.TypePollAnswer): ReadonlyArray<string> => "text" in answer ? [answer.text.text] : []

const kindOf = (reaction: wire.TypeReaction) => {
  switch (reaction._) {
    case "reactionEmoji":
      return { emoji: kept(reaction.emoticon) }
    case "reactionCustomEmoji":
      return { emoji_id: reaction.documentId.toString() }
    default:
      return {}
  }
}

const reactionsOf = (reactions: wire.TypeMessageReactions | undefined): Partial<MessageDetails> =>
  reactions === undefined || reactions.results.length === 0 ? {} : {
    reactions: reactions.results.map(({ count, reaction }) => ({ ...kindOf(reaction), count }))
  }

const replyOf = (reply: wire.TypeMessageReplyHeader | undefined): Partial<MessageDetails> =>
  reply?._ !== "messageReplyHeader" ? {} : {
    ...(reply.replyToMsgId === undefined ? {} : { reply_to_id: String(reply.replyToMsgId) }),
    // In a topic the header names its first message, or that alone where the message answers none.
    ...(reply.forumTopic === true ? { topic_id: String(reply.replyToTopId ?? reply.replyToMsgId ?? 1) } : {})
  }

const forwardOf = (forward: wire.RawMessageFwdHeader | undefined, named: Named): Partial<MessageDetails> => {
  if (forward === undefined) return {}
  const sender = senderOf(forward.fromId, named)
  return { forwarded_from: text(forward.fromName) ?? sender?.name ?? sender?.id ?? "unknown" }
}

const entitiesOf = (entities: ReadonlyArray<wire.TypeMessageEntity> | undefined): Partial<MessageDetails> =>
  entities === undefined || entities.length === 0 ? {} : {
    entities: entities.map((entity) => ({
      type: entity._.replace(/^(?:input)?[mM]essageEntity/, "").toLowerCase(),
      offset: entity.offset,
      length: entity.length,
      ...("url" in entity ? { url: kept(entity.url) } : {}),
      ...("documentId" in entity ? { emoji_id: entity.documentId.toString() } : {})
    }))
  }

/** The message; null for one that is empty: the platform says of it that it is not there. */
export const messageSeen = (message: wire.TypeMessage, named: Named): MessageSeen | null => {
  if (message._ === "messageEmpty") return null
  const chatId = chatIdOf(message.peerId)
  const isDialog = message.peerId._ === "peerUser" && message.out !== true
  const from = senderOf(message.fromId ?? (isDialog ? message.peerId : undefined), named)
  const common: Partial<MessageDetails> = {
    ...(message.out === true ? { outgoing: true } : {}),
    ...replyOf(message.replyTo),
    ...reactionsOf(message.reactions)
  }
  const expiresAt = message.ttlPeriod === undefined ? null : date(message.date + message.ttlPeriod)
  const base = { id: BigInt(message.id), at: message.date, from }
  if (message._ === "messageService") {
    const record = {
      ...base,
      kind: "service" as const,
      text: null,
      details: { ...common, ...worded(message.action._.replace(/^messageAction/, ""), message.action, named) }
    }
    return { chatId, record, editHidden: false, expiresAt, files: [] }
  }
  const { details = {}, files = [], kind } = mediaOf(message.media, named)
  const words = text(message.message)
  const isText = kind === "text"
  return {
    chatId,
    record: {
      ...base,
      kind,
      text: isText ? words : null,
      details: {
        ...common,
        ...(isText || words === null ? {} : { caption: words }),
        ...forwardOf(message.fwdFrom, named),
        ...(message.groupedId === undefined ? {} : { album_id: message.groupedId.toString() }),
        ...entitiesOf(message.entities),
        ...(message.editDate === undefined || message.editHide === true ? {} : { edited_at: message.editDate }),
        ...details
      }
    },
    editHidden: message.editHide === true,
    expiresAt,
    files
  }
}
