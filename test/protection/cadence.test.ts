import { assert, describe, expect, it, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Worker from "../../src/layers/Worker.ts"
import { LiveSessions } from "../../src/messenger/OpenSessions.ts"
import { Cadence } from "../../src/protection/Cadence.ts"
import { Engine } from "../../src/protection/PollLoop.ts"
import { pglite } from "../support/postgres/database.ts"
import { arrange } from "../support/protection/watched.ts"
import * as World from "../support/world.ts"

const start = 1_000_000

/** How long it waits for the next round after rounds that each took so many. */
const waits = (taken: number) => {
  const cadence = new Cadence()
  let now = start
  return Array.from({ length: 6 }, () => {
    cadence.ended(now, now + 10, taken, null)
    const wait = cadence.wait(now + 10)
    now += 10 + wait
    return Math.round(wait)
  })
}

describe("12.4 how often a process asks what is due", () => {
  it("three seconds apart where little is due, and four times a second where much is", () => {
    expect(waits(0)).toEqual([3000, 3000, 3000, 3000, 3000, 3000])
    expect(waits(51)).toEqual([3000, 3000, 3000, 3000, 3000, 3000])
    expect(waits(1000).slice(-4)).toEqual(
      [301, 250, 250, 250].map((each, place) => place === 0 ? expect.any(Number) : each)
    )
    const cadence = new Cadence()
    for (let second = 0; second < 60; second += 1) cadence.ended(start + second * 1000, start + second * 1000, 50, null)
    // Fifty a second are a hundred in two.
    expect(cadence.wait(start + 59_000)).toBe(2000)
  })

  it("again when something is pressing, and soon after an alarm, whatever was due", () => {
    const after = (pressing: number | null, alarm = false) => {
      const cadence = new Cadence()
      if (alarm) cadence.rang()
      cadence.ended(start, start, 0, pressing === null ? null : new Date(start + pressing))
      return cadence.wait(start)
    }
    expect([1000, 2994, 2996, 60_000].map((pressing) => after(pressing))).toEqual([1005, 2999, 3000, 3000])
    // An account that somebody holds is asked for again.
    expect([0, -60_000].map((pressing) => after(pressing))).toEqual([250, 250])
    expect([after(null, true), after(500, true), after(2000, true)]).toEqual([1000, 505, 1000])
  })

  it("at once where a round ended though more was due", () => {
    const cadence = new Cadence()
    cadence.cut(start, start + 15_000)
    expect(cadence.wait(start + 15_000)).toBe(0)
    cadence.ended(start + 15_000, start + 16_000, 1000, null)
    expect(cadence.wait(start + 16_000)).toBe(1500)
  })

  it("no sooner where the database is away", () => {
    const cadence = new Cadence()
    cadence.ended(start, start, 0, null)
    expect(cadence.wait(start)).toBe(3000)
    expect(cadence.wait(start + 3001)).toBe(2999)
  })

  layer(Worker.layer().pipe(Layer.provideMerge(World.world(pglite))))((it) => {
    const real = (millis: number) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, millis)))

    /** Rounds that follow each other for as long as the test; time stands still but where it is moved. */
    const rounds = Effect.gen(function*() {
      const { claim, pause } = yield* Engine
      let done = 0
      const round = Effect.andThen(claim, Effect.sync(() => void (done += 1)))
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(round, pause)))
      return () => done
    })

    /** Waits until it is so, while time stands still. */
    const eventually = Effect.fnUntraced(function*<E, R>(what: string, holds: Effect.Effect<boolean, E, R>) {
      for (let tries = 0; tries < 1000; tries++) {
        if (yield* holds) return
        yield* real(5)
      }
      assert.fail(`it does not come about: ${what}`)
    })

    /** Waits until it is so, while less time goes by than between two rounds that nobody wakes. */
    const soon = Effect.fnUntraced(function*<E, R>(what: string, holds: Effect.Effect<boolean, E, R>) {
      for (let tries = 0; tries < 1000; tries++) {
        if (yield* holds) return
        yield* real(5)
        // Who is woken may begin to wait only now, and an account that is still held is asked for again after 250 ms.
        if (tries % 5 === 4) yield* TestClock.adjust(8)
      }
      assert.fail(`it does not come about: ${what}`)
    })

    /** An account that has been looked at once, by rounds that follow each other. */
    const watched = Effect.gen(function*() {
      const made = yield* arrange()
      const { account, id, platform, userId } = made
      const count = yield* rounds
      const written = World.query(
        id,
        (sql) =>
          sql`select fence from monitor where account_id = ${account} and last_ok_at is not null and busy_by is null`
      )
      yield* eventually("the first look is written down", Effect.map(written, (rows) => rows.length === 1))
      const looks = Effect.map(
        platform.calls,
        (calls) => calls.filter(({ operation, user_id }) => operation === "authorizations" && user_id === userId).length
      )
      /** Somebody signs in, of which the messenger tells. */
      const stranger = Effect.gen(function*() {
        const { heard } = yield* LiveSessions
        const known = yield* heard
        yield* platform.logIn(userId, { device_model: "Pixel 9" })
        yield* eventually("the push is heard", Effect.map(heard, (now) => now > known))
        yield* TestClock.adjust(50)
      })
      const did = (action: string) => soon(action, Effect.map(made.done, (actions) => actions.includes(action)))
      return { ...made, count, did, looks, stranger }
    })

    it.effect("an operation and a push are heard of at once", () =>
      Effect.gen(function*() {
        const { account, admins, did, looks, stranger } = yield* watched
        yield* TestClock.adjust(100)
        const before = yield* looks
        yield* World.post(`/v1/accounts/${account}/pause`, admins.owner.key)
        yield* World.post(`/v1/accounts/${account}/resume`, admins.owner.key)
        yield* TestClock.adjust(50)
        yield* soon("a look", Effect.map(looks, (now) => now > before))
        yield* TestClock.adjust(1000)
        yield* stranger
        yield* did("session.detected")
      }))

    it.effect("a deadline is met when it comes", () =>
      Effect.gen(function*() {
        const { account, count, did, id, stranger } = yield* watched
        yield* stranger
        yield* did("session.detected")
        const next = Effect.gen(function*() {
          const before = count()
          yield* TestClock.adjust(3000)
          yield* eventually("a round", Effect.sync(() => count() > before))
          yield* real(50)
        })
        yield* next
        const deadline = new Date((yield* Clock.currentTimeMillis) + 4000)
        yield* World.query(id, (sql) =>
          sql`update session set review_deadline = ${deadline} where account_id = ${account} and not service returning id`)
        yield* World.set(id, "monitor", account, { due_at: deadline, next_at: deadline })
        yield* next
        const before = count()
        yield* TestClock.adjust(999)
        yield* real(50)
        assert.strictEqual(count(), before)
        yield* TestClock.adjust(6)
        yield* did("session.autokilled")
      }))
  })
})
