/** The accounts whose chats are archived as they change: one has a fiber only while there is something to do. */
import { Cause, Clock, Duration, Effect, Exit, FiberMap, Option, Schedule, Scope, Semaphore } from "effect"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { Box, ChatFeed, PushListener } from "../ports/messenger/MessengerArchive.ts"
import { PlatformBusy } from "../ports/messenger/MessengerSession.ts"
import { databasePause, isAway } from "./Away.ts"
import * as CaptureMetrics from "./CaptureMetrics.ts"
import { CaptureStopped } from "./CaptureStop.ts"
import { DueBoxes } from "./DueBoxes.ts"
import { firstRound, glance, type GlanceRound } from "./Glances.ts"
import { Inbox, InboxSpace } from "./Inbox.ts"
import { allBoxes, catchUpSome, gapTime, takePushes } from "./LiveCapture.ts"
import { type FileTurns, type LiveSession, makeLiveFiles } from "./LiveFiles.ts"
import { shareOf } from "./NextRuns.ts"
import { keyOf } from "./OpenArchives.ts"

/** Pushes are stored together: at most so many, and those of this time. */
const pushesPerStep = 100
const gatheringTime = Duration.millis(250)

/** A feed that was silent for so long is asked for the difference of the common box. */
const silence = Duration.minutes(15)

/** Each channel that pushed nothing is looked at so often where something came within a day, and hourly otherwise. */
const glanceTime = Duration.minutes(5)
const quietGlanceTime = Duration.hours(1)
const quietAfter = Duration.days(1)

/** Glances and differences that are due begin so much later at most. */
const turnPause = Duration.seconds(5)

/** Feeds that catch up at the same time when they begin, as all of a process do when it starts. */
const feedsBeginning = 16

/** An account whose feed ended is not asked again before this. */
const feedPause = Duration.seconds(30)

/** An account whose feed cannot begin yet is asked again once the wait that the messenger demands is over. */
const restAfter = (cause: Cause.Cause<unknown>): Duration.Duration => {
  const failure = Option.getOrNull(Cause.findErrorOption(cause))
  return failure instanceof PlatformBusy
    ? Duration.max(feedPause, Duration.seconds(failure.retryAfterSeconds))
    : feedPause
}

/** The little that is kept of an account while there is nothing to do; times are in ms. */
interface Live {
  readonly key: string
  readonly account: ArchivedAccount
  readonly scope: Scope.Closeable
  readonly inbox: Inbox
  readonly files: FileTurns
  readonly due: DueBoxes
  /** Null until its first turn. */
  session: LiveSession | null
  /** The last push, and the last questions. */
  heardAt: number
  glancedAt: number
  askedAt: number
  /** Boxes that pushed something in this round of glances. */
  active: ReadonlySet<Box>
  round: GlanceRound
}

const noBoxes: ReadonlySet<Box> = new Set()

const nextGlance = ({ glancedAt, heardAt, round }: Live, at: number): number => {
  const period = at - heardAt < Duration.toMillis(quietAfter) ? glanceTime : quietGlanceTime
  return glancedAt + Duration.toMillis(period) / round.glances
}

const nextDifference = ({ askedAt }: Live): number => askedAt + Duration.toMillis(silence)

/** Asks what is due of an account whose feed has begun, besides its pushes. */
const ask = Effect.fnUntraced(function*(live: Live, feed: ChatFeed) {
  const at = yield* Clock.currentTimeMillis
  const due = nextGlance(live, at)
  if (at >= due) {
    // One that begins late delays none after it.
    live.glancedAt = Math.max(due, at - Duration.toMillis(turnPause))
    // One that is not answered is left out.
    const found = yield* Effect.catchIf(
      glance(live.account, feed, live.active, live.round),
      isAway,
      () => Effect.succeed(null)
    )
    if (found !== null) {
      live.due.add(found.behind)
      live.round = found.round
      if (live.round.had.size === 0) live.active = noBoxes
    }
  }
  if (at >= nextDifference(live)) {
    live.due.add(["common"])
    live.askedAt = at
  }
  yield* catchUpSome(live.account, feed, live.due)
})

/** Makes the step again until the database answers; what is pushed is kept meanwhile. */
const whereAnswered = <A, E, R>(step: Effect.Effect<A, E, R>) =>
  Effect.retry(step, { schedule: Schedule.spaced(databasePause), while: isAway })

/** Begins to catch up with what was missed before the feed began. */
const begin = Effect.fnUntraced(function*(live: Live, session: LiveSession) {
  const { account } = live
  const files = yield* makeLiveFiles(account, session, live.files)
  live.due.add(yield* whereAnswered(allBoxes(account)))
  yield* catchUpSome(account, files.feed, live.due)
  yield* files.begin
  live.heardAt = yield* Clock.currentTimeMillis
  // Feeds that begin together do not ask together for ever.
  const share = shareOf(account.accountId)
  live.glancedAt = live.heardAt - share * Duration.toMillis(glanceTime)
  live.askedAt = live.heardAt - share * Duration.toMillis(silence)
})

