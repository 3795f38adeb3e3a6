/** The ownership of the sessions on the messenger as a lease in the database, which one process at a time has. */
import { Clock, Duration, Effect, Layer, Option, PubSub, Schedule, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as os from "node:os"
import { everySlot } from "../../../domain/accounts/Slot.ts"
import { Ownership } from "../../../ports/messenger/Ownership.ts"
import * as Gauge from "../../Gauge.ts"
import { hostInstant, type Instant, isBefore, plus } from "../../Instant.ts"
import * as Tenant from "../../postgres/Tenant.ts"

/** The state of the lease as far as a process knows it. */
interface LeaseState {
  /** The term under which this process watches; null where it does not. */
  readonly term: number | null
  /** The place of another process that watches, as that process names it; null where none is known. */
  readonly elsewhere: string | null
}

export interface Options {
  /** The time that a lease lasts without renewal, by the database's clock; 12 seconds by default. */
  readonly lasts?: Duration.Input
  /**
   * The time before its end that its holder stops using keys, because clocks run at different rates; 2 seconds by
   * default.
   */
  readonly margin?: Duration.Input
  /**
   * The interval at which the holder renews it, and at which a waiting process asks for it; 4 and 2 seconds by default.
   */
  readonly renewed?: Duration.Input
  readonly asked?: Duration.Input
  /** The two clocks that the holder uses; those of the host by default. */
  readonly instant?: () => Instant
}

/** The interval at which the holder checks whether the lease has ended. */
const watchInterval = Duration.millis(100)

/** Takes the lease if it is free or ours, and otherwise returns who has it; a new holder begins a new term. */
const takeStatement = `
  with taken as (
    update watch_lease set holder = $1, place = $2, valid_until = clock_timestamp() + $3 * interval '1 millisecond',
      term = case when holder = $1 and valid_until > clock_timestamp() then term else term + 1 end
    where holder is null or holder = $1 or valid_until <= clock_timestamp()
    returning term
  )
  select (select term from taken) as term, place as elsewhere from watch_lease`

const giveBackStatement = `
  update watch_lease set holder = null, place = null, valid_until = '-infinity' where holder = $1 returning term`

interface Row {
  readonly term: number | null
  readonly elsewhere: string | null
}

const none: LeaseState = { term: null, elsewhere: null }

/** Logs a change of state. */
const logChange = (before: LeaseState, { elsewhere, term }: LeaseState): Effect.Effect<void> => {
  if (term !== null) return before.term === null ? Effect.logInfo("This process watches the accounts") : Effect.void
  if (before.term !== null) {
    return Effect.logWarning("The right to watch the accounts could not be renewed in time: sessions are closed")
  }
  return elsewhere === null || elsewhere === before.elsewhere ? Effect.void : Effect.logInfo(
    `Another process watches the accounts (${elsewhere}): this one takes over when it ends`
  )
}

/**
 * Takes the lease, keeps it, and waits for it while another process has it.
 *
 * The end of the lease is counted from before the renewing statement was sent. All of it runs in real time, whatever
 * the `Clock` says, because it is the messenger that ends a key.
 */
export const layer = (
  options: Options = {}
): Layer.Layer<Ownership, never, SqlClient.SqlClient | SecureRandom.SecureRandom> =>
  Layer.effect(
    Ownership,
    Effect.gen(function*() {
      const {
        asked = "2 seconds",
        lasts = "12 seconds",
        margin = "2 seconds",
        instant = hostInstant,
        renewed = "4 seconds"
      } = options
      const sql = yield* SqlClient.SqlClient
      const holder = yield* (yield* SecureRandom.SecureRandom).uuidV7()
      const place = `process ${process.pid} on ${os.hostname()}`
      const span = Duration.toMillis(Duration.fromInputUnsafe(lasts))
      const usable = span - Duration.toMillis(Duration.fromInputUnsafe(margin))
      const published = yield* PubSub.unbounded<LeaseState>()
      let state = none
      let held: { readonly term: number; readonly until: Instant } | null = null

      const current = () => held !== null && isBefore(instant(), held.until) ? held.term : null

      const become = Effect.fnUntraced(function*(next: LeaseState) {
        const before = state
        if (before.term === next.term && before.elsewhere === next.elsewhere) return
        state = next
        if (before.term !== next.term) yield* PubSub.publish(published, next)
        yield* logChange(before, next)
      })

      const ask = Effect.gen(function*() {
        const sent = instant()
        const [row] = yield* Tenant.ask<Row>(sql, takeStatement, [holder, place, span])
        if (row === undefined) return
        held = row.term === null ? null : { term: row.term, until: plus(sent, usable) }
        yield* become(
          row.term === null ? { term: null, elsewhere: row.elsewhere } : { term: current(), elsewhere: null }
        )
      }).pipe(
        Effect.timeoutOption(renewed),
        Effect.map(Option.isSome),
        // While the database is away the lease runs out by itself.
        Effect.orElseSucceed(() => false)
      )

      const kept = Effect.gen(function*() {
        const answered = yield* ask
        yield* Effect.sleep(answered && current() !== null ? renewed : asked)
      })

      const ended = Effect.suspend(() => state.term !== null && current() === null ? become(none) : Effect.void)

      const real = Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
      yield* Gauge.show(
        "console_watching",
        "1 in the process that watches the accounts, 0 in one that waits",
        () => current() === null ? 0 : 1
      )
      yield* Effect.addFinalizer(() =>
        Effect.ignore(Effect.suspend(() => {
          held = null
          return Tenant.ask(sql, giveBackStatement, [holder])
        }))
      )
      yield* real(ask)
      yield* Effect.forkScoped(real(Effect.forever(kept)))
      yield* Effect.forkScoped(real(Effect.repeat(ended, Schedule.spaced(watchInterval))))
      return {
        term: current,
        owned: () => current() === null ? new Set() : everySlot,
        changes: Stream.map(Stream.fromPubSub(published), () => everySlot),
        closing: () => Effect.void
      }
    })
  )
