import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import * as crypto from "node:crypto"
import * as Listen from "../../../src/layers/cluster/Listener.ts"
import * as Peers from "../../../src/layers/cluster/Peers.ts"
import { Seals } from "../../../src/layers/cluster/Sealed.ts"
import { Peppers } from "../../../src/layers/crypto/Peppers.ts"
import * as Randomness from "../../../src/layers/crypto/Randomness.ts"
import { tried } from "../../support/drawn.ts"
import { metric } from "../../support/metrics.ts"

const [old, current, foreign] = ["one", "two", "three"].map((text) =>
  crypto.createHash("sha256").update(text).digest("base64")
)
const peppersOf = (...keys: ReadonlyArray<string | undefined>) => Peppers.layerText(Redacted.make(keys.join(",")))
const sealsOf = (...keys: ReadonlyArray<string | undefined>) =>
  Effect.map(Effect.provide(Peppers, peppersOf(...keys)), (peppers) => new Seals(peppers))

describe("messages between processes", () => {
  it.effect("open once, for their receiver, while they are fresh, under every known pepper", () =>
    Effect.gen(function*() {
      const [sender, receiver, stranger] = [yield* sealsOf(old), yield* sealsOf(current, old), yield* sealsOf(foreign)]
      const { bytes, nonce } = sender.sealRequest({ a: 1 }, "me", 1000)
      assert.isUndefined(receiver.openRequest(bytes, "other", 1000))
      assert.isUndefined(stranger.openRequest(bytes, "me", 1000))
      assert.isUndefined(receiver.openRequest(bytes, "me", 32_000))
      assert.deepStrictEqual(receiver.openRequest(bytes, "me", 2000), { nonce, value: { a: 1 } })
      assert.isUndefined(receiver.openRequest(bytes, "me", 2000))
      assert.isUndefined(receiver.openRequest(bytes, "me", 30_999))
      const answer = receiver.sealAnswer("done", nonce)
      assert.isUndefined(receiver.openRequest(answer, "me", 2000))
      assert.isUndefined(sender.openAnswer(answer, "another"))
      assert.deepStrictEqual((yield* sealsOf(current, old)).openAnswer(answer, nonce), { value: "done" })
    }))

  it.effect("that are changed in any bit do not open", () =>
    Effect.gen(function*() {
      const seals = yield* sealsOf(current)
      const { bytes } = seals.sealRequest({ secret: "text" }, "me", 0)
      assert.isFalse(bytes.includes("secret"))
      fc.assert(
        fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
          const changed = Buffer.from(bytes)
          changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
          return seals.openRequest(changed, "me", 0) === undefined
        }),
        tried()
      )
    }))

  it.effect("are answered, and whatever else comes is 404 and counted", () =>
    Effect.gen(function*() {
      const listener = yield* Listen.Listener
      const seals = yield* sealsOf(current)
      const peer = { name: listener.name, host: listener.host, port: listener.port }
      assert.deepStrictEqual(yield* Peers.send(seals, peer, "early"), { _tag: "NotTaken" })
      let taken = 0
      yield* listener.answering((value) => Effect.sync(() => ({ number: ++taken, value })))
      assert.deepStrictEqual(yield* Peers.send(seals, peer, "first"), {
        _tag: "Answered",
        value: { number: 1, value: "first" }
      })
      const post = (body: Uint8Array, path = "/") =>
        Effect.promise(() =>
          fetch(`http://${listener.host}:${listener.port}${path}`, {
            method: "POST",
            body,
            headers: { connection: "close" }
          }).then(({ status }) => status)
        )
      const { bytes } = seals.sealRequest("again", listener.name, 0)
      assert.strictEqual(yield* post(bytes), 200)
      const wrong = [
        yield* post(bytes),
        yield* post(Buffer.from("hello")),
        yield* post(Buffer.alloc(0)),
        yield* post(seals.sealRequest("elsewhere", "another", 0).bytes),
        yield* post(seals.sealRequest("path", listener.name, 0).bytes, "/other"),
        yield* post((yield* sealsOf(foreign)).sealRequest("forged", listener.name, 0).bytes)
      ]
      assert.deepStrictEqual(wrong, wrong.map(() => 404))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* post(seals.sealRequest("late", listener.name, 0).bytes), 404)
      assert.strictEqual(taken, 2)
      assert.strictEqual(yield* metric("console_cluster_refused_total"), wrong.length + 2)
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Listen.layer({ host: "127.0.0.1", port: 0 }).pipe(
          Layer.provide([peppersOf(current), Randomness.layer]),
          Layer.provideMerge(Layer.succeed(Metric.MetricRegistry, new Map()))
        )
      )
    ))
})
