/** Requests that come in together are answered by one statement: those that one turn of the event loop has read. */
import { type Context, Effect, Exit, type Fiber } from "effect"
import { atEnd } from "../../postgres/protocol/TurnEnd.ts"

/** The number of requests that one statement answers at most. */
const most = 32

interface Waiting<A, B, E> {
  readonly asked: A
  /** Undefined if its fiber no longer waits. */
  resume: ((answer: Effect.Effect<B, E>) => void) | undefined
}

interface Batch<A, B, E> {
  readonly context: Context.Context<never>
  readonly waiting: Array<Waiting<A, B, E>>
  /** Runs the statement, once it is sent. */
  fiber: Fiber.Fiber<unknown, unknown> | undefined
}

/** The ways of asking. */
export interface Ways<A, B, E, F> {
  /** No two of a statement have the same. */
  readonly key: (asked: A) => string
  readonly alone: (asked: A) => Effect.Effect<B, E>
  /** One answer for each place; undefined for one that has to ask alone. */
  readonly together: (asked: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<Effect.Effect<B, E> | undefined>, F>
}

/**
 * Asks together with all others of this turn. One request asks alone, in its own fiber, and so do all of a statement
 * that fails, each for itself. Who no longer waits is left out; a statement that nobody waits for is interrupted.
 */
export const make = <A, B, E, F>(
  { alone, key, together }: Ways<A, B, E, F>
): (asked: A) => Effect.Effect<B, E> => {
  let open: Batch<A, B, E> | undefined

  const close = (batch: Batch<A, B, E>): void => {
    if (open !== batch) return
    open = undefined
    const waiting = batch.waiting.filter(({ resume }) => resume !== undefined)
    const [first] = waiting
    if (waiting.length < 2) return first?.resume?.(alone(first.asked))
    const fiber = Effect.runForkWith(batch.context)(together(waiting.map(({ asked }) => asked)))
    batch.fiber = fiber
    fiber.addObserver((exit) => {
      const answers = Exit.isSuccess(exit) ? exit.value : []
      for (const [place, { asked, resume }] of waiting.entries()) resume?.(answers[place] ?? alone(asked))
    })
  }

  return (asked) =>
    Effect.withFiber(({ context }) =>
      Effect.callback((resume) => {
        if (
          open !== undefined &&
          (open.waiting.length === most || open.waiting.some((one) => key(one.asked) === key(asked)))
        ) {
          close(open)
        }
        const batch = open ??= { context, waiting: [], fiber: undefined }
        if (batch.waiting.length === 0) atEnd("gathered", () => close(batch))
        const one: Waiting<A, B, E> = { asked, resume }
        batch.waiting.push(one)
        return Effect.sync(() => {
          one.resume = undefined
          if (batch.waiting.every((other) => other.resume === undefined)) batch.fiber?.interruptUnsafe()
        })
      })
    )
}
