import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, PubSub, Stream } from "effect"
import { Slot } from "../../../src/domain/accounts/Slot.ts"
import { SessionRef } from "../../../src/domain/messenger/Messenger.ts"
import * as Owned from "../../../src/layers/messenger/Owned.ts"
import { type LiveSession, MessengerSession } from "../../../src/ports/messenger/MessengerSession.ts"
import { type CloseSlots, Ownership } from "../../../src/ports/messenger/Ownership.ts"

const [one, two] = [Slot.make(1), Slot.make(2)]

/** Sessions that are open, and the right to them, of which a test takes slots away. */
const stage = Effect.gen(function*() {
  const terms = new Map([[one, 1], [two, 1]])
  const open = new Set<string>()
  const closers: Array<CloseSlots> = []
  const changes = yield* PubSub.unbounded<ReadonlySet<Slot>>()
  // Of a live session the test uses these alone.
  const live = { logOut: Effect.void, authorizations: Effect.never, events: Stream.never } as unknown as LiveSession
  const platform = {
    open: (ref: SessionRef) =>
      Effect.as(
        Effect.acquireRelease(
          Effect.sync(() => void open.add(ref)),
          () => Effect.sync(() => void open.delete(ref)).pipe(Effect.delay("50 millis"))
        ),
        live
      )
  } as unknown as MessengerSession["Service"]
  const services = yield* Layer.build(
    Owned.layer.pipe(
      Layer.provide(Layer.succeed(MessengerSession, platform)),
      Layer.provide(Layer.succeed(Ownership, {
        term: (slot) => slot === undefined ? null : terms.get(slot) ?? null,
        owned: () => new Set(terms.keys()),
        changes: Stream.fromPubSub(changes),
        closing: (close) => Effect.sync(() => void closers.push(close))
      }))
    )
  )
  const messenger = Context.get(services, MessengerSession)
  const take = (slot: Slot) => Effect.sync(() => void terms.delete(slot))
  return { closers, changes, messenger, open, take, terms }
})

describe("12.4 sessions of a slot", () => {
  it.live("are closed before the slot is given away, and those of other slots stay open", () =>
    Effect.gen(function*() {
      const { closers, messenger, open, take } = yield* stage
      const gone = yield* messenger.open(SessionRef.make("gone"), one)
      const kept = yield* messenger.open(SessionRef.make("kept"), two)
      const call = yield* Effect.forkChild(Effect.flip(gone.authorizations), { startImmediately: true })
      yield* take(one)
      yield* Effect.forEach(closers, (close) => close(new Set([one])))
      assert.deepStrictEqual([...open], ["kept"])
      yield* kept.logOut
      assert.strictEqual((call.pollUnsafe())?._tag, "Success")
      assert.strictEqual((yield* Effect.flip(gone.logOut))._tag, "PlatformUnavailable")
      assert.strictEqual((yield* Effect.flip(messenger.open(SessionRef.make("gone"), one)))._tag, "PlatformUnavailable")
    }).pipe(Effect.scoped))

  it.live("are not used in a later term, and one without a slot is opened by nobody who does not own them all", () =>
    Effect.gen(function*() {
      const { changes, messenger, open, terms } = yield* stage
      const earlier = yield* messenger.open(SessionRef.make("earlier"), one)
      terms.set(one, 2)
      assert.strictEqual((yield* Effect.flip(earlier.logOut))._tag, "PlatformUnavailable")
      yield* PubSub.publish(changes, new Set([one]))
      yield* Effect.sleep("100 millis")
      assert.deepStrictEqual([...open], [])
      assert.strictEqual((yield* Effect.flip(messenger.open(SessionRef.make("any"))))._tag, "PlatformUnavailable")
    }).pipe(Effect.scoped))
})
