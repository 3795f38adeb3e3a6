import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import * as fc from "fast-check"
import { type TransferListItem, Worker } from "node:worker_threads"
import { makeInlineMatcher } from "../../../src/archive/InlineMatcher.ts"
import { searchWords } from "../../../src/domain/archive/SearchWords.ts"
import * as NodeCrypto from "../../../src/layers/archive/NodeCrypto.ts"
import type { Numbered, ThreadAnswer, ThreadAsk } from "../../../src/layers/archive/SearchThreadCalls.ts"
import * as SearchThreads from "../../../src/layers/archive/SearchThreads.ts"
import { SearchMatcher } from "../../../src/ports/archive/SearchMatcher.ts"
import { fates, keys, store, written } from "../../support/archive/searchedArchive.ts"
import { everything, requestOf, searchAll, writtenAt } from "../../support/archive/searches.ts"
import { tried } from "../../support/drawn.ts"

const inline = Layer.effect(SearchMatcher, makeInlineMatcher()).pipe(Layer.provide(NodeCrypto.layer))

const words = searchWords("harbour")

const criteria = { words, fromId: null, kind: null, since: null, until: null }

/** An account's archive of 3 days, and its key. */
const archived = Effect.gen(function*() {
  const all = [0, 1, 2].map((day) => writtenAt(`harbour ${day}`, day * 86_400))
  const { blocks, pages } = yield* store(all, 1, ["one"])
  const [key] = yield* keys
  const [block] = blocks
  if (block === undefined || key === undefined) return yield* Effect.die("Nothing is stored")
  return { block: { ...block, key, pages: block.pages.length }, key, pages }
}).pipe(Effect.provide(NodeCrypto.layer))

/** The threads that start until the scope closes, and how many messages each was sent. */
const watchThreads = Effect.acquireRelease(
  Effect.sync(() => {
    const started: Array<{ readonly worker: Worker; sent: number; answered: number; ended: boolean }> = []
    const note = (worker: Worker) => {
      const thread = { worker, sent: 0, answered: 0, ended: false }
      started.push(thread)
      worker.on("message", () => thread.answered += 1)
      worker.once("exit", () => thread.ended = true)
      const post = worker.postMessage.bind(worker)
      worker.postMessage = (message: unknown, transfer?: ReadonlyArray<TransferListItem>) => {
        thread.sent += 1
        post(message, transfer)
      }
    }
    process.on("worker", note)
    return { started, note }
  }),
  ({ note }) => Effect.sync(() => process.off("worker", note))
)

/** Goes on once it is true; other fibers and events have their turn meanwhile. */
const until = (isTrue: () => boolean) =>
  Effect.promise(async () => {
    while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1))
  })

