import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema } from "effect"
import * as EntranceBatches from "../../../../src/layers/sql/credentials/EntranceBatches.ts"
import { drawn } from "../../../support/drawn.ts"

interface Asked {
  readonly id: number
  readonly key: string
}

/** What each that asks is answered: refusals among the answers, and none for what has to ask alone. */
const answerTo = ({ id }: Asked): Effect.Effect<number, string> =>
  id % 5 === 4 ? Effect.fail(`no ${id}`) : Effect.succeed(id)
const asksAlone = ({ id }: Asked): boolean => id % 7 === 6

const nextTurn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** The ways of a statement that takes one more turn, and what was asked. */
const recorder = (together: Effect.Effect<void, string> = nextTurn) => {
  const alone: Array<Asked> = []
  const statements: Array<ReadonlyArray<Asked>> = []
  const ask = EntranceBatches.make<Asked, number, string, string>({
    key: ({ key }) => key,
    alone: (asked) =>
      Effect.suspend(() => {
        alone.push(asked)
        return answerTo(asked)
      }),
    together: (all) =>
      Effect.suspend(() => {
        statements.push(all)
        return Effect.as(together, all.map((asked) => asksAlone(asked) ? undefined : answerTo(asked)))
      })
  })
  return { alone, ask, statements }
}

const at = (id: number, key = `key ${id}`): Asked => ({ id, key })

const started = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })

/** One after the other: a request with one of a few keys, whether it is given up at once or in the turn after, and whether a turn ends. */
const Script = Schema.Array(Schema.Struct({
  key: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 })),
  leaves: Schema.Literals(["never", "never", "never", "at once", "later"]),
  turn: Schema.Literals([false, false, false, true])
})).check(Schema.isMaxLength(120))

describe("requests that enter together", () => {
  it.live.prop(
    "are answered as each is alone, whoever gives up, by statements of 2 to 32 different credentials",
    [Script, Schema.Boolean],
    ([script, works]) =>
      Effect.gen(function*() {
        const { ask, statements } = recorder(works ? nextTurn : Effect.andThen(nextTurn, Effect.fail("gone")))
        const fibers: Array<Fiber.Fiber<number, string>> = []
        const later: Array<Fiber.Fiber<number, string>> = []
        for (const [id, { key, leaves, turn }] of script.entries()) {
          const fiber = yield* started(ask(at(id, `key ${key}`)))
          fibers.push(fiber)
          if (leaves === "at once") yield* Fiber.interrupt(fiber)
          if (leaves === "later") later.push(fiber)
          if (turn) {
            yield* nextTurn
            for (const one of later.splice(0)) yield* Fiber.interrupt(one)
          }
        }
        for (const one of later) yield* Fiber.interrupt(one)
        for (const [id, fiber] of fibers.entries()) {
          const exit = yield* Fiber.await(fiber)
          if (script[id]?.leaves !== "never" && Exit.hasInterrupts(exit)) continue
          expect(exit).toEqual(yield* Effect.exit(answerTo(at(id))))
        }
        for (const statement of statements) {
          expect(statement.length).toBeGreaterThan(1)
          expect(statement.length).toBeLessThanOrEqual(32)
          expect(new Set(statement.map(({ key }) => key)).size).toBe(statement.length)
        }
      }),
    drawn(60)
  )

  it.live("of one turn are one statement, up to 32, and those of the next another; a single one asks alone", () =>
    Effect.gen(function*() {
      const { alone, ask, statements } = recorder()
      const fibers = yield* Effect.forEach([0, 1, 2, 3], (id) => started(ask(at(id))))
      yield* nextTurn
      fibers.push(
        ...yield* Effect.forEach(Array.from({ length: 33 }, (_, id) => 35 * id), (id) => started(ask(at(id))))
      )
      yield* Effect.forEach(fibers, Fiber.await)
      expect(statements.map(({ length }) => length)).toEqual([4, 32])
      expect(alone.map(({ id }) => id)).toEqual([35 * 32])
    }))

  it.live("with one credential are one after the other: the second begins the next statement", () =>
    Effect.gen(function*() {
      const { alone, ask, statements } = recorder()
      yield* Effect.forEach([at(0, "one"), at(1, "two"), at(2, "one"), at(3, "three")], ask, {
        concurrency: "unbounded"
      })
      expect(statements.map((all) => all.map(({ id }) => id))).toEqual([[0, 1], [2, 3]])
      expect(alone).toEqual([])
    }))

  it.live("that are given up before they are sent are not sent, and the one that is left asks alone", () =>
    Effect.gen(function*() {
      const { alone, ask, statements } = recorder()
      const [first, second] = yield* Effect.forEach([0, 1], (id) => started(ask(at(id))))
      yield* Fiber.interrupt(first!)
      expect(yield* Fiber.join(second!)).toBe(1)
      expect([statements, alone.map(({ id }) => id)]).toEqual([[], [1]])
    }))

  it.live("leave a statement that goes on for the others, and interrupt one that nobody waits for", () =>
    Effect.gen(function*() {
      let interrupted = 0
      const { ask } = recorder(Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++)))
      const [first, second] = yield* Effect.forEach([0, 1], (id) => started(ask(at(id))))
      yield* nextTurn
      yield* Fiber.interrupt(first!)
      expect(interrupted).toBe(0)
      yield* Fiber.interrupt(second!)
      expect(interrupted).toBe(1)
    }))
})
