import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { search, type SearchRequest, type SearchResult } from "../../src/archive/Search.ts"
import type { SearchPosition } from "../../src/domain/archive/SearchHit.ts"
import { SearchMatcher } from "../../src/ports/archive/SearchMatcher.ts"
import { SearchStore } from "../../src/ports/archive/SearchStore.ts"
import * as Memory from "../support/archive/memorySearchStore.ts"
import { keys, openKey, start, store } from "../support/archive/searchedArchive.ts"
import { everything, requestOf, run, searchAll, writtenAt } from "../support/archive/searches.ts"

describe("the budget of a call of a search", () => {
  it("ends it after one page where that has used it, however many it has taken, and the others by the next calls", () =>
    run(Effect.gen(function*() {
      const all = Array.from({ length: 8 }, (_, day) => writtenAt("harbour", day * 86_400))
      const archive = yield* store(all, 1, ["loose"])
      const budget = { millis: Infinity, bytes: 1, listed: 64, vocabularies: 4 }
      const results = yield* searchAll(() => archive, requestOf("harbour", 20, everything), budget)
      expect(results.map(({ hits }) => hits.length)).toEqual(all.map(() => 1))
      expect(results.map(({ searched }) => searched)).toEqual(all.map(() => 1))
    })))

  it("reads pages together that reach beyond its end, although its budget is used: nothing is answered before", () =>
    run(Effect.gen(function*() {
      const all = Array.from({ length: 24 }, (_, day) => writtenAt("harbour", day * 86_400, { edits: [] }))
      const archive = yield* store(all, 1, ["loose"])
      let fetches = 0
      const counting = Effect.updateService(SearchStore, (memory) => ({
        ...memory,
        sealed: (scope, names) => {
          fetches++
          return memory.sealed(scope, names)
        }
      }))
      const [key] = yield* keys
      const request = requestOf("harbour", 20, { ...everything, scope: { until: start + 1 } })
      const reaching = archive.pages.map((stored) => ({ ...stored, page: { ...stored.page, firstAt: 0 } }))
      const budget = { millis: Infinity, bytes: 1, listed: 64, vocabularies: 4 }
      yield* search(openKey([key!]), request, budget).pipe(
        counting,
        Effect.provide(Memory.layer(() => ({ ...archive, pages: reaching })))
      )
      expect(fetches).toBeLessThanOrEqual(3)
    })))

  it("opens no more vocabularies than those already begun once it is used, and the others by the next calls", () =>
    run(Effect.gen(function*() {
      const all = Array.from({ length: 24 }, (_, day) => writtenAt(`harbour ${day}`, day * 86_400))
      const [key] = yield* keys
      const { pages } = yield* store(all, 1, ["loose"])
      const blocks = yield* Effect.forEach(pages, (page, at) => Memory.sealBlock(key!, BigInt(1000 + at), [page]))
      const opened: Array<bigint> = []
      const noting = Effect.updateService(SearchMatcher, (matcher) => ({
        ...matcher,
        block: (words, block) => {
          opened.push(block.blockId)
          return matcher.block(words, block)
        }
      }))
      const budget = { millis: Infinity, bytes: 1, listed: 64, vocabularies: 16 }
      const calls: Array<number> = []
      const texts: Array<string | null> = []
      let position: SearchPosition | null = null
      do {
        const request: SearchRequest = { ...requestOf("harbour", 50, everything), position }
        const result: SearchResult = yield* search(openKey([key!]), request, budget).pipe(
          noting,
          Effect.provide(Memory.layer(() => ({ pages, blocks })))
        )
        calls.push(opened.splice(0).length)
        texts.push(...result.hits.map(({ message }) => message.text))
        position = result.position
      } while (position !== null)
      expect(Math.max(...calls)).toBeLessThanOrEqual(4)
      expect(texts).toEqual(all.map(({ message }) => message.text).toReversed())
    })))

  it("is used for the messages of a page's edits once, by one statement, and for no edit of one that was sent too late", () =>
    run(Effect.gen(function*() {
      const editOf = (id: number, minute: number) => ({
        change: "edited" as const,
        id: String(id),
        seen_at: start + 86_400 * 9 + minute,
        edited_at: start + 86_400 * 9 + minute,
        text: `harbour ${minute}`,
        details: {}
      })
      const all = [1, 2, 86_401, 86_402, 172_801].map((at) =>
        writtenAt("quay", at, { edits: Array.from({ length: 20 }, (_, minute) => editOf(at, minute)) })
      )
      const archive = yield* store(all, 100, ["loose"])
      const asked: Array<ReadonlyArray<bigint>> = []
      const opened: Array<bigint> = []
      const noting = Effect.updateService(SearchStore, (memory) => ({
        ...memory,
        messages: (scope, accountId, chatId, ids) => {
          asked.push(ids)
          return Effect.tap(
            memory.messages(scope, accountId, chatId, ids),
            (pages) => Effect.sync(() => opened.push(...pages.flatMap((page) => page.ids)))
          )
        }
      }))
      const [key] = yield* keys
      const request = requestOf("harbour", 20, { ...everything, scope: { until: start + 86_500 } })
      const position = { at: start + 86_401, counted: Infinity }
      const { hits } = yield* search(openKey([key!]), { ...request, position }).pipe(
        noting,
        Effect.provide(Memory.layer(() => archive))
      )
      expect(hits.map(({ message }) => message.id)).toEqual([86_401n, 2n, 1n])
      expect(asked.map((ids) => ids.length)).toEqual([2, 2])
      expect(new Set(opened)).toEqual(new Set([1n, 2n, 86_401n, 86_402n]))
    })))

  it("answers all that it has read where lists were made again at its end, as a writer or an index has moved pages", () =>
    run(Effect.gen(function*() {
      const all = Array.from({ length: 40 }, (_, day) => writtenAt("harbour", day * 86_400))
      const archive = yield* store(all, 1, ["loose"])
      let stamps = 0
      const moving = Effect.updateService(SearchStore, (memory) => ({
        ...memory,
        stamps: () => Effect.sync(() => ({ blocks: String(Math.min(stamps++, 1)), loose: "" }))
      }))
      const [key] = yield* keys
      const bytes = archive.pages.reduce((sum, { sealed }) => sum + sealed.length, 0)
      const budget = { millis: Infinity, bytes: bytes / 2, listed: 4, vocabularies: 4 }
      const { complete, hits, searched } = yield* search(openKey([key!]), requestOf("quay", 20, everything), budget)
        .pipe(
          moving,
          Effect.provide(Memory.layer(() => archive))
        )
      expect([complete, hits]).toEqual([false, []])
      expect(searched).toBeGreaterThanOrEqual(15)
    })))
})
