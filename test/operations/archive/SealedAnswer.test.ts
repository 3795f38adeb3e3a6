import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"
import { sealedBytesPerAnswer } from "../../../src/domain/Limits.ts"
import { SealedAnswer } from "../../../src/operations/archive/SealedAnswer.ts"
import type { MessageName } from "../../../src/ports/archive/ArchivePages.ts"
import { Epochs } from "../../../src/ports/archive/Epochs.ts"
import { Db } from "../../../src/ports/Db.ts"
import * as Vectors from "../../support/archive/archiveVectors.ts"
import { tried } from "../../support/drawn.ts"

const account = { organizationId: Vectors.organizationId, accountId: Vectors.accountId }
const frames = (number: number, size: number) => ({
  number: BigInt(number),
  day: "2026-01-01",
  sealed: new Uint8Array(size)
})
const dates = Array.from({ length: 1000 }, (_, at) => 1_700_000_000 + at)
const edited = (id: number, page: number, size: number, edits = 0) => ({
  chatId: 5n,
  messageId: BigInt(id),
  edits,
  editDates: dates.slice(0, edits),
  deletedAt: null,
  deletedWhy: null,
  newest: frames(page, size)
})

const quarter = sealedBytesPerAnswer / 4
const sizes = fc.array(fc.integer({ min: 1, max: 6 }).map((quarters) => quarters * quarter), { maxLength: 8 })

const namesOf = (messages: ReadonlyArray<MessageName>) =>
  new Set(messages.map(({ chatId, messageId }) => `${chatId}/${messageId}`))

describe("an answer of sealed data", () => {
  it("takes items in their order, at least one, and never more bytes than it may have beyond the first", () => {
    fc.assert(
      fc.property(sizes, (all) => {
        const answer = new SealedAnswer()
        const taken = answer.take(all, (size) => size)
        expect(taken).toEqual(all.slice(0, taken.length))
        expect(taken.length).toBeGreaterThanOrEqual(Math.min(1, all.length))
        expect(taken.slice(1).reduce((sum, size) => sum + size, taken[0] ?? 0))
          .toBeLessThanOrEqual(Math.max(sealedBytesPerAnswer, taken[0] ?? 0))
        expect(answer.has_more).toBe(taken.length < all.length)
        const next = all[taken.length]
        if (next !== undefined) {
          expect(taken.reduce((sum, size) => sum + size, next)).toBeGreaterThan(sealedBytesPerAnswer)
        }
      }),
      tried(200)
    )
  })

  it("names states up to the first message whose edit does not fit, and has each frame once", () => {
    const answer = new SealedAnswer()
    const changes = [edited(1, 7, quarter), edited(2, 7, quarter), edited(3, 8, 2 * quarter), edited(4, 9, 2 * quarter)]
    const named = [[1n], [2n, 3n], [4n], [6n]].map((ids) => ids.map((messageId) => ({ chatId: 5n, messageId })))
    answer.addStates(account, named, { changes, files: [], stated: namesOf(named.flat()) })
    expect([answer.stated, answer.frames.map(({ number }) => number)]).toEqual([2, ["7", "8"]])
    expect(answer.states.map(({ message_id, newest }) => [message_id, newest])).toEqual([
      ["1", "7"],
      ["2", "7"],
      ["3", "8"]
    ])
  })

  it("names no states of messages whose changes were not all read", () => {
    const answer = new SealedAnswer()
    const named = [[1n, 2n], [3n, 4n], [5n]].map((ids) => ids.map((messageId) => ({ chatId: 5n, messageId })))
    const stated = namesOf(named.flat().slice(0, 3))
    answer.addStates(account, named, { changes: [edited(1, 7, 100), edited(3, 8, 100)], files: [], stated })
    expect([answer.stated, answer.states.map(({ message_id }) => message_id)]).toEqual([1, ["1"]])
  })

  it("counts the times of edits as bytes, and says how many edits there are beyond them", () => {
    const answer = new SealedAnswer()
    const ids = Array.from({ length: 1000 }, (_, at) => at + 1)
    const named = ids.map((id) => [{ chatId: 5n, messageId: BigInt(id) }])
    answer.addStates(account, named, {
      changes: ids.map((id) => edited(id, 7, 100, 10_000)),
      files: [],
      stated: namesOf(named.flat())
    })
    expect(answer.stated).toBe(answer.states.length)
    expect(answer.stated).toBeGreaterThan(300)
    expect(JSON.stringify(answer.states).length).toBeLessThan(1.1 * sealedBytesPerAnswer)
    expect(answer.states[0]).toMatchObject({ message_id: "1", edits: 10_000 })
    expect(answer.states[0]?.edit_dates).toHaveLength(1000)
    const large = new SealedAnswer()
    large.addStates(account, named, {
      changes: [edited(1, 7, 2 * sealedBytesPerAnswer, 10_000)],
      files: [],
      stated: namesOf(named.flat())
    })
    expect(large.states).toHaveLength(1)
  })

  it.effect("has the keys of the epochs that its frames name, each once", () =>
    Effect.gen(function*() {
      const asked: Array<ReadonlyArray<bigint>> = []
      const epochs = Layer.mock(Epochs, {
        sealed: (_, ids) => {
          asked.push(ids)
          return Effect.succeed(
            ids.map((epochId) => ({ epochId, keyId: Vectors.keyId, sealedKey: new Uint8Array([1]) }))
          )
        }
      })
      const db = Layer.mock(Db, { read: (_, effect) => effect })
      const answer = new SealedAnswer()
      answer.need(account, 3n)
      answer.need(account, 4n)
      answer.need(account, 3n)
      // These bytes are no frames: their reader counts them as unreadable.
      expect(answer.seal(account, frames(1, 10)).number).toBe("1")
      const attached = yield* Effect.provide(answer.attached(), Layer.merge(epochs, db))
      expect([asked, attached.epochs.map(({ epoch_id }) => epoch_id)]).toEqual([[[3n, 4n]], ["3", "4"]])
    }))
})