/** Does what there is to do for the account; fails where its session has ended, or nothing may be stored. */
const act = Effect.fnUntraced(function*(live: Live, session: LiveSession) {
  const { account, due, inbox } = live
  const files = yield* makeLiveFiles(account, session, live.files)
  while (true) {
    if (inbox.isOver) return yield* new CaptureStopped({ reason: "no_connection" })
    if (inbox.isDue) {
      yield* Effect.sleep(gatheringTime)
      const batch = yield* inbox.take(pushesPerStep)
      live.heardAt = yield* Clock.currentTimeMillis
      live.askedAt = live.heardAt
      live.active = new Set([...live.active, ...batch.map(({ box }) => box)])
      files.note(batch)
      const arrived = batch.filter(({ _tag }) => _tag === "Pushed").length
      const stored = whereAnswered(takePushes(account, batch))
      const behind = yield* Effect.onError(stored, () => CaptureMetrics.dropped(arrived))
      if (behind.length > 0) yield* Effect.sleep(gapTime)
      due.add(behind)
    }
    yield* ask(live, files.feed)
    yield* files.begin
    const at = yield* Clock.currentTimeMillis
    if (!inbox.isDue && !due.isDue(at)) return
  }
})

/** Archives accounts as they change, over the sessions that `connect` opens. */
export const makeLiveAccounts = Effect.fnUntraced(function*<E, R>(
  connect: (account: ArchivedAccount, listener: PushListener) => Effect.Effect<LiveSession, E, R>
) {
  const all = new Map<string, Live>()
  const space = new InboxSpace()
  const restsUntil = new Map<string, number>()
  const places = Semaphore.makeUnsafe(feedsBeginning)
  // Fibers end before the sessions that they use.
  const sessions = yield* Effect.flatMap(Effect.scope, Scope.fork)
  const acting = yield* FiberMap.make<string, void, never>()

  const leave = Effect.fnUntraced(function*({ inbox, key, scope }: Live, pause: Duration.Duration) {
    all.delete(key)
    restsUntil.set(key, (yield* Clock.currentTimeMillis) + Duration.toMillis(pause))
    yield* Scope.close(scope, Exit.void)
    yield* inbox.giveUp
  })

  const turn = (live: Live) =>
    Effect.gen(function*() {
      live.session ??= yield* places.withPermit(
        Effect.tap(connect(live.account, live.inbox), (session) => begin(live, session))
      )
      yield* act(live, live.session)
    }).pipe(
      Scope.provide(live.scope),
      Effect.tapDefect((cause) => Effect.logError("Archiving of what was pushed failed", cause)),
      Effect.catchCause((cause) => leave(live, restAfter(cause)))
    )

  const run = yield* FiberMap.runtime(acting)<Effect.Services<ReturnType<typeof turn>>>()
  const wake = (live: Live | undefined) => {
    if (live !== undefined) run(live.key, turn(live), { onlyIfMissing: true })
  }

  const start = Effect.fnUntraced(function*(account: ArchivedAccount, key: string, at: number) {
    restsUntil.delete(key)
    const live: Live = {
      key,
      account,
      scope: yield* Scope.fork(sessions),
      inbox: new Inbox(() => wake(all.get(key)), space),
      files: { waiting: [], isReading: false },
      due: new DueBoxes(),
      session: null,
      heardAt: at,
      glancedAt: at,
      askedAt: at,
      active: noBoxes,
      round: firstRound
    }
    all.set(key, live)
    wake(live)
  })

  return {
    /** Begins with those of the accounts that have not begun, and with what is due of all; called every five seconds. */
    goOn: Effect.fnUntraced(function*(accounts: ReadonlyArray<ArchivedAccount>) {
      const at = yield* Clock.currentTimeMillis
      for (const account of accounts) {
        const key = keyOf(account)
        if (!all.has(key) && (restsUntil.get(key) ?? 0) <= at) yield* start(account, key, at)
      }
      for (const live of all.values()) {
        const isDue = live.inbox.isDue || live.due.isDue(at)
        if (isDue || at >= nextGlance(live, at) || at >= nextDifference(live)) wake(live)
      }
    }),
    /** Ends with the accounts, and waits until nothing is under way. */
    end: (isEnded: (account: ArchivedAccount) => boolean) =>
      Effect.forEach(
        [...all.values()].filter(({ account }) => isEnded(account)),
        (live) =>
          Effect.suspend(() => {
            // Nothing wakes it any more.
            all.delete(live.key)
            return Effect.andThen(FiberMap.remove(acting, live.key), leave(live, feedPause))
          }),
        { concurrency: "unbounded", discard: true }
      )
  }
})
