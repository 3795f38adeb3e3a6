/** The simulated platform's pushes to the sessions that are connected here, in the order of its changes. */
import type { MessengerEvent, MessengerUserId, SessionRef } from "../../../domain/messenger/Messenger.ts"

type Listener = (event: MessengerEvent) => void

interface Delivery {
  readonly userId: MessengerUserId
  readonly sessionRef: SessionRef
  readonly event: MessengerEvent
}

/** The deliveries of one change of the platform, in the order in which the changes were begun. */
export interface Batch {
  readonly add: (...delivery: readonly [MessengerUserId, SessionRef, MessengerEvent]) => void
  /** Sends or drops what was added, once the batches before it are finished. */
  readonly finish: (kept: boolean) => void
}

export interface Pushes {
  /** Answers how to stop listening. */
  listen(sessionRef: SessionRef, listener: Listener): () => void
  readonly begin: () => Batch
  /** Loses the next events of the account. */
  drop(userId: MessengerUserId, times: number): void
}

/** Pushes within this process only: they are hints, and polls find the same changes. */
export const make = (): Pushes => {
  const listeners = new Map<SessionRef, Set<Listener>>()
  const dropped = new Map<MessengerUserId, number>()
  let waiting: Array<{ readonly deliveries: Array<Delivery>; finished: boolean }> = []

  const deliver = ({ event, sessionRef, userId }: Delivery): void => {
    const left = dropped.get(userId) ?? 0
    if (left > 0) dropped.set(userId, left - 1)
    else for (const listener of (listeners.get(sessionRef) ?? [])) listener(event)
  }

  return {
    listen: (sessionRef, listener) => {
      const known = listeners.get(sessionRef) ?? new Set()
      listeners.set(sessionRef, known.add(listener))
      return () => {
        known.delete(listener)
        if (known.size === 0 && listeners.get(sessionRef) === known) listeners.delete(sessionRef)
      }
    },
    begin: () => {
      const batch = { deliveries: new Array<Delivery>(), finished: false }
      waiting.push(batch)
      return {
        add: (userId, sessionRef, event) => void batch.deliveries.push({ userId, sessionRef, event }),
        finish: (kept) => {
          batch.finished = true
          if (!kept) batch.deliveries.length = 0
          const open = waiting.findIndex(({ finished }) => !finished)
          const done = open === -1 ? waiting : waiting.slice(0, open)
          waiting = open === -1 ? [] : waiting.slice(open)
          for (const { deliveries } of done) deliveries.forEach(deliver)
        }
      }
    },
    drop: (userId, times) => void dropped.set(userId, (dropped.get(userId) ?? 0) + times)
  }
}
