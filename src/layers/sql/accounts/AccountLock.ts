import { Clock, Duration, Effect, Fiber, Layer, Metric, Option, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { MessengerUnavailable } from "../../../domain/Failure.ts"
import { guardHeld, guardRenewed, guardWait } from "../../../domain/Limits.ts"
import { AccountLock, AccountLockLost, type LockedAccountRef } from "../../../ports/accounts/AccountLock.ts"
import { Alarm } from "../../../ports/protection/Alarm.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The interval at which a waiting request tries again. */
const interval = Duration.millis(100)

/** The time that an answer waits until the account is given back. */
const longestRelease = Duration.seconds(1)

const waits = Metric.counter("console_guard_waits_total", {
  description: "Requests that waited because somebody else was working on the account",
  incremental: true
})

const taken = `
  update monitor set busy_by = $3, busy_until = $5, fence = fence + 1
  where organization_id = $1 and account_id = $2 and (busy_until is null or busy_until <= $4)
  returning fence, epoch`

const renewed = `
  update monitor set busy_until = $4 where organization_id = $1 and account_id = $2 and fence = $3 returning epoch`

const released = `
  update monitor set busy_by = null, busy_until = null
  where organization_id = $1 and account_id = $2 and fence = $3 returning fence`

const until = (now: number) => new Date(now + Duration.toMillis(guardHeld))

/** The guard in the monitor's row of each account. */
export const layer = Layer.effect(
  AccountLock,
  Effect.gen(function*() {
    const alarm = yield* Alarm
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const random = yield* SecureRandom.SecureRandom

    const take = Effect.fnUntraced(
      function*(
        organizationId: LockedAccountRef["organizationId"],
        accountId: LockedAccountRef["accountId"],
        by: string
      ) {
        const now = yield* Clock.currentTimeMillis
        const values = [organizationId, accountId, by, new Date(now), until(now)]
        const [row] = yield* Tenant.ask<Pick<LockedAccountRef, "fence" | "epoch">>(sql, taken, values)
        return row === undefined ? Option.none<LockedAccountRef>() : Option.some({ organizationId, accountId, ...row })
      }
    )

    const renew = Effect.fnUntraced(function*({ accountId, fence, organizationId }: LockedAccountRef) {
      const now = yield* Clock.currentTimeMillis
      yield* Tenant.ask(sql, renewed, [organizationId, accountId, fence, until(now)])
    })

    const release = ({ accountId, fence, organizationId }: LockedAccountRef) =>
      Effect.ignore(Tenant.ask(sql, released, [organizationId, accountId, fence]))

    /** The answer waits only briefly for a database that does not answer: the hold also expires by itself. */
    const giveBack = (held: LockedAccountRef) =>
      Effect.flatMap(
        Effect.forkDetach(release(held), { startImmediately: true }),
        (fiber) => Effect.timeoutOption(Effect.interruptible(Fiber.await(fiber)), longestRelease)
      )

    return {
      acquire: Effect.fnUntraced(function*(organizationId, accountId) {
        const by = yield* random.uuidV7()
        const deadline = (yield* Clock.currentTimeMillis) + Duration.toMillis(guardWait)
        const attempt = Effect.acquireRelease(
          take(organizationId, accountId, by),
          (held) => Option.isSome(held) ? giveBack(held.value) : Effect.void
        )
        let held = yield* attempt
        if (Option.isNone(held)) yield* Metric.update(waits, 1)
        while (Option.isNone(held)) {
          if ((yield* Clock.currentTimeMillis) >= deadline) {
            yield* Effect.logWarning("The messenger is not available", "another request or poll holds the account")
            return yield* new MessengerUnavailable({ retry_after: 1 })
          }
          yield* Effect.sleep(interval)
          held = yield* attempt
        }
        const { value } = held
        // A failed renewal is not reported: the holder's next transaction notices it.
        yield* Effect.forkScoped(
          Effect.repeat(Effect.ignore(renew(value)), Schedule.spaced(guardRenewed)).pipe(Effect.delay(guardRenewed))
        )
        return value
      }),

      release,

      confirm: Effect.fnUntraced(function*({ accountId, fence, organizationId }) {
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* Effect.orDie(
          sql.unsafe<Pick<LockedAccountRef, "epoch">>(renewed, [organizationId, accountId, fence, until(now)])
        )
        return row === undefined ? yield* new AccountLockLost({}) : row.epoch
      }),

      look: (organizationId, accountId, now) =>
        Effect.andThen(
          post(sql`
            update monitor set epoch = epoch + 1, next_at = ${now}, urgent = true
            where organization_id = ${organizationId} and account_id = ${accountId}`),
          alarm.ring
        )
    }
  })
)
