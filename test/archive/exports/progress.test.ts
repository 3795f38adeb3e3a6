import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Queue, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import * as crypto from "node:crypto"
import { reported } from "../../../src/archive/exports/DownloadProgress.ts"
import { StoreSilent } from "../../../src/archive/exports/ExportContents.ts"
import { makeTally } from "../../../src/archive/exports/ExportTally.ts"
import { PartChanged, resumed } from "../../../src/archive/exports/ResumedPart.ts"
import { concat } from "../../../src/domain/archive/Bytes.ts"
import { type DownloadReport, latestDownload, type StoredDownload } from "../../../src/domain/archive/ExportDownload.ts"
import { ServiceUnavailable } from "../../../src/domain/Failure.ts"
import * as NodeDigest from "../../../src/layers/archive/NodeDigest.ts"
import { tried } from "../../support/drawn.ts"

const sha256 = (bytes: Uint8Array) => crypto.hash("sha256", bytes, "hex")

const pieces = fc.array(fc.uint8Array({ maxLength: 50 }), { minLength: 1, maxLength: 6 })

/** The bytes that pass, and the end. */
const passing = (made: ReadonlyArray<Uint8Array>, known: { readonly bytes: number; readonly sha256: string }) =>
  Effect.gen(function*() {
    const passed: Array<Uint8Array> = []
    const exit = yield* resumed(Stream.fromIterable(made), known).pipe(
      Stream.runForEach((piece) => Effect.sync(() => void passed.push(piece))),
      Effect.exit
    )
    return { exit, passed: Buffer.from(concat(...passed)) }
  }).pipe(Effect.provide(NodeDigest.layer), Effect.runPromise)

describe("a part that is gone on with", () => {
  it("is the rest after what its client has, and nothing at all where that is not its beginning", () =>
    fc.assert(
      fc.asyncProperty(pieces, fc.nat(), fc.nat(), async (made, cut, flipped) => {
        const whole = Buffer.from(concat(...made))
        if (whole.length === 0) return
        const bytes = cut % whole.length + 1
        const start = whole.subarray(0, bytes)
        const right = await passing(made, { bytes, sha256: sha256(start) })
        expect([Exit.isSuccess(right.exit), right.passed.equals(whole.subarray(bytes))]).toEqual([true, true])
        const other = Buffer.from(start)
        other.writeUInt8(other.readUInt8(flipped % bytes) ^ 1, flipped % bytes)
        for (
          const known of [{ bytes, sha256: sha256(other) }, { bytes: whole.length + 1, sha256: sha256(whole) }]
        ) {
          const wrong = await passing(made, known)
          expect([wrong.exit, wrong.passed.length]).toEqual([Exit.fail(new PartChanged()), 0])
        }
      }),
      tried(60)
    ))
})

class OtherFailure extends Schema.TaggedError<OtherFailure>()("OtherFailure", {}) {}

const seconds = (count: number) => TestClock.adjust(`${count} seconds`)

const staged = Effect.gen(function*() {
  const tally = makeTally()
  const kept: Array<DownloadReport> = []
  const queue = yield* Queue.unbounded<Uint8Array>()
  const keep = (report: DownloadReport) => Effect.sync(() => void kept.push(report))
  const bytes = Stream.map(Stream.fromQueue(queue), (piece) => {
    tally.bytes += piece.length
    return piece
  })
  const make = () => Queue.offer(queue, new Uint8Array(10))
  return { bytes, keep, kept, make, queue, tally }
})

describe("the progress of a download", () => {
  it.effect("is kept once a second while bytes are made, every 5 seconds while none are, and last with the loss of the connection", () =>
    Effect.gen(function*() {
      const { bytes, keep, kept, make, tally } = yield* staged
      const fiber = yield* Effect.forkChild(Stream.runDrain(reported(bytes, tally, keep)))
      for (let second = 0; second < 3; second++) {
        for (let piece = 0; piece < 5; piece++) yield* make()
        yield* seconds(1)
      }
      expect(kept.map(({ bytes }) => bytes)).toEqual([50, 100, 150])
      yield* seconds(10)
      expect(kept.map(({ bytes }) => bytes)).toEqual([50, 100, 150, 150, 150])
      yield* make()
      yield* seconds(0)
      yield* Fiber.interrupt(fiber)
      expect(kept.at(-1)).toMatchObject({ bytes: 160, end: "connection_lost" })
      yield* seconds(60)
      expect(kept.length).toBe(6)
    }))

  it.effect("has what ended it, and the part's own end says nothing more; what cannot be kept ends nothing", () =>
    Effect.gen(function*() {
      const ends = [
        [Stream.fail(new StoreSilent()), "storage_unavailable"],
        [Stream.fail(new PartChanged()), "changed"],
        [Stream.fail(new ServiceUnavailable({})), "service_unavailable"],
        [Stream.fail(new OtherFailure()), "unexpected"],
        [Stream.die("broken"), "unexpected"],
        [Stream.make(new Uint8Array(3)), undefined]
      ] as const
      for (const [bytes, end] of ends) {
        const { keep, kept, tally } = yield* staged
        const made: Stream.Stream<Uint8Array, { readonly _tag: string }> = bytes
        yield* Effect.exit(Stream.runDrain(reported(made, tally, keep)))
        expect(kept.map((report) => report.end)).toEqual(end === undefined ? [] : [end])
      }
      const { bytes, make, queue, tally } = yield* staged
      const fiber = yield* Effect.forkChild(
        Stream.runCount(reported(Stream.take(bytes, 2), tally, () => Effect.die("the database is away")))
      )
      yield* make()
      yield* seconds(3)
      yield* make()
      expect(yield* Fiber.join(fiber)).toBe(2)
      yield* Queue.shutdown(queue)
    }))

  it("is running while it is heard of, lost 20 seconds later, and what ended it otherwise", () => {
    const at = new Date(0)
    const stored: StoredDownload = {
      adminId: "a",
      adminName: null,
      startedAt: at,
      at,
      bytes: 1,
      messages: 1,
      files: 0,
      end: null
    }
    const outcome = (end: StoredDownload["end"], after: number) => {
      const { reason, state } = latestDownload({ ...stored, end }, new Date(after))
      return [state, reason]
    }
    expect(outcome(null, 20_000)).toEqual(["running", null])
    expect(outcome(null, 20_001)).toEqual(["stopped", "process_lost"])
    expect(outcome("sent", 90_000)).toEqual(["sent", null])
    expect(outcome("changed", 0)).toEqual(["stopped", "changed"])
  })
})
