import { describe, expect, it } from "@effect/vitest"
import { Long } from "@mtcute/core"
import { refOf } from "../../../../src/layers/messenger/wire/WireChatValues.ts"
import * as Values from "../../../../src/layers/messenger/wire/WireChatValues.ts"
import { pushesOf } from "../../../../src/layers/messenger/wire/WireFeed.ts"

const ada = { _: "user", id: 7, accessHash: Long.fromNumber(11), firstName: "Ada", lastName: "King", username: "ada" }
const team = {
  _: "channel",
  id: 9,
  accessHash: Long.fromNumber(12),
  title: "Team",
  megagroup: true,
  photo: { _: "chatPhotoEmpty" },
  date: 100
}

const named: any = Values.namesOf({ users: [ada] as any, chats: [team] as any })

const message = (more: object): any => ({
  _: "message",
  id: 5,
  peerId: { _: "peerUser", userId: 7 },
  date: 1000,
  message: "",
  ...more
})

const seen = (more: object) => Values.messageSeen(message(more), named)

const document = (attributes: ReadonlyArray<object>) => ({
  _: "messageMediaDocument",
  document: {
    _: "document",
    id: Long.fromNumber(3),
    accessHash: Long.fromNumber(4),
    fileReference: new Uint8Array([1]),
    date: 1,
    mimeType: "audio/ogg",
    size: 77,
    dcId: 1,
    attributes
  }
})

describe("a message of the platform", () => {
  it("of a person is from that person, unless the account wrote it", () => {
    expect(seen({ message: "hello" })).toMatchObject({
      chatId: 7n,
      record: { id: 5n, at: 1000, kind: "text", text: "hello", from: { id: "7", name: "Ada King", username: "ada" } }
    })
    expect(seen({ message: "hello", out: true })?.record).toMatchObject({ from: null, details: { outgoing: true } })
  })

  it("is edited at its edit date, unless people do not see the edit", () => {
    expect(seen({ message: "a", editDate: 1010 })?.record.details.edited_at).toBe(1010)
    expect(seen({ message: "a", editDate: 1010, editHide: true })).toMatchObject({ editHidden: true })
    expect(seen({ message: "a", editDate: 1010, editHide: true })?.record.details.edited_at).toBeUndefined()
  })

  it.each(
    [
      ["voice", document([{ _: "documentAttributeAudio", voice: true, duration: 3 }])],
      ["video", document([{ _: "documentAttributeVideo", duration: 3, w: 1, h: 1 }])],
      ["document", document([{ _: "documentAttributeFilename", fileName: "plan.pdf" }])],
      ["location", { _: "messageMediaGeo", geo: { _: "geoPoint", lat: 1, long: 2, accessHash: Long.ONE } }],
      ["contact", { _: "messageMediaContact", firstName: "A", lastName: "B", phoneNumber: "1", vcard: "", userId: 1 }],
      ["other", { _: "messageMediaOfTheFuture" }]
    ] as const
  )("with media is a %s, and its words are the caption", (kind, media) => {
    const found = seen({ message: "words", media })
    expect(found?.record).toMatchObject({ kind, text: null, details: { caption: "words" } })
    expect(found?.files).toHaveLength("document" in media ? 1 : 0)
  })

  it("with a sticker names it, and has no file", () => {
    const stickerset = { _: "inputStickerSetEmpty" }
    const found = seen({ media: document([{ _: "documentAttributeSticker", alt: "👋", stickerset }]) })
    expect(found?.record).toMatchObject({ kind: "sticker", details: { sticker: { id: "3", emoji: "👋" } } })
    expect(found?.files).toEqual([])
    const entities = [{ _: "messageEntityCustomEmoji", offset: 0, length: 2, documentId: Long.fromNumber(8) }]
    expect(seen({ message: "👋", entities })?.record.details.entities).toEqual([
      { type: "customemoji", offset: 0, length: 2, emoji_id: "8" }
    ])
  })

  it("of an unknown kind keeps its name, and a service message its action", () => {
    expect(seen({ media: { _: "messageMediaOfTheFuture" } })?.record.details.service).toBe("messageMediaOfTheFuture")
    const service: any = { ...message({}), _: "messageService", action: { _: "messageActionPinMessage" } }
    expect(Values.messageSeen(service, named)?.record).toMatchObject({
      kind: "service",
      details: { service: "PinMessage" }
    })
  })

  it("of the service keeps what it says and whom it names, and the time when it expires", () => {
    const service = (action: object): any =>
      Values.messageSeen({ ...message({ ttlPeriod: 60 }), _: "messageService", action } as any, named)
    const wordsOf = (action: object) => service(action).record.details.service
    expect(wordsOf({ _: "messageActionChatEditTitle", title: "New title" })).toBe("ChatEditTitle: New title")
    expect(wordsOf({ _: "messageActionChatAddUser", users: [7, 8] })).toBe("ChatAddUser: Ada King, 8")
    expect(wordsOf({ _: "messageActionPhoneCall", callId: Long.ONE, duration: 63 })).toBe("PhoneCall: 63 s")
    expect(service({ _: "messageActionPinMessage" }).expiresAt).toEqual(new Date(1_060_000))
  })

  it("keeps the words of places, and of media that are unknown", () => {
    const geo = { _: "geoPoint", lat: 1, long: 2, accessHash: Long.ONE }
    const venue = { _: "messageMediaVenue", geo, title: "Cafe", address: "1 Street", venueType: "food" }
    expect(seen({ media: venue })?.record.details.service).toBe("1, 2: Cafe, 1 Street")
    expect(seen({ media: { ...venue, geo: { _: "geoPointEmpty" } } })?.record.details.service).toBe("Cafe, 1 Street")
    expect(seen({ media: { _: "messageMediaGeoLive", geo, period: 60 } })?.record.details.service).toBe("1, 2")
    const list = { _: "todoList", title: { _: "textWithEntities", text: "Move \ud800", entities: [] }, list: [] }
    expect(seen({ media: { _: "messageMediaToDo", todo: list } })?.record.details.service)
      .toBe("messageMediaToDo: Move \ufffd")
  })

  it("has the reactions to it", () => {
    const results = [
      { _: "reactionCount", count: 3, reaction: { _: "reactionEmoji", emoticon: "👍" } },
      { _: "reactionCount", count: 1, reaction: { _: "reactionCustomEmoji", documentId: Long.fromNumber(77) } },
      { _: "reactionCount", count: 2, reaction: { _: "reactionPaid" } }
    ]
    expect(seen({ reactions: { _: "messageReactions", results } })?.record.details.reactions).toEqual([
      { emoji: "👍", count: 3 },
      { emoji_id: "77", count: 1 },
      { count: 2 }
    ])
  })

  it("keeps its words as they were written, but for half characters", () => {
    expect(seen({ message: "a\u0000\nb \ud800" })?.record.text).toBe("a\u0000\nb \ufffd")
  })
})

