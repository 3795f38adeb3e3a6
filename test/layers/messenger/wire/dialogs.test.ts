import { describe, expect, it } from "@effect/vitest"
import { Long } from "@mtcute/core"
import { Effect } from "effect"
import { makeReader } from "../../../../src/layers/messenger/wire/WireChats.ts"
import { channelChatId } from "../../../../src/layers/messenger/wire/WireChatValues.ts"
import { everyChat } from "../simulated/chatsHarness.ts"

/** A row of the platform's dialogs; the newest messages of all have one id. */
interface Row {
  readonly channelId: number
  readonly date: number
  readonly pinned?: boolean
  /** The answer lacks the newest message. */
  readonly bare?: boolean
}

const topMessage = 5

const rows = (count: number, more: (channelId: number) => Partial<Row> = () => ({})): ReadonlyArray<Row> =>
  Array.from({ length: count }, (_, place) => ({
    channelId: place + 1,
    date: 10_000 - place,
    ...more(place + 1)
  }))

const peer = ({ channelId }: Row) => ({ _: "peerChannel", channelId })

/** The platform, which answers as many rows after an offset as `size` says, or always the first ones. */
const platform = (all: ReadonlyArray<Row>, size: (request: number) => number, isStuck = false) => {
  const asked: Array<any> = []
  const answer = (request: any) => {
    asked.push(request)
    if (asked.length > 300) throw new Error("The dialogs have no end")
    const there = request.folderId === 0 ? all.filter(({ pinned }) => !request.excludePinned || pinned !== true) : []
    const from = request.offsetDate === 0 || isStuck ?
      0 :
      there.findIndex(({ channelId, date }) =>
        date < request.offsetDate ||
        (date === request.offsetDate && channelId === request.offsetPeer.channelId)
      )
    const isOffset = !isStuck && request.offsetDate !== 0 && there[from]?.date === request.offsetDate
    const page = from < 0 ? [] : there.slice(isOffset ? from + 1 : from).slice(0, size(asked.length))
    return {
      _: "messages.dialogsSlice",
      count: there.length,
      dialogs: page.map((row) => ({ _: "dialog", peer: peer(row), topMessage, pts: 1, pinned: row.pinned })),
      messages: page.filter(({ bare }) => bare !== true).map((row) => (
        { _: "message", id: topMessage, date: row.date, peerId: peer(row), message: "" }
      )),
      chats: page.map(({ channelId }) => ({
        _: "channel",
        id: channelId,
        accessHash: Long.ONE,
        title: `Chat ${channelId}`,
        photo: { _: "chatPhotoEmpty" },
        date: 1
      })),
      users: []
    }
  }
  const client: any = { call: (request: any) => Effect.sync(() => answer(request)) }
  return { asked, reader: makeReader(client) }
}

const found = (reader: ReturnType<typeof makeReader>) =>
  Effect.map(everyChat(reader), (chats) => new Set(chats.map(({ chatId }) => chatId)))

const idsOf = (all: ReadonlyArray<Row>) => new Set(all.map(({ channelId }) => channelChatId(channelId)))

describe("the platform's dialogs", () => {
  it.effect("are all answered where a page is shorter than asked", () =>
    Effect.gen(function*() {
      const all = rows(230)
      const { reader } = platform(all, (request) => [60, 100, 1][request % 3] ?? 1)
      expect(yield* found(reader)).toEqual(idsOf(all))
    }))

  it.effect("are all answered where the last rows of a page lack their newest messages", () =>
    Effect.gen(function*() {
      const all = rows(230, (channelId) => ({ bare: channelId % 100 > 95 || channelId % 100 === 0 }))
      const { asked, reader } = platform(all, () => 100)
      expect(yield* found(reader)).toEqual(idsOf(all))
      expect(asked.length).toBeLessThan(6)
    }))

  it.effect("are all answered where a page has pinned chats alone", () =>
    Effect.gen(function*() {
      const all = [...rows(3, () => ({ pinned: true, date: 1 })), ...rows(50).slice(3)]
      const { reader } = platform(all, (request) => request === 1 ? 3 : 100)
      expect(yield* found(reader)).toEqual(idsOf(all))
    }))

  it.effect("end where no row of a page has its newest message, and where every page is the same", () =>
    Effect.gen(function*() {
      const bare = platform(rows(230, () => ({ bare: true })), () => 100)
      yield* found(bare.reader)
      expect(bare.asked.length).toBeLessThan(5)
      const same = platform(rows(230), () => 100, true)
      yield* found(same.reader)
      expect(same.asked.length).toBeLessThan(5)
    }))

  it.effect("that all fit into a page are asked for once in each folder", () =>
    Effect.gen(function*() {
      const { asked, reader } = platform(rows(20), () => 100)
      yield* found(reader)
      expect(asked.map(({ folderId }) => folderId)).toEqual([0, 1])
    }))
})
