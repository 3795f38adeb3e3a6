import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { search, type SearchRequest, type SearchResult } from "../../src/archive/Search.ts"
import { openVocabulary } from "../../src/archive/Vocabularies.ts"
import { fold } from "../../src/domain/archive/Fold.ts"
import type { SearchHit, SearchPosition } from "../../src/domain/archive/SearchHit.ts"
import { SearchStore } from "../../src/ports/archive/SearchStore.ts"
import * as Memory from "../support/archive/memorySearchStore.ts"
import { texts } from "../support/archive/scripts.ts"
import {
  accountIds,
  chats,
  fates,
  keys,
  openKey,
  start,
  store,
  type Written,
  written
} from "../support/archive/searchedArchive.ts"
import { type Criteria, everything, requestOf, run, searchAll, writtenAt } from "../support/archive/searches.ts"
import { tried } from "../support/drawn.ts"

/** Notes how many pages the store is asked for together. */
const notingNames = (named: Array<number>) =>
  Effect.updateService(SearchStore, (memory) => ({
    ...memory,
    pages: (scope, names, below) => {
      named.push(names.length)
      return memory.pages(scope, names, below)
    }
  }))

const found = ({ accountId, alsoIn, chatId, message }: SearchHit): string =>
  `${message.at} ${chatId}/${message.id} ${[accountId, ...alsoIn].join("+")}`

/** What is found where every text is folded and compared, without any index. */
const bruteForce = (
  all: ReadonlyArray<Written>,
  { fromId, kind, scope, words }: SearchRequest
): ReadonlyArray<string> => {
  const has = (fields: ReadonlyArray<string | null | undefined>) =>
    words.every(({ folded }) => fields.some((field) => fold(field ?? "").includes(folded)))
  const hits = all.filter(({ chat, edits, message }) =>
    (has([message.text, message.details.caption]) || edits.some(({ text }) => has([text]))) &&
    (fromId === null || message.from?.id === fromId) && (kind === null || message.kind === kind) &&
    (scope.since === null || message.at >= scope.since) && (scope.until === null || message.at < scope.until) &&
    (scope.chatIds === null || scope.chatIds.includes(chat.chatId))
  ).flatMap(({ accounts, chat, message }) => {
    const ids = accounts.flatMap((account) => accountIds.slice(account, account + 1)).filter((id) =>
      scope.accountIds.includes(id)
    )
    const groups = chat.shared ? [ids] : ids.map((id) => [id])
    return groups.filter((group) => group.length > 0).map((group) => ({ chat, group, message }))
  })
  return hits.toSorted((one, other) =>
    other.message.at - one.message.at || Number(other.chat.chatId - one.chat.chatId) ||
    Number(other.message.id - one.message.id) || ((one.group[0] ?? "") < (other.group[0] ?? "") ? -1 : 1)
  ).map(({ chat, group, message }) => `${message.at} ${chat.chatId}/${message.id} ${group.join("+")}`)
}

const criteria: fc.Arbitrary<Criteria> = fc.record({
  fromId: fc.constantFrom(null, null, "u1"),
  kind: fc.constantFrom(null, null, "photo" as const),
  scope: fc.record({
    accountIds: fc.constantFrom(accountIds, accountIds, accountIds.slice(1)),
    chatIds: fc.constantFrom(null, null, [1n]),
    since: fc.constantFrom(null, null, start + 80_000),
    until: fc.constantFrom(null, null, start + 120_000)
  })
})

/** A query cut from the texts, or of its own; in capitals or decomposed sometimes; a phrase sometimes. */
const query = fc.record({
  from: fc.nat(),
  cut: fc.tuple(fc.nat(), fc.integer({ min: 1, max: 6 })),
  form: fc.constantFrom("as it is", "upper", "decomposed", "phrase"),
  own: fc.option(texts, { freq: 6 })
})

const queryOf = (
  all: ReadonlyArray<Written>,
  { cut, form, from, own }: typeof query extends fc.Arbitrary<infer A> ? A : never
) => {
  const every = all.flatMap(({ edits, message }) => [message.text ?? "", ...edits.map(({ text }) => text ?? "")])
  const units = [...(own ?? every[from % every.length] ?? "")]
  const begin = cut[0] % Math.max(1, units.length)
  const text = units.slice(begin, begin + cut[1]).join("").replaceAll("\"", "")
  if (form === "phrase") return `"${text}"`
  return form === "upper" ? text.toUpperCase() : form === "decomposed" ? text.normalize("NFD") : text
}

