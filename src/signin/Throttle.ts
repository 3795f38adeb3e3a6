/** The throttles of the console: each attempt is counted before any work, and has to wait past the free ones. */
import { Effect, Semaphore } from "effect"
import { TooManyAttempts } from "../domain/Failure.ts"
import { freeAddressFailures, freeCodeFailures, signInsAtOnce, signInsWaiting } from "../domain/Limits.ts"
import { addressGroup, addressNetwork } from "../domain/NetworkAddress.ts"
import { AttemptCounters, type Counter } from "../ports/signin/AttemptCounters.ts"
import type { Attempt } from "../ports/signin/ConsolePasswords.ts"
import { SignInSecrets } from "../ports/signin/SignInSecrets.ts"

/** Counting over the counters of all processes. */
export const throttle = Effect.gen(function*() {
  const counters = yield* AttemptCounters
  const { digest } = yield* SignInSecrets

  /** Names what is counted without holding what was typed, or whether anybody is meant. */
  const named = (kind: string, ...parts: ReadonlyArray<string>): string => `${kind}:${digest(JSON.stringify(parts))}`

  const takeBack = (counted: ReadonlyArray<Counter>) => Effect.forEach(counted, counters.takeBack, { discard: true })

  /** Counts an attempt in every counter, or in none of them. */
  const count = Effect.fnUntraced(function*(counted: ReadonlyArray<Counter>, of: "passwords" | "codes" = "passwords") {
    for (const [index, counter] of counted.entries()) {
      const seconds = yield* Effect.tapError(counters.count(counter), () => takeBack(counted.slice(0, index)))
      if (seconds === null) continue
      yield* takeBack(counted.slice(0, index))
      return yield* new TooManyAttempts({ retry_after: seconds, message: `Too many wrong ${of}: wait ${seconds} s.` })
    }
  })

  /** The stored origin of an attempt. */
  const originOf = ({ ip }: Pick<Attempt, "ip">) => ({
    address: digest(ip === null ? "nowhere" : addressGroup(ip)),
    network: digest(ip === null ? "nowhere" : addressNetwork(ip))
  })

  /** The counter of attempts of a kind from the address. */
  const counterOf = (kind: string, attempt: Pick<Attempt, "ip">, free: number): Counter => ({
    key: `${kind}:${originOf(attempt).address}`,
    free
  })

  return {
    named,
    count,
    takeBack,
    clear: counters.clear,
    originOf,
    counterOf,

    /** The counter of codes; five wrong ones are free, as for passwords. */
    codesOf: (...parts: ReadonlyArray<string>): Counter => ({ key: named("code", ...parts), free: freeCodeFailures }),

    /** Looks up a link: the attempt is counted for the address before, and uncounted if the link is valid. */
    countLink: Effect.fnUntraced(function*<A, E, R>(attempt: Attempt, find: Effect.Effect<A | null, E, R>) {
      const counted = [counterOf("link", attempt, freeAddressFailures)]
      yield* count(counted)
      const found = yield* Effect.tapError(find, () => takeBack(counted))
      if (found !== null) yield* takeBack(counted)
      return found
    })
  }
})

/**
 * Lets few attempts of one key run at once in this process, the others in turn: what is under way counts as failed
 * until it is known, so that people who sign in together from one address would make each other wait.
 */
export const makeTurns = () => {
  const queues = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return (key: string) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | TooManyAttempts, R> =>
    Effect.suspend((): Effect.Effect<A, E | TooManyAttempts, R> => {
      const queue = queues.get(key) ?? { semaphore: Semaphore.makeUnsafe(signInsAtOnce), users: 0 }
      if (queue.users >= signInsAtOnce + signInsWaiting) {
        return Effect.fail(
          new TooManyAttempts({ retry_after: 1, message: "Too many attempts at once from one address: wait 1 s." })
        )
      }
      queues.set(key, queue)
      queue.users += 1
      return Effect.ensuring(
        queue.semaphore.withPermit(effect),
        Effect.sync(() => {
          queue.users -= 1
          if (queue.users === 0) queues.delete(key)
        })
      )
    })
}
