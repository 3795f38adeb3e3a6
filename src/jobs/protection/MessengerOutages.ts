/** Organizations are notified that the messenger is away, and that it is back. */
import { Effect, Layer } from "effect"
import { monitoringLostWidely } from "../../domain/mail/index.ts"
import { now } from "../../domain/Moments.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { Db } from "../../ports/Db.ts"
import type { Journal } from "../../ports/journal/Journal.ts"
import type { Outbox } from "../../ports/mail/Outbox.ts"
import { Outages } from "../../ports/protection/MessengerOutages.ts"
import { OutageRecords } from "../../ports/protection/OutageRecords.ts"
import { recordOrganization } from "../Batch.ts"

const accountsPerTransaction = 1000

/** Reports many accounts at once in one event and one mail, within the transaction. */
export const reportLost = (organizationId: OrganizationId, error: string, accounts: number) =>
  recordOrganization(organizationId, "monitoring.lost", { error, accounts }, [monitoringLostWidely({ accounts })])

export const layer = Layer.effect(
  Outages,
  Effect.gen(function*() {
    const db = yield* Db
    const records = yield* OutageRecords
    const services = yield* Effect.context<Journal | Outbox>()
    const notified = new Set<OrganizationId>()

    const notify = Effect.fnUntraced(function*(id: OrganizationId) {
      if (notified.has(id)) return
      const at = yield* now
      yield* db.transaction(
        id,
        Effect.gen(function*() {
          const accounts = yield* records.begin(id, at)
          if (accounts !== null) yield* reportLost(id, "unavailable", accounts)
        }).pipe(Effect.provideContext(services))
      )
      notified.add(id)
    })

    const endOutage = Effect.fnUntraced(function*(id: OrganizationId) {
      const at = yield* now
      let after: string | null = null
      do after = yield* db.transaction(id, records.makeDue(id, after, accountsPerTransaction, at))
      while (after !== null)
      yield* db.transaction(
        id,
        Effect.gen(function*() {
          if (yield* records.end(id)) yield* recordOrganization(id, "monitoring.restored", {})
        }).pipe(Effect.provideContext(services))
      )
    })

    /** Notifies each of them; a failure for one does not stop the others. */
    const each = (which: "notified" | "watched", one: typeof notify) =>
      records.organizations(which).pipe(
        Effect.flatMap(Effect.forEach((id) =>
          Effect.as(one(id), true).pipe(
            Effect.catchTag("service_unavailable", () => Effect.succeed(false)),
            Effect.catchDefect((defect) =>
              Effect.as(Effect.logError(`${id} was not notified of the outage`, defect), false)
            )
          )
        )),
        Effect.map((done) => done.every(Boolean)),
        Effect.catchTag("service_unavailable", () => Effect.succeed(false))
      )

    return {
      notify,
      notifyAll: each("watched", notify),
      notifyBack: Effect.suspend(() => {
        notified.clear()
        return each("notified", endOutage)
      })
    }
  })
)
