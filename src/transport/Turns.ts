/** Turns of what a process does only so often at a time. */
import { Effect, Option, Scope } from "effect"

/** A turn; it is given back once, however often it is released. */
export interface Turn {
  readonly release: Effect.Effect<void>
}

/** The number that runs of each key; what is not running takes no memory. */
export const makeCounter = () => {
  const running = new Map<string, number>()
  const change = (key: string, by: number) => {
    const now = (running.get(key) ?? 0) + by
    if (now === 0) running.delete(key)
    else running.set(key, now)
  }
  return { change, of: (key: string) => running.get(key) ?? 0 }
}

/** A turn that is counted from now until it is released. */
export const countedTurn = (count: (by: 1 | -1) => void): Turn => {
  let isReleased = false
  count(1)
  return {
    release: Effect.sync(() => {
      if (isReleased) return
      isReleased = true
      count(-1)
    })
  }
}

/** Ends the turn with the request's scope at the latest, so also where no byte of the answer is ever asked for. */
export const endingWithRequest = Effect.fnUntraced(function*(turn: Turn) {
  const scope = yield* Effect.serviceOption(Scope.Scope)
  if (Option.isSome(scope)) yield* Scope.addFinalizer(scope.value, turn.release)
  return turn
})
