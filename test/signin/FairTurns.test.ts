import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Latch } from "effect"
import { makeFairTurns } from "../../src/signin/FairTurns.ts"

const limits = { atOnce: 4, ofLane: 3, ofGroup: 2, waiting: 6 }

/** Two lanes whose work goes on once it is let through, and the names of what has begun. */
const stage = () => {
  const lane = makeFairTurns(limits)
  const [first, second] = [lane(), lane()]
  const latch = Latch.makeUnsafe(false)
  const begun: Array<string> = []
  const work = (name: string) => Effect.andThen(Effect.sync(() => begun.push(name)), latch.await)
  const enter = (turn: typeof first, name: string, ...groups: ReadonlyArray<string>) =>
    Effect.forkChild(turn(groups)(work(name)), { startImmediately: true })
  return { begun, enter, first, latch, second }
}

describe("turns of what is done few at a time", () => {
  it.effect("a lane leaves places to the others, and a group to the other groups of its lane", () =>
    Effect.gen(function*() {
      const { begun, enter, first, latch, second } = stage()
      for (const name of ["a1", "a2", "a3"]) yield* enter(first, name, "a", "x")
      for (const name of ["b1", "b2"]) yield* enter(first, name, "b", "y")
      assert.deepStrictEqual(begun, ["a1", "a2", "b1"])
      const fibers = [yield* enter(second, "c1", "c"), yield* enter(second, "c2", "c")]
      assert.deepStrictEqual(begun, ["a1", "a2", "b1", "c1"])
      yield* latch.open
      yield* Fiber.joinAll(fibers)
      assert.strictEqual(begun.length, 7)
    }))

  it.effect("where a lane is full, the last of the network with the most places waits no more, and the newcomer does", () =>
    Effect.gen(function*() {
      const { begun, enter, first, latch } = stage()
      const many = yield* Effect.forEach(
        Array.from({ length: 9 }, (_, at) => at),
        (at) => enter(first, `a${at}`, "a", `x${at}`)
      )
      const other = yield* enter(first, "b", "b")
      yield* latch.open
      const exits = yield* Effect.forEach(many, Fiber.await)
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, true, true, true, true, true, true, true, false])
      assert.isTrue(Exit.isSuccess(yield* Fiber.await(other)))
      // Three of the other network were at work: this one came next, and not last.
      assert.strictEqual(begun[3], "b")
    }))

  it.effect("what is interrupted gives its place back, at work or waiting", () =>
    Effect.gen(function*() {
      const { begun, enter, first } = stage()
      const fibers = yield* Effect.forEach(["a", "b", "c", "d", "e"], (name) => enter(first, name, name))
      yield* Effect.forEach(
        [fibers[3], fibers[0]],
        (fiber) => fiber === undefined ? Effect.void : Fiber.interrupt(fiber)
      )
      assert.deepStrictEqual(begun, ["a", "b", "c", "e"])
      yield* Effect.forEach(fibers, Fiber.interrupt)
    }))
})