describe("a chat of the platform", () => {
  it("has an id by its kind, and is addressed by what it was answered with", () => {
    const chatId = Values.channelChatId(9)
    expect(chatId).toBe(-1_000_000_000_009n)
    const chat = Values.chatSeen(chatId, named)
    expect(chat).toMatchObject({ type: "group", title: "Team", joinedAt: new Date(100_000) })
    expect(chat?.ref).toBe(refOf({ kind: "channel", id: 9, accessHash: "12" }))
    expect(Values.readRef(chat?.ref ?? "")).toEqual({ kind: "channel", id: 9, accessHash: "12" })
    expect(Values.readRef("nonsense")).toBeNull()
  })
})

describe("pushes of the platform", () => {
  const pushed = (update: object) =>
    pushesOf({ _: "updates", updates: [update], users: [ada], chats: [team], date: 0, seq: 0 } as any)

  it("of messages move their box with them, and others move it alone", () => {
    expect(pushed({ _: "updateNewMessage", message: message({ message: "x" }), pts: 8, ptsCount: 1 })).toMatchObject([
      { _tag: "Pushed", box: "common", position: 8, count: 1, change: { _tag: "New" } }
    ])
    expect(pushed({ _: "updateDeleteChannelMessages", channelId: 9, messages: [1, 2], pts: 4, ptsCount: 2 }))
      .toMatchObject([{ box: -1_000_000_000_009n, position: 4, count: 2, change: { _tag: "Deleted", ids: [1n, 2n] } }])
    const read = { _: "updateReadHistoryInbox", peer: { _: "peerUser", userId: 7 }, maxId: 5, pts: 9, ptsCount: 1 }
    expect(pushed(read)).toMatchObject([{ box: "common", position: 9, change: { _tag: "Other" } }])
    expect(pushed({ _: "updateUserStatus", userId: 7, status: { _: "userStatusEmpty" } })).toEqual([])
  })

  it("of a login code move their box and have nothing of it", () => {
    const code = { peerId: { _: "peerUser", userId: 777_000 }, message: "Login code: 12345" }
    const short: any = {
      _: "updateShortMessage",
      id: 5,
      userId: 777_000,
      message: "Login code: 12345",
      date: 1,
      pts: 8
    }
    for (
      const pushes of [
        pushed({ _: "updateNewMessage", message: message(code), pts: 8, ptsCount: 1 }),
        pushed({ _: "updateEditMessage", message: message({ ...code, out: true }), pts: 8, ptsCount: 1 }),
        pushesOf({ ...short, ptsCount: 1 })
      ]
    ) {
      expect(pushes).toEqual([
        { _tag: "Pushed", box: "common", position: 8, count: 1, chats: [], change: { _tag: "Other" } }
      ])
    }
  })

  it("that were lost make their box ask", () => {
    expect(pushesOf("again")).toEqual([{ _tag: "Behind", box: "common" }])
    expect(pushesOf({ _: "updatesTooLong" })).toEqual([{ _tag: "Behind", box: "common" }])
    expect(pushed({ _: "updateChannelTooLong", channelId: 9 })).toEqual([
      { _tag: "Behind", box: -1_000_000_000_009n }
    ])
  })
})