describe("a search of the archive", () => {
  it("finds what a comparison of every text finds, newest first, page by page, within any budget", () =>
    fc.assert(
      fc.asyncProperty(
        written,
        fc.integer({ min: 1, max: 4 }),
        fates,
        query,
        criteria,
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom(1, 300, 64 * 1024 * 1024),
        fc.constantFrom(1, 2, 17, 256),
        (all, most, drawn, cut, wanted, limit, bytes, listed) =>
          run(Effect.gen(function*() {
            const request = requestOf(queryOf(all, cut), limit, wanted)
            if (request.words.length === 0) return
            const archive = yield* store(all, most, drawn)
            const results = yield* searchAll(() => archive, request, {
              millis: Infinity,
              bytes,
              listed,
              vocabularies: Math.ceil(listed / 16),
              ahead: limit > 2
            })
            expect(results.flatMap(({ hits }) => hits.map(found))).toEqual(bruteForce(all, request))
            expect(results.every(({ hits }) => hits.length <= limit)).toBe(true)
            expect(results.every(({ unreadable }) => unreadable === 0)).toBe(true)
            if (bytes > 1000) expect(results.every(({ complete }) => complete)).toBe(true)
          }))
      ),
      tried(300)
    ))

  const searchOne = (archive: Memory.StoredArchive, query: string, limit = 20) =>
    Effect.map(searchAll(() => archive, requestOf(query, limit, everything)), (results) => results[0])

  it("lets others have their turn after each vocabulary and each page, however many it goes through", () =>
    run(Effect.gen(function*() {
      const all = Array.from({ length: 24 }, (_, day) => writtenAt(`word${day} common`, day * 86_400))
      const [key] = yield* keys
      const pages = (yield* store(all, 1, ["loose"])).pages
      const blocks = yield* Effect.forEach(pages, (page, at) => Memory.sealBlock(key!, BigInt(1000 + at), [page]))
      const turnsOf = (query: string) =>
        Effect.gen(function*() {
          let turns = 0
          const turn = () => {
            turns++
            next = setImmediate(turn)
          }
          let next = setImmediate(turn)
          const results = yield* searchAll(() => ({ pages, blocks }), requestOf(query, 100, everything))
          clearImmediate(next)
          return { hits: results.flatMap(({ hits }) => hits).length, turns }
        })
      const nothing = yield* turnsOf("absent")
      expect(nothing.hits).toBe(0)
      expect(nothing.turns).toBeGreaterThanOrEqual(24)
      const everywhere = yield* turnsOf("common")
      expect(everywhere.hits).toBe(24)
      expect(everywhere.turns).toBeGreaterThanOrEqual(48)
    })))

  it("answers where in which field and revision each word is, in the text as it was written", () =>
    run(Effect.gen(function*() {
      const edit = {
        change: "edited" as const,
        id: "5",
        seen_at: start + 9,
        edited_at: start + 9,
        text: "Neue STRASSE",
        details: {}
      }
      const all = [writtenAt("Die alte Straße", 5, { edits: [edit] }, { details: { caption: "Café an der Straße" } })]
      const result = yield* searchOne(yield* store(all, 4, ["one"]), "strasse")
      expect(result?.hits.map(({ matches }) => matches)).toEqual([[
        { field: "text", start: 9, length: 6, edit: null },
        { field: "caption", start: 12, length: 6, edit: null },
        { field: "text", start: 5, length: 7, edit }
      ]])
      const two = yield* searchOne(yield* store(all, 4, ["one"]), "alte neue")
      expect(two?.hits).toEqual([])
    })))

  it("answers the places in the 20 newest matching revisions of a message, in whatever order they are read, and lets others have their turn between them", () =>
    fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1, max: 90 }), { maxLength: 60, size: "max" }),
        fc.integer({ min: 1, max: 9 }),
        fates,
        (minutes, most, drawn) =>
          run(Effect.gen(function*() {
            const edits = minutes.map((minute) => ({
              change: "edited" as const,
              id: "5",
              seen_at: start + 90_000 - minute,
              edited_at: start + 60 * minute,
              text: minute % 5 === 0 ? "Лодка" : `Гавань ${minute}`,
              details: {}
            }))
            let turns = 0
            const turn = () => {
              turns++
              next = setImmediate(turn)
            }
            let next = setImmediate(turn)
            const result = yield* searchOne(yield* store([writtenAt("Гавань", 5, { edits })], most, drawn), "гавань")
            clearImmediate(next)
            const matching = edits.filter(({ text }) => text !== "Лодка")
            const newest = [null, ...matching.sort((one, other) => one.edited_at - other.edited_at)].slice(-20)
            expect(result?.hits.map(({ matches }) => matches.map(({ edit }) => edit))).toEqual([newest])
            expect(turns).toBeGreaterThanOrEqual(newest.length)
          }))
      ),
      tried(30)
    ))

  it("counts pages that do not open, and answers the rest", () =>
    run(Effect.gen(function*() {
      const archive = yield* store([writtenAt("hello one", 1), writtenAt("hello two", 90_000)], 1, ["loose"])
      const broken = archive.pages.map((stored, at) =>
        at === 0 ? { ...stored, sealed: stored.sealed.map((byte, place) => place === 60 ? byte ^ 1 : byte) } : stored
      )
      const result = yield* searchOne({ ...archive, pages: broken }, "hello")
      expect(result?.unreadable).toBe(1)
      expect(result?.hits.map(({ message }) => message.text)).toEqual(["hello two"])
    })))

  it("opens no page that a vocabulary excludes, and counts its messages as searched", () =>
    run(Effect.gen(function*() {
      const all = Array.from({ length: 30 }, (_, at) => writtenAt(`number ${at}`, at * 90_000 + 1))
      const archive = yield* store(all, 4, ["one"])
      const unreadable = archive.pages.map((stored) => ({ ...stored, sealed: new Uint8Array() }))
      const result = yield* searchOne({ ...archive, pages: unreadable }, "absent")
      expect(result).toEqual({ hits: [], position: null, complete: true, searched: 30, unreadable: 0 })
      expect((yield* searchOne({ ...archive, pages: unreadable }, "number 29"))?.unreadable).toBe(1)
    })))

  it("names the store no more pages of a word that is everywhere than a page of hits needs", () =>
    run(Effect.gen(function*() {
      const all = Array.from({ length: 60 }, (_, place) => writtenAt(`harbour ${place}`, place * 86_400))
      const [key] = yield* keys
      const { pages } = yield* store(all, 1, ["loose"])
      const halves = [pages.filter((_, at) => at % 2 === 0), pages.filter((_, at) => at % 2 === 1)]
      const blocks = yield* Effect.forEach(halves, (half, at) => Memory.sealBlock(key!, BigInt(1000 + at), half))
      const named: Array<number> = []
      const results = yield* search(openKey([key!]), requestOf("harbour", 3, everything), {
        millis: Infinity,
        bytes: Infinity,
        listed: 8,
        vocabularies: 8
      }).pipe(
        notingNames(named),
        Effect.provide(Memory.layer(() => ({ pages, blocks })))
      )
      expect(results.hits.map(({ message }) => message.text)).toEqual(["harbour 59", "harbour 58", "harbour 57"])
      expect(named).toEqual([8])
    })))

  it("names the store the pages of a rare word together, and as it finds them once half of the budget is used", () =>
    run(Effect.gen(function*() {
      const all = Array.from(
        { length: 24 },
        (_, place) => writtenAt(place % 6 === 0 ? `rare ${place}` : `common ${place}`, place * 86_400)
      )
      const [key] = yield* keys
      const { pages } = yield* store(all, 1, ["loose"])
      const blocks = yield* Effect.forEach(pages, (page, at) => Memory.sealBlock(key!, BigInt(1000 + at), [page]))
      for (const [bytes, together] of [[Infinity, 4], [1, 1]] as const) {
        const named: Array<number> = []
        const results: Array<SearchResult> = []
        do {
          const position: SearchPosition | null = results.at(-1)?.position ?? null
          const request = { ...requestOf("rare", 20, everything), position }
          results.push(
            yield* search(openKey([key!]), request, { millis: Infinity, bytes, listed: 8, vocabularies: 4 }).pipe(
              notingNames(named),
              Effect.provide(Memory.layer(() => ({ pages, blocks })))
            )
          )
        } while (results.at(-1)?.position !== null)
        const texts = results.flatMap(({ hits }) => hits.map(({ message }) => message.text))
        expect(texts).toEqual(["rare 18", "rare 12", "rare 6", "rare 0"])
        expect(new Set(named)).toEqual(new Set([together]))
      }
    })))

  it("counts each message as searched once, however many calls a search takes", () =>
    run(Effect.gen(function*() {
      const all = Array.from({ length: 40 }, (_, at) => writtenAt("harbour", at * 50_000))
      for (const fates of [["one"], ["one", "loose"], ["broken", "loose"]] as const) {
        const archive = yield* store(all, 2, fates)
        for (const [bytes, limit] of [[64 * 1024 * 1024, 3], [1, 50], [1, 7]] as const) {
          const budget = { millis: Infinity, bytes, listed: 2, vocabularies: 2 }
          const results = yield* searchAll(() => archive, requestOf("harbour", limit, everything), budget)
          expect(results.length).toBeGreaterThan(2)
          expect(results.reduce((sum, { searched }) => sum + searched, 0)).toBe(all.length)
        }
      }
    })))

  it("finds a message whose row of the tail is closed into a page while it runs", () =>
    run(Effect.gen(function*() {
      const all = [writtenAt("hello old", 1), writtenAt("hello tail", 90_000)]
      const before = yield* store(all, 1, ["loose"])
      const [key] = yield* keys
      if (key === undefined) return
      const moved = yield* Memory.sealPage(key, chats[0] ?? { chatId: 1n, shared: false }, 99n, start + 90_000, [
        writtenAt("hello tail", 90_000).message
      ])
      const after = { ...before, pages: [...before.pages.slice(0, 1), moved] }
      let reads = 0
      const results = yield* searchAll(() => ++reads > 2 ? after : before, requestOf("hello", 20, everything))
      expect(results.flatMap(({ hits }) => hits.map(({ message }) => message.text))).toEqual([
        "hello tail",
        "hello old"
      ])
    })))

  it("finds the rows of a page into which the tail is closed between two lists, of which only some were listed", () =>
    run(Effect.gen(function*() {
      const all = [writtenAt("hello old", 10), writtenAt("hello new", 20)]
      const before = yield* store(all, 1, ["loose"])
      const [key] = yield* keys
      const closed = yield* Memory.sealPage(
        key!,
        chats[0] ?? { chatId: 1n, shared: false },
        99n,
        start + 10,
        all.map(({ message }) => message)
      )
      for (let moment = 0; moment < 12; moment++) {
        let reads = 0
        const archive = () => reads++ < moment ? before : { ...before, pages: [closed] }
        const budget = { millis: Infinity, bytes: Infinity, listed: 1, vocabularies: 1 }
        const results = yield* searchAll(archive, requestOf("hello", 20, everything), budget)
        expect([moment, results.flatMap(({ hits }) => hits.map(({ message }) => message.text))])
          .toEqual([moment, ["hello new", "hello old"]])
      }
    })))

  it("finds pages that are put into a block, or taken out of one, at any moment while it runs", () =>
    run(Effect.gen(function*() {
      const all = Array.from({ length: 6 }, (_, at) => writtenAt("harbour", at))
      const loose = yield* store(all, 1, ["loose"])
      const indexed = yield* store(all, 1, ["one"])
      for (const [before, after] of [[loose, indexed], [indexed, loose]] as const) {
        for (let moment = 0; moment < 12; moment++) {
          let reads = 0
          const archive = () => reads++ < moment ? before : after
          const results = yield* searchAll(archive, requestOf("harbour", 20, everything))
          expect([moment, results.flatMap(({ hits }) => hits).length]).toEqual([moment, 6])
        }
      }
    })))

  it("opens no vocabulary of another block, account or fold", () =>
    run(Effect.gen(function*() {
      const [key, other] = yield* keys
      if (key === undefined || other === undefined) return
      const page = yield* Memory.sealPage(key, chats[0] ?? { chatId: 1n, shared: false }, 1n, start, [
        writtenAt("hello", 1).message
      ])
      const { sealed } = yield* Memory.sealBlock(key, 7n, [page])
      expect((yield* openVocabulary(key, 7n, sealed)).words).toBe("hello")
      expect((sealed.length - 28) % 1024).toBe(0)
      expect((yield* Effect.flip(openVocabulary(key, 8n, sealed))).part).toBe("vocabulary")
      const moved = { ...key, ref: { ...key.ref, accountId: other.ref.accountId } }
      expect((yield* Effect.flip(openVocabulary(moved, 7n, sealed))).part).toBe("vocabulary")
      const later = { ...key, ref: { ...key.ref, epochId: 2n } }
      expect((yield* Effect.flip(openVocabulary(later, 7n, sealed))).part).toBe("vocabulary")
      expect((yield* Effect.flip(openVocabulary(key, 7n, new Uint8Array()))).part).toBe("vocabulary")
    })))
})
