/** Searches in threads of their own, which are started when they are needed and end when they are no longer. */
import { Clock, Data, Duration, Effect, Layer, Pool } from "effect"
import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import { ServiceUnavailable } from "../../domain/Failure.ts"
import { SearchMatcher } from "../../ports/archive/SearchMatcher.ts"
import { handBlock, type Handed, handPages, type Numbered, type ThreadAnswer } from "./SearchThreadCalls.ts"

/** One core is left to all else. */
const mostThreads = Math.max(1, Math.min(4, availableParallelism() - 1))

/** Pieces that a thread has at a time: the next one is there when it has done one. */
const piecesEach = 2

/** Pieces that wait for a thread; further ones are refused. */
const mostWaiting = 256

const idleTime = Duration.minutes(1)

/** The program of a thread is beside this module, in sources and when it is built. */
const program = new URL(import.meta.url.endsWith(".ts") ? "./SearchThread.ts" : "./SearchThread.js", import.meta.url)

class ThreadEnded extends Data.TaggedError("ThreadEnded")<{ readonly cause: unknown }> {}

const startThread = Effect.acquireRelease(
  Effect.sync(() => {
    const worker = new Worker(program, { name: "search", env: {} })
    const waiting = new Map<number, (answer: Effect.Effect<ThreadAnswer, ThreadEnded>) => void>()
    let last = 0
    let ended: ThreadEnded | undefined
    const end = (cause: unknown) => {
      ended ??= new ThreadEnded({ cause })
      for (const resume of waiting.values()) resume(Effect.fail(ended))
      waiting.clear()
    }
    worker.on("message", (answer: Numbered<ThreadAnswer>) => {
      waiting.get(answer.id)?.(Effect.succeed(answer))
      waiting.delete(answer.id)
    })
    worker.on("error", end)
    worker.on("exit", (code) => end(new Error(`It has exited with ${code}`)))

    /** Waits until the thread has done the piece: its place is free then. */
    const done = (id: number) =>
      Effect.callback<void>((resume) => {
        if (!waiting.has(id)) return resume(Effect.void)
        waiting.set(id, () => resume(Effect.void))
      })

    const ask = ({ ask, buffer }: Handed): Effect.Effect<ThreadAnswer, ThreadEnded> =>
      Effect.callback((resume) => {
        if (ended !== undefined) return resume(Effect.fail(ended))
        const id = ++last
        waiting.set(id, resume)
        worker.postMessage({ ...ask, id }, [buffer])
        return done(id)
      })
    return { worker, ask }
  }),
  ({ worker }) => Effect.promise(() => worker.terminate())
)

const unavailable = () => new ServiceUnavailable({ retry_after: 1 })

/** A thread that ends by itself fails the searches that it has pieces of, and another one takes its place. */
export const layer = Layer.effect(
  SearchMatcher,
  Effect.gen(function*() {
    // Threads are idle by the system's time, whatever time the service is given.
    const pool = yield* Pool.makeWithTTL({
      acquire: startThread,
      min: 0,
      max: mostThreads,
      concurrency: piecesEach,
      timeToLive: idleTime
    }).pipe(Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()))

    /** The bytes are copied once a thread takes them. */
    const ask = Effect.fnUntraced(function*(hand: () => Handed) {
      if ((yield* Pool.stats(pool)).pending >= mostWaiting) return yield* unavailable()
      const answer = yield* Pool.use(pool, (thread) =>
        Effect.suspend(() => thread.ask(hand())).pipe(
          Effect.tapError(({ cause }) =>
            Effect.andThen(Effect.logError("A thread of searches has ended", cause), Pool.invalidate(pool, thread))
          )
        )).pipe(Effect.catchTag("ThreadEnded", unavailable))
      return answer.type === "failed" ? yield* Effect.die(new Error(answer.reason)) : answer
    })

    const other = Effect.die(new Error("A thread of searches has answered something else"))

    return SearchMatcher.of({
      block: (words, block) =>
        Effect.flatMap(
          ask(() => handBlock(words, block)),
          (answer) => answer.type === "block" ? Effect.succeed(answer.matches) : other
        ),
      pages: (criteria, pages) =>
        Effect.flatMap(
          ask(() => handPages(criteria, pages)),
          (answer) => answer.type === "pages" ? Effect.succeed(answer.matches) : other
        )
    })
  })
)
