import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import * as crypto from "node:crypto"
import { nextStep, scanner } from "../../src/archive/MessagePages.ts"
import {
  findMessage,
  frameBytesPerCall,
  listEdits,
  listMessages,
  type MessageList,
  type MessageQuery
} from "../../src/archive/Reader.ts"
import { answerHits } from "../../src/archive/SearchAnswer.ts"
import { frameBytesAtOnce } from "../../src/domain/archive/PageRules.ts"
import { ArchivePages, type EditPart, type EditWindow } from "../../src/ports/archive/ArchivePages.ts"
import { Db } from "../../src/ports/Db.ts"
import * as Archives from "../support/archive/archives.ts"
import { tried } from "../support/drawn.ts"
import { forEachDatabase, postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const { beginning, chat, chatId, commit, seen } = Archives
const mebibyte = 1024 * 1024

const edit = (id: number, nth: number) =>
  seen(id, 90_000, `edit ${nth} of ${id}`, { edited_at: beginning / 1000 - 80_000 + nth })

/** An archive of messages whose edits came in groups, each of which is a page. */
const stage = Effect.fnUntraced(function*(messages: number, groups: ReadonlyArray<ReadonlyArray<number>>) {
  const archive = yield* Archives.makeArchive()
  const writer = yield* Archives.write(archive)
  const ids = Array.from({ length: messages }, (_, at) => at + 1)
  yield* commit(archive, writer.see(chat))
  yield* commit(archive, writer.append(chatId, ids.map((id) => seen(id, 90_000, "sent")), "sweep"))
  for (const nths of groups) {
    const edits = nths.flatMap((nth) => ids.map((id) => edit(id, nth)))
    yield* commit(archive, writer.append(chatId, edits, "sweep"))
  }
  return { archive, writer }
})

const hundreds = (count: number) =>
  Array.from({ length: count }, (_, group) => Array.from({ length: 100 }, (_, at) => group * 100 + at))

const read = ({ account }: Archives.Archive, window: EditWindow) =>
  Effect.flatMap(Db, (db) =>
    db.read(
      account.organizationId,
      ArchivePages.use((pages) => pages.edits(account, { chatId, messageId: 1n }, window))
    ))

const bytesOf = ({ frames }: EditPart) => frames.reduce((sum, { sealed }) => sum + sealed.length, 0)
const placesOf = ({ frames }: EditPart) => frames.flatMap(({ places }) => places).sort((one, other) => one - other)

describe("messages whose edits one page holds", () => {
  forEachDatabase((_, database) => {
    layer(World.core(database))((it) => {
      it.effect("are listed with the page read and opened once", () =>
        Effect.gen(function*() {
          const { archive } = yield* stage(100, [[1]])
          const names = Array.from({ length: 100 }, (_, at) => ({ chatId, messageId: BigInt(at + 1) }))
          const { changes, stated } = yield* Effect.flatMap(Db, (db) =>
            db.read(
              archive.account.organizationId,
              ArchivePages.use((pages) => pages.changes(archive.account, names, 1))
            ))
          expect([changes.length, stated]).toEqual([100, 100])
          expect(new Set(changes.map(({ newest }) => newest)).size).toBe(1)
          const open = yield* Archives.open(archive)
          let missed = 0
          const counting = { ...open, archive: { ...open.archive, missed: () => void missed++ } }
          const query = { ...Archives.newest, limit: 100 }
          const { messages } = yield* listMessages(counting, query)
          expect(messages.map(({ edits, text }) => [text, edits])).toEqual(
            names.map(({ messageId }) => [`edit 1 of ${messageId}`, 1]).toReversed()
          )
          yield* World.query(archive.account.organizationId, (sql) =>
            sql`update archive_page set sealed = sealed || ${new Uint8Array(1)}::bytea
              where account_id = ${archive.account.accountId} and kind = 'changes'`)
          expect(yield* listMessages(counting, query)).toMatchObject({ unreadable: 100 })
          expect(missed).toBe(1)
        }).pipe(Effect.scoped))
    })
  })
})

/** Messages in their order, each edited in another page of more than 2 MiB, which has its frame many times. */
const stageLarge = Effect.fnUntraced(function*(messages: number) {
  const archive = yield* Archives.makeArchive()
  const writer = yield* Archives.write(archive)
  const ids = Array.from({ length: messages }, (_, at) => at + 1)
  const text = crypto.randomBytes(mebibyte / 10).toString("hex")
  yield* commit(archive, writer.see(chat))
  yield* commit(archive, writer.append(chatId, ids.map((id) => seen(id, 90_000, "sent")), "sweep"))
  for (const id of ids) {
    const edited = seen(id, 90_000, `${id} ${text}`, { edited_at: beginning / 1000 - 80_000 })
    yield* commit(archive, writer.append(chatId, [edited], "sweep"))
  }
  const { accountId, organizationId } = archive.account
  yield* World.query(
    organizationId,
    (sql) =>
      sql`update archive_page set bytes = bytes * 23, sealed = decode(repeat(encode(sealed, 'hex'), 23), 'hex')
      where account_id = ${accountId} and kind = 'changes'`
  )
  return { archive, texts: ids.map((id) => `${id} ${text}`) }
})

interface Counted<A> {
  readonly answer: A
  readonly read: ReadonlyArray<number>
}

/** The bytes of newest edits that each statement has read meanwhile. */
const counted = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const pages = yield* ArchivePages
  const read: Array<number> = []
  const changes: typeof pages.changes = (...asked) =>
    Effect.tap(pages.changes(...asked), ({ changes }) =>
      Effect.sync(() => {
        const distinct = new Set(changes.map(({ newest }) => newest))
        read.push([...distinct].reduce((sum, frames) => sum + (frames?.sealed.length ?? 0), 0))
      }))
  const answer = yield* Effect.provideService(effect, ArchivePages, { ...pages, changes })
  return { answer, read } satisfies Counted<A>
})

