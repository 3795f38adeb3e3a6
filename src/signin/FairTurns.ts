/** Few at a time, the others in turn: networks and organizations have fair shares, and lanes have places of their own. */
import { Deferred, Effect } from "effect"
import { TooManyAttempts } from "../domain/Failure.ts"
import { type GroupMember, next, surplus } from "../domain/signin/Fairness.ts"

export interface TurnLimits {
  /** The limits of concurrent work: of all, of one lane, and of the narrowest group. */
  readonly atOnce: number
  readonly ofLane: number
  readonly ofGroup: number
  /** The number of those of one lane that wait. */
  readonly waiting: number
}

interface Waiter extends GroupMember {
  readonly started: Deferred.Deferred<void, TooManyAttempts>
}

/** Seconds until a full queue has room again. */
const retryAfter = 2

const crowded = new TooManyAttempts({
  retry_after: retryAfter,
  message: `Too many attempts at once from your network: wait ${retryAfter} s.`
})

const isOf = (group: string | undefined) => ({ groups }: GroupMember): boolean => groups.at(-1) === group

const remove = (all: Array<Waiter>, one: Waiter): void => {
  const at = all.indexOf(one)
  if (at !== -1) all.splice(at, 1)
}

interface Lane {
  readonly waiting: Array<Waiter>
  readonly working: Array<Waiter>
}

/**
 * Makes lanes that are at work together: what waits in one takes no places of another. Where a lane is full, the last of
 * the group that has the most places waits no more.
 */
export const makeFairTurns = (limits: TurnLimits) => {
  const lanes: Array<Lane> = []

  const nextOf = ({ waiting, working }: Lane): Waiter | undefined =>
    working.length >= limits.ofLane
      ? undefined
      : next(
        waiting.filter(({ groups }) => working.filter(isOf(groups.at(-1))).length < limits.ofGroup),
        working
      )

  const start = (): void => {
    let room = limits.atOnce - lanes.reduce((sum, { working }) => sum + working.length, 0)
    for (const lane of lanes) {
      for (let found = nextOf(lane); room > 0 && found !== undefined; found = nextOf(lane)) {
        remove(lane.waiting, found)
        lane.working.push(found)
        Deferred.doneUnsafe(found.started, Effect.void)
        room -= 1
      }
    }
  }

  /** A further lane; lanes that were made before come first. */
  return () => {
    const lane: Lane = { waiting: [], working: [] }
    lanes.push(lane)
    return (groups: ReadonlyArray<string>) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | TooManyAttempts, R> =>
      Effect.suspend(() => {
        const waiter: Waiter = { groups, started: Deferred.makeUnsafe() }
        lane.waiting.push(waiter)
        start()
        const given = lane.waiting.length > limits.waiting ? surplus(lane.waiting) : undefined
        if (given !== undefined) {
          remove(lane.waiting, given)
          Deferred.doneUnsafe(given.started, Effect.fail(crowded))
        }
        return Effect.ensuring(
          Effect.andThen(Deferred.await(waiter.started), effect),
          Effect.sync(() => {
            remove(lane.waiting, waiter)
            remove(lane.working, waiter)
            start()
          })
        )
      })
  }
}
