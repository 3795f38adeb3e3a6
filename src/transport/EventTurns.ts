/** The number of event streams that are open at a time: each holds a connection, and asks the database every second. */
import { Context, Effect } from "effect"
import { RateLimited, ServiceUnavailable } from "../domain/Failure.ts"
import { eventStreamsAtOnce, eventStreamsOfOrganization, eventStreamsOfSession } from "../domain/Limits.ts"
import { countedTurn, endingWithRequest, makeCounter, type Turn } from "./Turns.ts"

/**
 * The header of an answer that has no end of its own: a stopping server cuts it, and the browser goes on with another
 * process. A proxy that gathers answers would hold the events back without it.
 */
export const endless = "x-accel-buffering"

/** The most at a time: of one session, of an organization, and of the process. */
export interface EventLimits {
  readonly session: number
  readonly organization: number
  readonly process: number
}

const limits: EventLimits = {
  session: eventStreamsOfSession,
  organization: eventStreamsOfOrganization,
  process: eventStreamsAtOnce
}

const tooMany = new RateLimited({ retry_after: 5, message: "As many pages are kept current as may be at a time." })

export class EventTurns {
  readonly #limits: EventLimits
  readonly #running = makeCounter()

  constructor(of: EventLimits = limits) {
    this.#limits = of
  }

  /** A turn; fails immediately where as many are open as may be. */
  take(sessionId: string, organizationId: string): Effect.Effect<Turn, RateLimited | ServiceUnavailable> {
    return Effect.suspend((): Effect.Effect<Turn, RateLimited | ServiceUnavailable> => {
      const { organization, process, session } = this.#limits
      const running = this.#running
      const keys = [`session ${sessionId}`, `organization ${organizationId}`, "all"] as const
      if (running.of(keys[0]) >= session || running.of(keys[1]) >= organization) return Effect.fail(tooMany)
      if (running.of(keys[2]) >= process) return Effect.fail(new ServiceUnavailable({ retry_after: 5 }))
      return Effect.succeed(countedTurn((by) => {
        for (const key of keys) running.change(key, by)
      }))
    })
  }
}

/** The turns of this process. */
const CurrentEventTurns = Context.Reference<EventTurns>(
  "org-security-console/transport/EventTurns/CurrentEventTurns",
  { defaultValue: () => new EventTurns() }
)

export const eventTurnOfRequest = Effect.fnUntraced(function*(sessionId: string, organizationId: string) {
  return yield* endingWithRequest(yield* (yield* CurrentEventTurns).take(sessionId, organizationId))
})