describe("messages whose edits are each in another large page", () => {
  layer(World.core(postgres))((it) => {
    it.effect("are read few pages at a time, and a list ends early where it has read many", () =>
      Effect.gen(function*() {
        const { archive, texts } = yield* stageLarge(15)
        const open = yield* Archives.open(archive)
        const all: Array<string | null> = []
        const sizes: Array<number> = []
        let bound: bigint | null = null
        do {
          const query: MessageQuery = { ...Archives.newest, bound, limit: 100 }
          const { answer, read }: Counted<MessageList> = yield* counted(listMessages(open, query))
          expect(Math.max(...read)).toBeLessThanOrEqual(frameBytesAtOnce)
          expect(read.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(frameBytesPerCall + 3 * mebibyte)
          expect([answer.hasMore, answer.unreadable]).toEqual([answer.next !== null, 0])
          all.push(...answer.messages.map(({ text }) => text))
          sizes.push(answer.messages.length)
          bound = answer.next
        } while (bound !== null)
        expect(all).toEqual(texts.toReversed())
        expect(sizes).toHaveLength(2)
        const none = yield* listMessages(open, { ...Archives.newest, deleted: true })
        expect(none).toMatchObject({ messages: [], hasMore: true, next: 16n - BigInt(sizes[0] ?? 0) })
        const { answer, read } = yield* counted(findMessage(open, chatId, 8n, 2))
        expect(answer?.context.map(({ id }) => id)).toEqual(["6", "7", "9", "10"])
        expect(answer?.message.text).toBe(texts[7])
        expect(Math.max(...read)).toBeLessThanOrEqual(frameBytesAtOnce)
      }).pipe(Effect.scoped))

    it.effect("are the results of a search a page at a time", () =>
      Effect.gen(function*() {
        const { archive, texts } = yield* stageLarge(3)
        const open = yield* Archives.open(archive)
        const { entries } = yield* nextStep(scanner(open, { ...Archives.newest, enough: 3 }))
        const hits = entries.flatMap(({ record }) =>
          record === null
            ? []
            : [{ accountId: archive.account.accountId, chatId, message: record, matches: [], alsoIn: [] }]
        )
        const { answer, read } = yield* counted(answerHits(() => open, hits))
        expect(answer.data.map(({ text }) => text)).toEqual(texts.toReversed())
        expect(Math.max(...read)).toBeLessThanOrEqual(3 * mebibyte)
      }).pipe(Effect.scoped))
  })
})

describe("messages in large pages", () => {
  layer(World.core(postgres))((it) => {
    it.effect("are read few pages at a time, and a list that finds few of them ends early", () =>
      Effect.gen(function*() {
        const archive = yield* Archives.makeArchive()
        const writer = yield* Archives.write(archive)
        const ids = Array.from({ length: 14 }, (_, at) => at + 1)
        yield* commit(archive, writer.see(chat))
        const text = crypto.randomBytes(mebibyte).toString("hex")
        for (const id of ids) {
          yield* commit(archive, writer.append(chatId, [seen(id, 9_000_000 - id * 86_400, `${id} ${text}`)], "sweep"))
        }
        // Hexadecimal digits are deflated to half their size.
        yield* World.query(
          archive.account.organizationId,
          (sql) =>
            sql`update archive_page set bytes = bytes * 3, sealed = sealed || sealed || sealed
            where account_id = ${archive.account.accountId} and kind = 'messages'`
        )
        const open = yield* Archives.open(archive)
        const pages = yield* ArchivePages
        const read: Array<number> = []
        const window: typeof pages.window = (...asked) =>
          Effect.tap(
            pages.window(...asked),
            (part) => Effect.sync(() => read.push(part.pages.reduce((sum, { sealed }) => sum + sealed.length, 0)))
          )
        const looked: Array<bigint | null> = []
        let bound: bigint | null = null
        do {
          const list: MessageList = yield* Effect.provideService(
            listMessages(open, { ...Archives.newest, bound, kind: "photo" }),
            ArchivePages,
            { ...pages, window }
          )
          expect(Math.max(...read)).toBeLessThanOrEqual(frameBytesAtOnce + 4 * mebibyte)
          expect(read.splice(0).reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(
            frameBytesPerCall + frameBytesAtOnce + 4 * mebibyte
          )
          expect(list).toMatchObject({ messages: [], hasMore: list.next !== null })
          looked.push(list.next)
          bound = list.next
        } while (bound !== null)
        expect(looked).toHaveLength(2)
      }).pipe(Effect.scoped))
  })
})

describe("a message that was edited again and again", () => {
  forEachDatabase((_, database) => {
    layer(World.core(database))((it) => {
      it.effect("has its revisions read from each page once", () =>
        Effect.gen(function*() {
          const { archive } = yield* stage(1, hundreds(4))
          const part = yield* read(archive, { skip: 0, limit: 1000, bytes: 1e9 })
          expect(part.frames.map(({ places }) => places.length)).toEqual([100, 100, 100, 100])
          expect([placesOf(part), part.ended]).toEqual([Array.from({ length: 400 }, (_, at) => at), true])
          const found = yield* Effect.flatMap(Archives.open(archive), (open) => listEdits(open, chatId, 1n))
          expect(found).toMatchObject({ hasMore: false, unreadable: 0 })
          expect(found?.revisions.map(({ revision, text }) => [revision, text])).toEqual(
            ["sent", ...hundreds(4).flat().map((nth) => `edit ${nth} of 1`)].map((text, at) => [at, text])
          )
        }).pipe(Effect.scoped))

      it.effect("has its oldest 1,000 edits listed, and that there are more", () =>
        Effect.gen(function*() {
          const { archive } = yield* stage(1, hundreds(11))
          const found = yield* Effect.flatMap(Archives.open(archive), (open) => listEdits(open, chatId, 1n))
          expect(found?.revisions.map(({ text }) => text)).toEqual(
            ["sent", ...hundreds(10).flat().map((nth) => `edit ${nth} of 1`)]
          )
          expect(found).toMatchObject({ hasMore: true, unreadable: 0 })
        }).pipe(Effect.scoped))

      it.effect("has its edits read in parts of few bytes that together are all of them, though pages hold them crosswise", () =>
        Effect.gen(function*() {
          const { archive } = yield* stage(2, [[0, 3, 9], [1, 4, 10], [2, 5], [6, 7, 8], [11]])
          const whole = yield* read(archive, { skip: 0, limit: 1000, bytes: 1e9 })
          expect([whole.frames.length, placesOf(whole).length, whole.ended]).toEqual([5, 12, true])
          const owner = (part: EditPart) =>
            new Map(part.frames.flatMap(({ number, places }) => places.map((place) => [place, number] as const)))
          const limits = fc.record({ limit: fc.integer({ min: 1, max: 14 }), bytes: fc.integer({ min: 1, max: 3000 }) })
          for (const { bytes, limit } of fc.sample(limits, tried(20))) {
            const all = new Map<number, bigint>()
            let ended = false
            while (!ended) {
              const part = yield* read(archive, { skip: all.size, limit, bytes })
              const places = placesOf(part)
              expect(places).toEqual(places.map((_, at) => all.size + at))
              expect(places.length).toBeGreaterThan(0)
              expect(places.length).toBeLessThanOrEqual(limit)
              expect(part.frames.length === 1 || bytesOf(part) <= bytes).toBe(true)
              expect(part.frames.every((each) => each.places.length > 0)).toBe(true)
              for (const [place, number] of owner(part)) all.set(place, number)
              ended = part.ended
            }
            expect(all).toEqual(owner(whole))
          }
        }).pipe(Effect.scoped))
    })
  })
})
