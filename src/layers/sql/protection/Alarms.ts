/**
 * Alarms from one process to another over PostgreSQL (NOTIFY): the processes that watch learn immediately what another
 * one was asked.
 */
import { Duration, Effect, FiberHandle, Layer, Option, Queue, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { slotCount } from "../../../domain/accounts/Slot.ts"
import { Ownership } from "../../../ports/messenger/Ownership.ts"
import { Alarm } from "../../../ports/protection/Alarm.ts"
import * as Client from "../../postgres/DatabaseClient.ts"
import * as Tenant from "../../postgres/Tenant.ts"

const channel = "console_due"

/** Notifications follow the transactions that they are about, and come no more often. */
const notifyDelay = Duration.millis(50)

/**
 * How soon a connection that was lost is opened again. Until then the watch asks by itself, as behind a proxy that
 * keeps no sessions.
 */
const openedAfter = Duration.seconds(5)

/** A lost notification does no harm: the database need not write it to disk. */
const notifyStatement = `select set_config('synchronous_commit', 'off', true), pg_notify('${channel}', '')`

/**
 * Notifies the other processes while this one does not watch every account, and listens to them while it watches any,
 * over one connection of its own.
 */
export const layer = Layer.effectDiscard(Effect.gen(function*() {
  const alarm = yield* Alarm
  const ownership = yield* Effect.serviceOption(Ownership)
  const sql = yield* SqlClient.SqlClient
  const { listen } = Client.accessOf(sql)
  // No other process uses the embedded database.
  if (listen === undefined) return
  const watchesAll = () => Option.isSome(ownership) && ownership.value.owned().size === slotCount

  const notify = Effect.suspend(() => watchesAll() ? Effect.void : Effect.ignore(Tenant.ask(sql, notifyStatement, [])))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(alarm.rung, Effect.delay(notify, notifyDelay))))

  if (Option.isNone(ownership)) return
  const hear = Effect.scoped(Effect.gen(function*() {
    const notifications = yield* listen(channel)
    // An earlier notification may have been missed.
    yield* alarm.wake
    return yield* Effect.forever(Effect.andThen(Queue.take(notifications), alarm.wake))
  })).pipe(Effect.ignore, Effect.andThen(Effect.sleep(openedAfter)), Effect.forever)
  const hearing = yield* FiberHandle.make<never, never>()
  const { changes, owned } = ownership.value
  const follow = Effect.suspend(() =>
    owned().size === 0 ? FiberHandle.clear(hearing) : FiberHandle.run(hearing, hear, { onlyIfMissing: true })
  )
  yield* Stream.concat(Stream.succeed(owned()), changes).pipe(
    Stream.runForEach(() => follow),
    Effect.forkScoped({ startImmediately: true })
  )
}))
