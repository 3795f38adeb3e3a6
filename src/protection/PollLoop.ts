/** Watches the accounts that are due: takes them, runs a step of each, and gives them back. */
import { type Cause, Clock, Context, Duration, Effect, FiberHandle, FiberSet, Layer, Stream } from "effect"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import { awayReported } from "../domain/Limits.ts"
import type { DecideOptions } from "../domain/protection/Facts.ts"
import { OutageDetector } from "../domain/protection/OutageDetector.ts"
import { LiveSessions } from "../messenger/OpenSessions.ts"
import { AccountLock, type AccountLockLost } from "../ports/accounts/AccountLock.ts"
import { Ownership } from "../ports/messenger/Ownership.ts"
import { Alarm } from "../ports/protection/Alarm.ts"
import { Outages } from "../ports/protection/MessengerOutages.ts"
import { type ClaimedAccount, Monitors, type QuietPoll } from "../ports/protection/Monitors.ts"
import type { ChoreServices } from "./AccountTaskChange.ts"
import { chores } from "./AccountTasks.ts"
import { afterAlarm, Cadence } from "./Cadence.ts"
import * as PollMetrics from "./PollMetrics.ts"
import { step, type StepResult, type StepServices } from "./Step.ts"

/** The number of accounts that a process polls at the same time, and of one organization while others wait. */
const places = 256
const placesOfOne = places / 2

/** The number of places that have to be free before a busy process queries for due accounts again. */
const worthAsking = places / 4

/** The number of accounts polled while the messenger is away, so that it is not flooded when it returns. */
const placesAway = 6

/** The wait before an announcement that failed is tried again. */
const noticePause = Duration.seconds(10)

/** The time until polls that found nothing new are stored, and the most that are stored together. */
const flushPeriod = Duration.millis(250)
const flushed = 100

/** The time that a process that stops waits for its steps. */
const stopTimeout = Duration.seconds(10)

/** The time that one run keeps taking accounts while more are due. */
const longestRun = Duration.seconds(15)

export interface Report {
  /** The number of steps that were run. */
  readonly steps: number
  /** The number of sessions that were signed out. */
  readonly signedOut: number
}

