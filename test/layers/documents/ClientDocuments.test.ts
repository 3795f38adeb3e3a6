import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { documentsInTotal, documentsPerAdmin } from "../../../src/domain/oauth/OAuth.ts"
import { OrganizationId } from "../../../src/domain/people/Access.ts"
import * as ClientDocuments from "../../../src/layers/documents/ClientDocuments.ts"
import * as Documents from "../../support/http/documents.ts"

const admin = (adminId = "one") => ({ organizationId: OrganizationId.make("acme"), adminId })

const minute = 60_000
const day = 24 * 60 * minute

describe("documents of applications", () => {
  it.effect("are kept as long as their Cache-Control says, a minute at least and a day at most", () =>
    Effect.gen(function*() {
      const host = yield* Documents.host
      const documents = ClientDocuments.make(host.internet)
      const cases = [
        [undefined, minute],
        ["max-age=0", minute],
        ["no-store", minute],
        ["max-age=3600, no-cache", minute],
        ["public, max-age=3600", 60 * minute],
        ["max-age=999999999", day]
      ] as const
      for (const [place, [control, kept]] of cases.entries()) {
        host.answer = Documents.json({ place }, control === undefined ? {} : { "cache-control": control })
        const read = documents.read(`${host.origin}/${place}`, admin())
        host.asked.length = 0
        expect(yield* read).toEqual({ place })
        yield* TestClock.adjust(kept - 1)
        yield* read
        expect([control, host.asked.length]).toEqual([control, 1])
        yield* TestClock.adjust(1)
        yield* read
        expect([control, host.asked.length]).toEqual([control, 2])
        yield* TestClock.adjust(day)
      }
    }))

  it.effect("that could not be read are not asked for again within a minute", () =>
    Effect.gen(function*() {
      const host = yield* Documents.host
      const documents = ClientDocuments.make(host.internet)
      host.answer = (_, response) => void response.writeHead(500, { "cache-control": "max-age=3600" }).end()
      const read = documents.read(host.address, admin())
      for (let times = 0; times < 20; times++) expect((yield* Effect.flip(read))._tag).toBe("DocumentUnread")
      yield* TestClock.adjust(minute - 1)
      yield* Effect.flip(read)
      expect(host.asked).toHaveLength(1)
      host.answer = Documents.json({})
      yield* TestClock.adjust(1)
      expect(yield* read).toEqual({})
    }))

  it.effect("are asked for so often a minute for one admin and in all, and then nothing goes out", () =>
    Effect.gen(function*() {
      const host = yield* Documents.host
      const documents = ClientDocuments.make(host.internet)
      let number = 0
      const next = (who: string) => Effect.exit(documents.read(`${host.origin}/${number++}`, admin(who)))
      const outcomes: Array<boolean> = []
      for (let times = 0; times <= documentsPerAdmin; times++) outcomes.push(Exit.isSuccess(yield* next("one")))
      expect(outcomes).toEqual([...Array.from({ length: documentsPerAdmin }, () => true), false])
      const refused = yield* Effect.flip(documents.read(`${host.origin}/again`, admin("one")))
      expect(refused).toMatchObject({ _tag: "rate_limited", retry_after: 60 })
      expect(yield* documents.read(`${host.origin}/0`, admin("one"))).toEqual({})
      for (let made = documentsPerAdmin; made < documentsInTotal; made++) {
        expect(Exit.isSuccess(yield* next(`other ${made % 20}`))).toBe(true)
      }
      expect(Exit.isSuccess(yield* next("the last"))).toBe(false)
      expect(host.asked).toHaveLength(documentsInTotal)
      yield* TestClock.adjust(minute)
      expect(Exit.isSuccess(yield* next("one"))).toBe(true)
    }))

  it.effect("are asked for one at a time, also where the first who wanted one has gone", () =>
    Effect.gen(function*() {
      const host = yield* Documents.host
      const documents = ClientDocuments.make(host.internet)
      const arrived = Deferred.makeUnsafe<void>()
      let answer = () => {}
      host.answer = (request, response) => {
        answer = () => Documents.json({ a: 1 })(request, response)
        Deferred.doneUnsafe(arrived, Effect.void)
      }
      const first = yield* Effect.forkChild(documents.read(host.address, admin()))
      yield* Deferred.await(arrived)
      const others = yield* Effect.forkChild(
        Effect.all(Array.from({ length: 5 }, (_, who) => documents.read(host.address, admin(`${who}`))), {
          concurrency: "unbounded"
        })
      )
      yield* Fiber.interrupt(first)
      yield* Effect.yieldNow
      answer()
      expect(yield* Fiber.join(others)).toEqual(Array.from({ length: 5 }, () => ({ a: 1 })))
      expect(host.asked).toHaveLength(1)
    }))
})