describe("threads that search", () => {
  layer(SearchThreads.layer)((it) => {
    it.effect("answer any search as one where it is called does", () =>
      Effect.gen(function*() {
        const context = yield* Effect.context<SearchMatcher>()
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(written, fc.integer({ min: 1, max: 4 }), fates, fc.nat(), (all, most, drawn, at) =>
              Effect.runPromiseWith(context)(
                Effect.gen(function*() {
                  const texts = all.map(({ message }) => message.text ?? "")
                  const request = requestOf((texts[at % texts.length] ?? "").slice(0, 3), 4, everything)
                  if (request.words.length === 0) {
                    return
                  }
                  const archive = yield* store(all, most, drawn)
                  const there = yield* searchAll(() =>
                    archive, request)
                  expect(there).toEqual(
                    yield* Effect.provide(
                      searchAll(() =>
                        archive, request),
                      inline
                    )
                  )
                }).pipe(Effect.provide(NodeCrypto.layer))
              )),
            tried(50)
          )
        )
      }), 30_000)

    it.effect("leave the keys that they were given as they were", () =>
      Effect.gen(function*() {
        const { block, key } = yield* archived
        const matcher = yield* SearchMatcher
        const before = Redacted.value(key.vocabularies).slice()
        expect((yield* matcher.block(words, block))?.positions).toEqual([0, 1, 2])
        expect(Redacted.value(key.vocabularies)).toEqual(before)
      }))

    it.effect("answer null for each page that does not open, and the others", () =>
      Effect.gen(function*() {
        const { key, pages } = yield* archived
        const matcher = yield* SearchMatcher
        const [one, other, last] = pages.map(({ page, sealed }) => ({ page, sealed, keys: [key] }))
        if (one === undefined || other === undefined || last === undefined) return yield* Effect.die("Too few pages")
        const changed = { ...other, sealed: other.sealed.map((byte, at) => at === 40 ? byte ^ 1 : byte) }
        const found = yield* matcher.pages(criteria, [one, changed, { ...last, keys: [] }, last])
        expect(found.map((match) => match?.messages.map(({ text }) => text) ?? null)).toEqual([
          ["harbour 0"],
          null,
          null,
          ["harbour 2"]
        ])
      }))
  })

  it.effect("do no more of a search that is interrupted than what they have begun", () =>
    Effect.gen(function*() {
      const { started } = yield* watchThreads
      const { block } = yield* archived
      yield* Effect.gen(function*() {
        const matcher = yield* SearchMatcher
        const search = yield* Effect.forkChild(
          Effect.forEach(Array.from({ length: 40 }), () => matcher.block(words, block), { concurrency: 20 })
        )
        yield* until(() => started.some(({ sent }) => sent > 0))
        yield* Fiber.interrupt(search)
        // A search that is begun anew and again finds no more of it before it.
        yield* Effect.yieldNow
        expect(started.every(({ answered, sent }) => answered === sent)).toBe(true)
        yield* matcher.block(words, block)
        expect(started.reduce((sum, { sent }) => sum + sent, 0)).toBeLessThanOrEqual(2 * started.length + 1)
      }).pipe(Effect.provide(SearchThreads.layer))
    }).pipe(Effect.scoped))

  it.effect("that die fail what they were asked with service_unavailable, and others take their place", () =>
    Effect.gen(function*() {
      const { started } = yield* watchThreads
      const { block } = yield* archived
      yield* Effect.gen(function*() {
        const matcher = yield* SearchMatcher
        const asked = yield* Effect.forkChild(Effect.flip(matcher.block(words, block)))
        yield* until(() => started.some(({ sent }) => sent > 0))
        yield* Effect.promise(async () => started[0]?.worker.terminate())
        const { _tag, retry_after } = yield* Fiber.join(asked)
        expect([_tag, retry_after]).toEqual(["service_unavailable", 1])
        expect((yield* matcher.block(words, block))?.positions).toEqual([0, 1, 2])
        expect(started).toHaveLength(2)
      }).pipe(Effect.provide(SearchThreads.layer))
    }).pipe(Effect.scoped))

  it.effect("are asked no more than 256 pieces in advance: further ones are refused", () =>
    Effect.gen(function*() {
      const { block } = yield* archived
      const matcher = yield* SearchMatcher
      const asked = yield* Effect.forEach(
        Array.from({ length: 400 }),
        () => Effect.exit(matcher.block(words, block)),
        { concurrency: "unbounded" }
      )
      expect(asked.filter(Exit.isSuccess).length).toBeGreaterThanOrEqual(256)
      expect(asked.filter(Exit.isFailure).length).toBeGreaterThanOrEqual(400 - 256 - 8)
    }).pipe(Effect.provide(SearchThreads.layer)))

  it.effect("start with the first search, and end with the service", () =>
    Effect.gen(function*() {
      const { started } = yield* watchThreads
      const { block } = yield* archived
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(SearchThreads.layer, scope)
      expect(started).toEqual([])
      yield* Effect.provideContext(
        Effect.flatMap(SearchMatcher, (matcher) => matcher.block(words, block)),
        context
      )
      yield* Scope.close(scope, Exit.void)
      expect(started.map(({ ended }) => ended)).toEqual([true])
    }).pipe(Effect.scoped))

  it.effect("zero the keys that they were handed", () =>
    Effect.gen(function*() {
      const { block, key, pages } = yield* archived
      const program = new URL("../../../src/layers/archive/SearchThread.ts", import.meta.url)
      const worker = yield* Effect.acquireRelease(
        Effect.sync(() => new Worker(program)),
        (worker) => Effect.promise(() => worker.terminate())
      )
      const ask = (asked: Numbered<ThreadAsk>) =>
        Effect.callback<Numbered<ThreadAnswer>>((resume) => {
          worker.once("message", (answer: Numbered<ThreadAnswer>) => resume(Effect.succeed(answer)))
          worker.postMessage(asked, [])
        })
      const shared = (bytes: Uint8Array) => {
        const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
        copy.set(bytes)
        return { ref: key.ref, key: copy }
      }
      const vocabulary = shared(Redacted.value(key.vocabularies))
      const frame = shared(Redacted.value(key.frames))
      const { accountId, blockId, sealed } = block
      const named = { accountId, blockId, sealed, pages: block.pages }
      yield* ask({ id: 1, type: "block", words, block: named, key: vocabulary })
      const ofPages = pages.map(({ page, sealed }) => ({ page, sealed, keys: [frame] }))
      yield* ask({ id: 2, type: "pages", criteria, pages: ofPages })
      expect([vocabulary.key, frame.key].map((bytes) => bytes.every((byte) => byte === 0))).toEqual([true, true])
    }).pipe(Effect.scoped))
})