/** The watch over the accounts of one process. */
export class Engine extends Context.Service<Engine, {
  /** Runs everything that is due now by the Clock, waits for it, and reports what it did. */
  readonly tick: Effect.Effect<Report, ServiceUnavailable>
  /**
   * Starts what is due and does not wait for it: what is repeated after each `pause`. Answers how many were started.
   */
  readonly claim: Effect.Effect<number, ServiceUnavailable>
  /**
   * Waits until it is time to claim again: 3 seconds at most, less where much is due, something waits or was heard of.
   */
  readonly pause: Effect.Effect<void>
  /** True while accounts are claimed or looked at: what can wait gives way. */
  readonly isLooking: () => boolean
  /** Starts nothing from now on; running steps continue. */
  readonly stop: Effect.Effect<void>
  /** Makes the service's own changes on the messenger that are due, and waits for them; returns their number. */
  readonly secure: Effect.Effect<number, ServiceUnavailable>
  /** Closes the open sessions of accounts that are not watched any more. */
  readonly closeUnwatched: Effect.Effect<void, ServiceUnavailable>
  /** The time when the next account is due; null where none is watched. */
  readonly nextDue: Effect.Effect<Date | null, ServiceUnavailable>
}>()("org-security-console/protection/PollLoop/Engine") {
  static readonly layer = (options: DecideOptions) =>
    Layer.effect(
      Engine,
      Effect.gen(function*() {
        const alarm = yield* Alarm
        const guard = yield* AccountLock
        const monitors = yield* Monitors
        const outages = yield* Outages
        const ownership = yield* Ownership
        const sessions = yield* LiveSessions
        const services = yield* Effect.context<ChoreServices | StepServices>()
        const around = yield* Effect.scope
        const fibers = yield* FiberSet.make<void, never>()
        const busy = new Map<string, number>()
        const quiet: Array<QuietPoll> = []
        const detector = new OutageDetector()
        const cadence = new Cadence()
        const announcement = yield* FiberHandle.make<void, never>()
        const notices = { away: false, back: false, after: 0 }
        let stopped = false
        let claiming = false
        let report: Report = { steps: 0, signedOut: 0 }

        const flush = Effect.suspend(() => {
          const some = quiet.splice(0, flushed)
          // Polls that could not be stored are due again when the hold expires.
          return some.length === 0 ? Effect.void : Effect.ignore(monitors.finish(some))
        })

        const taken = () => [...busy.values()].reduce((sum, count) => sum + count, 0)

        const count = (organization: string, by: number) =>
          Effect.suspend(() => {
            const left = (busy.get(organization) ?? 0) + by
            if (left === 0) busy.delete(organization)
            else busy.set(organization, left)
            return PollMetrics.runs(taken())
          })

        const ended = Effect.fnUntraced(function*(claimed: ClaimedAccount, stepped: StepResult) {
          yield* PollMetrics.polled(stepped.kind)
          report = { ...report, steps: report.steps + 1 }
          if (detector.looked(yield* Clock.currentTimeMillis, claimed.accountId, stepped.messenger)) notices.back = true
          switch (stepped.kind) {
            case "quiet":
              quiet.push(stepped.quiet)
              if (quiet.length === 1) yield* Effect.forkIn(Effect.delay(flush, flushPeriod), around)
              return quiet.length < flushed ? undefined : yield* flush
            case "outdated":
              // It is due again immediately.
              return yield* Effect.andThen(guard.release(claimed), alarm.wake)
            case "written":
              report = { ...report, signedOut: report.signedOut + stepped.signedOut }
          }
        })

        /** After a failure the account stays held, and is polled again once the hold has expired. */
        const failed = (cause: Cause.Cause<AccountLockLost | ServiceUnavailable>) =>
          Effect.andThen(
            PollMetrics.polled("failed"),
            cause.reasons.some(({ _tag }) => _tag === "Die")
              ? Effect.logError("A look at an account failed", cause)
              : Effect.void
          )

        const run = (claimed: ClaimedAccount): Effect.Effect<void> =>
          step(claimed, options, () => detector.awaySince !== null).pipe(
            Effect.scoped,
            // One that is cut off at the end gives the account back, for the process that watches next.
            Effect.onInterrupt(() => guard.release(claimed)),
            Effect.matchCauseEffect({ onFailure: failed, onSuccess: (stepped) => ended(claimed, stepped) }),
            Effect.ensuring(count(claimed.organizationId, -1)),
            Effect.provideContext(services)
          )

        /** Notifies organizations that the messenger has been away for long, or that it is back. */
        const notifyOutage = Effect.gen(function*() {
          const { back } = notices
          notices.back = false
          const done = yield* back ? outages.notifyBack : outages.notifyAll
          if (!back) notices.away = done
          if (done) return
          notices.back ||= back
          notices.after = (yield* Clock.currentTimeMillis) + Duration.toMillis(noticePause)
        })

        /** Starts due notifications next to the polls, so that one slow organization does not delay them. */
        const announce = Effect.gen(function*() {
          const since = detector.awaySince
          if (since === null) notices.away = false
          else notices.back = false
          const now = yield* Clock.currentTimeMillis
          const long = since !== null && now >= since + Duration.toMillis(awayReported)
          if (now < notices.after || !notices.back && (!long || notices.away)) return
          yield* FiberHandle.run(announcement, notifyOutage, { onlyIfMissing: true })
        })

        /** Starts steps in the places that are free, and returns their number, and if that is all for now. */
        const start = Effect.gen(function*() {
          const slots = ownership.owned()
          // Nothing is due in a process that has no slot.
          if (stopped || slots.size === 0) return { over: true, started: 0, pressing: null }
          yield* announce
          const away = detector.awaySince !== null
          const free = (away ? placesAway : places) - taken()
          if (free <= 0) return { over: away, started: 0, pressing: null }
          const rooms = new Map([...busy].map(([organization, of]) => [organization, placesOfOne - of]))
          const { accounts, pressing } = yield* monitors.claim({ slots, free, room: placesOfOne, rooms })
          for (const one of accounts) {
            yield* count(one.organizationId, 1)
            yield* PollMetrics.began(one.next_at)
            yield* FiberSet.run(fibers, run(one))
          }
          return { over: away || accounts.length < free, started: accounts.length, pressing }
        })

        const isWorth = () => places - taken() >= worthAsking
        const someDone = Effect.suspend(() => isWorth() ? Effect.void : Effect.sleep("10 millis")).pipe(
          Effect.repeat({ until: isWorth })
        )

        const claims = Effect.gen(function*() {
          const began = yield* Clock.currentTimeMillis
          let all = 0
          while (true) {
            const { over, pressing, started } = yield* start
            all += started
            const now = yield* Clock.currentTimeMillis
            if (over) {
              cadence.ended(began, now, all, pressing)
              return all
            }
            if (now >= began + Duration.toMillis(longestRun)) {
              cadence.cut(began, now)
              return all
            }
            yield* someDone
          }
        })

        const claim = Effect.suspend(() => {
          claiming = true
          return Effect.ensuring(claims, Effect.sync(() => void (claiming = false)))
        })

        const pause = Effect.gen(function*() {
          const over = Effect.as(Effect.sleep(cadence.wait(yield* Clock.currentTimeMillis)), false)
          if (!(yield* Effect.raceFirst(over, Effect.as(alarm.heard, true)))) return
          cadence.rang()
          yield* Effect.sleep(afterAlarm)
        })

        // Slots that this process has got are begun with immediately.
        yield* ownership.changes.pipe(
          Stream.runForEach(() => alarm.wake),
          Effect.forkScoped({ startImmediately: true })
        )

        const secure = Effect.provideContext(chores, services)

        const tick = Effect.gen(function*() {
          report = { steps: 0, signedOut: 0 }
          yield* secure
          while (true) {
            const before = yield* sessions.heard
            const { over, started } = yield* start
            yield* FiberSet.awaitEmpty(fibers)
            yield* FiberHandle.awaitEmpty(announcement)
            yield* flush
            // A push may have come between the statements that take what is due.
            if ((yield* sessions.heard) > before || started > 0 && !(over && detector.awaySince !== null)) continue
            yield* secure
            return report
          }
        })

        // Steps that are under way finish what they have begun, as far as they can in time.
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => void (stopped = true)).pipe(
            Effect.andThen(FiberSet.awaitEmpty(fibers)),
            Effect.timeoutOption(stopTimeout),
            Effect.andThen(flush)
          )
        )
        return {
          tick,
          claim,
          pause,
          secure,
          isLooking: () => claiming || busy.size > 0,
          closeUnwatched: sessions.closeUnwatched,
          stop: Effect.sync(() => void (stopped = true)),
          nextDue: monitors.nextDue
        }
      })
    )
}
