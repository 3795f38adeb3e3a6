/**
 * The looks of many workers, played on a clock of their own: each worker takes and gives back its accounts by the
 * service's own statements and cadence, on tables of full size. What is in between, the look itself, is left out.
 */
import { Clock, Effect, Layer } from "effect"
import { everySlot, type Slot } from "../../src/domain/accounts/Slot.ts"
import * as Randomness from "../../src/layers/crypto/Randomness.ts"
import * as MonitorsSql from "../../src/layers/sql/protection/Monitors.ts"
import { Monitors, type QuietPoll } from "../../src/ports/protection/Monitors.ts"
import { Cadence } from "../../src/protection/Cadence.ts"
import { postgresLayer } from "../../test/support/postgres/databaseRoles.ts"
import { cpuOfFamily } from "../peers/processes.ts"
import { type Ground, startGround, walPosition } from "../support/ground.ts"

/** As the watch of one process does: accounts at the same time, and when those that were quiet are given back. */
const places = 256
const roomOfOne = places / 2
const flushed = 100
const flushPeriod = 250

/** The time of a look, and from one of an account to the next, in ms. */
const lookTime = 50
const lookPeriod = 60_000

/** In ms of the played time. */
const warmUp = 5000
const measured = 10_000

export interface Looks {
  readonly accounts: number
  readonly organizations: number
  readonly workers: number
  /** A second of the played time. */
  readonly looks: number
  readonly claims: number
  readonly returns: number
  /** Processor time of the database a look in ms, and its log in bytes. */
  readonly databaseCpu: number
  readonly wal: number
}

/** Monitors of watched accounts that are due evenly over a minute; the tables that they belong to stay empty. */
const fillMonitors = async ({ superuser }: Ground, accounts: number, organizations: number) => {
  await superuser.query("set session_replication_role = replica")
  await superuser.query(
    `insert into monitor (organization_id, account_id, next_at, started_at, last_polled_at, last_ok_at, look_at, seen_mark)
    select 'organization-' || n % $2, md5(n::text)::uuid, now() + n::float8 / $1 * interval '60 s', now(), now(), now(),
      now() + interval '1 day', md5(n::text)
    from generate_series(1, $1::int) as n order by md5(n::text)`,
    [accounts, organizations]
  )
  await superuser.query(
    `insert into service_session (organization_id, account_id, slot, session_ref, created_at)
    select organization_id, account_id, 'main', account_id::text, now() from monitor`
  )
  await superuser.query("set session_replication_role = origin")
  await superuser.query("vacuum analyze")
}

interface Worker {
  readonly slots: ReadonlySet<Slot>
  readonly cadence: Cadence
  readonly quiet: Array<QuietPoll>
  /** The times of the next round of claims, and of the next return. */
  claimAt: number
  returnAt: number
}

const play = (
  workers: ReadonlyArray<Worker>,
  start: number,
  clock: { now: number },
  counted: { looks: number; claims: number; returns: number }
) =>
  Effect.gen(function*() {
    const monitors = yield* Monitors
    const giveBack = Effect.fnUntraced(function*(worker: Worker) {
      const some = worker.quiet.splice(0, flushed)
      if (worker.quiet.length === 0) worker.returnAt = Infinity
      counted.returns += 1
      yield* monitors.finish(some)
    })
    const claim = Effect.fnUntraced(function*(worker: Worker) {
      const at = clock.now
      const { accounts, pressing } = yield* monitors.claim({
        slots: worker.slots,
        free: places,
        room: roomOfOne,
        rooms: new Map()
      })
      counted.claims += 1
      counted.looks += accounts.length
      worker.quiet.push(...accounts.map((account) => ({ ...account, next_at: new Date(at + lookPeriod) })))
      const { length } = worker.quiet
      if (length > 0) {
        worker.returnAt = Math.min(worker.returnAt, at + lookTime + (length < flushed ? flushPeriod : 0))
      }
      // More is due than there are places: the next ones follow these.
      if (accounts.length === places) return void (worker.claimAt = at + lookTime)
      worker.cadence.ended(at, at, accounts.length, pressing)
      worker.claimAt = at + Math.max(1, worker.cadence.wait(at))
    })
    return (until: number) =>
      Effect.gen(function*() {
        while (true) {
          const next = workers.reduce((first, worker) =>
            Math.min(worker.claimAt, worker.returnAt) < Math.min(first.claimAt, first.returnAt) ? worker : first
          )
          const at = Math.min(next.claimAt, next.returnAt)
          if (at >= start + until) return
          clock.now = Math.max(clock.now, at)
          yield* next.returnAt <= next.claimAt ? giveBack(next) : claim(next)
        }
      })
  })

/** Plays the looks of so many accounts, in organizations of the same size, over so many workers. */
export const playLooks = async (accounts: number, organizations: number, workers: number): Promise<Looks> => {
  const ground = await startGround()
  try {
    await fillMonitors(ground, accounts, organizations)
    const { rows } = await ground.superuser.query(
      "select extract(epoch from min(next_at))::float8 * 1000 as start from monitor"
    )
    const start: number = rows[0].start
    const clock = { now: start }
    const played: Clock.Clock = {
      ...Clock.Clock.defaultValue(),
      currentTimeMillisUnsafe: () => clock.now,
      currentTimeMillis: Effect.sync(() => clock.now)
    }
    const shares = Array.from({ length: workers }, (_, place): Worker => ({
      slots: new Set([...everySlot].filter((slot) => slot % workers === place)),
      cadence: new Cadence(),
      quiet: [],
      claimAt: start + place / workers * 1000,
      returnAt: Infinity
    }))
    const counted = { looks: 0, claims: 0, returns: 0 }
    return await Effect.gen(function*() {
      const until = yield* play(shares, start, clock, counted)
      yield* until(warmUp)
      Object.assign(counted, { looks: 0, claims: 0, returns: 0 })
      const [cpu, wal] = [cpuOfFamily(ground.pid), yield* Effect.promise(() => walPosition(ground))]
      yield* until(warmUp + measured)
      const walAfter = yield* Effect.promise(() => walPosition(ground))
      const seconds = measured / 1000
      return {
        accounts,
        organizations,
        workers,
        looks: counted.looks / seconds,
        claims: counted.claims / seconds,
        returns: counted.returns / seconds,
        databaseCpu: (cpuOfFamily(ground.pid) - cpu) / counted.looks,
        wal: (walAfter - wal) / counted.looks
      }
    }).pipe(
      Effect.provideService(Clock.Clock, played),
      Effect.provide(MonitorsSql.layer.pipe(Layer.provide(Randomness.layer), Layer.provide(postgresLayer(ground.url)))),
      Effect.runPromise
    )
  } finally {
    await ground.remove()
  }
}
