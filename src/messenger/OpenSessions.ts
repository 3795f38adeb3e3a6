/** The service's sessions on the messenger that this process keeps open, and what the messenger pushes through them. */
import { Clock, Context, Duration, Effect, Exit, Latch, Layer, Scope, Stream } from "effect"
import { slotOf } from "../domain/accounts/Slot.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import { messengerTimeout } from "../domain/Limits.ts"
import type { MessengerEvent, SessionRef } from "../domain/messenger/Messenger.ts"
import type { LockedAccountRef } from "../ports/accounts/AccountLock.ts"
import {
  type LiveSession,
  type MessengerFailure,
  MessengerSession,
  PlatformUnavailable
} from "../ports/messenger/MessengerSession.ts"
import { Ownership } from "../ports/messenger/Ownership.ts"
import { Alarm } from "../ports/protection/Alarm.ts"
import { Monitors } from "../ports/protection/Monitors.ts"
import * as SessionMetrics from "./SessionMetrics.ts"

type Account = Pick<LockedAccountRef, "accountId" | "organizationId">

/** Limits the time of a call; one that takes longer counts as unavailable. */
export const inTime = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E | PlatformUnavailable, R> =>
  Effect.timeoutOrElse(call, { duration: messengerTimeout, orElse: () => Effect.fail(new PlatformUnavailable({})) })

/** After so many polls because of pushes, one by one as they come, the next ones of a session are so far apart. */
const pushesAtOnce = 3
const pushInterval = 5000

/** A push that the database does not answer is stored again after a pause each, for as long as a slot may last. */
const pause = Duration.seconds(1)
const again = { times: 15 }

/** The rate at which a session's pushes make its account due: a flood of pushes does not cause a flood of polls. */
class Pace {
  private due = 0
  private until = 0
  private waits = false

  /** The time when a push makes the account due, in ms; those that wait for one poll count as one. */
  push(now: number): number {
    if (!this.waits) {
      this.waits = true
      const latest = now + (pushesAtOnce + 1) * pushInterval
      this.until = Math.min(Math.max(this.until, now) + pushInterval, latest)
      this.due = this.until - pushesAtOnce * pushInterval
    }
    return Math.max(now, this.due)
  }

  /** A poll has begun. */
  looked(): void {
    this.waits = false
  }
}

interface Open {
  readonly account: Account
  /** The term of its slot in which it was opened. */
  readonly term: number | null
  readonly live: LiveSession
  readonly scope: Scope.Closeable
  readonly pace: Pace
  /** The number of steps that use it now. */
  users: number
}

export interface Options {
  /** The number of sessions that stay open: beyond that, the most recently used that is idle is closed. */
  readonly maxLive: number
}

/** Open sessions by reference. */
export class LiveSessions extends Context.Service<LiveSessions, {
  /** Uses the session of an account, which stays open for its pushes. */
  use(account: Account, ref: SessionRef): Effect.Effect<LiveSession, MessengerFailure, Scope.Scope>
  /** True while a step of the watch uses the session. */
  isUsed(ref: SessionRef): boolean
  /** Closes the session: its account is not watched any more, or the messenger says that it is gone. */
  close(ref: SessionRef): Effect.Effect<void>
  /** Closes the session and forgets its key. */
  forget(ref: SessionRef): Effect.Effect<void, PlatformUnavailable>
  /** Closes the sessions of accounts that are not watched any more, and those that a newer one has replaced. */
  readonly closeUnwatched: Effect.Effect<void, ServiceUnavailable>
  /** The number of login codes that the messenger has sent to the account since they were last taken. */
  takeCodes(account: Account): Effect.Effect<number>
  /** Gives back codes that were taken and not stored. */
  keepCodes(account: Account, count: number): Effect.Effect<void>
  /** Waits until every received push is stored, and returns their number. */
  readonly heard: Effect.Effect<number>
}>()("org-security-console/messenger/OpenSessions/LiveSessions") {
  static readonly layer = ({ maxLive }: Options) =>
    Layer.effect(
      LiveSessions,
      Effect.gen(function*() {
        const alarm = yield* Alarm
        const messenger = yield* MessengerSession
        const monitors = yield* Monitors
        const ownership = yield* Ownership
        const around = yield* Effect.scope
        const opened = new Map<SessionRef, Open>()
        const codes = new Map<string, number>()
        const pushes = { heard: 0, underWay: 0, none: Latch.makeUnsafe(true) }

        const keep = ({ accountId }: Account, sent: number) => {
          if (sent > 0) codes.set(accountId, (codes.get(accountId) ?? 0) + sent)
        }

        /** Counts a push while it is being stored. */
        const counted = <A>(push: Effect.Effect<A>) =>
          Effect.acquireUseRelease(
            Effect.sync(() => {
              pushes.heard += 1
              pushes.underWay += 1
              pushes.none.closeUnsafe()
            }),
            () => push,
            () =>
              Effect.sync(() => {
                pushes.underWay -= 1
                if (pushes.underWay === 0) pushes.none.openUnsafe()
              })
          )

        const close = (ref: SessionRef) =>
          Effect.suspend(() => {
            const open = opened.get(ref)
            opened.delete(ref)
            return open === undefined
              ? Effect.void
              : Effect.andThen(SessionMetrics.setOpen(opened.size), Scope.close(open.scope, Exit.void))
          })

        /**
         * Pushes only trigger polls, and a poll finds the truth: a lost push costs a minute. One that the database does
         * not answer is stored as soon as it does, while those after it wait.
         */
        const heard = (account: Account, ref: SessionRef, pace: Pace) => (events: ReadonlyArray<MessengerEvent>) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            const sent = events.filter(({ _tag }) => _tag === "CodeSent").length
            keep(account, sent)
            const look = events.some(({ _tag }) => _tag === "Gap" || _tag === "ProfileChanged")
            const lost = events.some(({ _tag }) => _tag === "Lost")
            const at = pace.push(now)
            const push = monitors.push([account], { at: new Date(at), look })
            // No other process polls the account.
            const stored = at > now ? push : Effect.andThen(push, alarm.wake)
            return counted(Effect.isSuccess(stored)).pipe(
              Effect.flatMap((done) =>
                done ? Effect.void : Effect.ignore(Effect.retry(Effect.delay(stored, pause), again))
              ),
              Effect.andThen(lost ? Effect.forkIn(close(ref), around) : Effect.void)
            )
          })

        const open = Effect.fnUntraced(function*(account: Account, ref: SessionRef) {
          const scope = yield* Scope.fork(around)
          const slot = slotOf(account.accountId)
          const term = ownership.term(slot)
          const pace = new Pace()
          return yield* inTime(Scope.provide(messenger.open(ref, slot), scope)).pipe(
            Effect.tap(SessionMetrics.countOpened),
            Effect.tap((live) => Effect.forkIn(Stream.runForEachArray(live.events, heard(account, ref, pace)), scope)),
            Effect.map((live): Open => ({ account, term, live, scope, pace, users: 0 })),
            Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
          )
        })

        const isOwned = ({ account, term }: Open) => ownership.term(slotOf(account.accountId)) === term

        /** The session if it is open; what was opened in an earlier term is closed. */
        const known = Effect.fnUntraced(function*(ref: SessionRef) {
          const open = opened.get(ref)
          if (open === undefined || isOwned(open)) return open
          yield* close(ref)
        })

        /** Closes a session, if too many are open: accounts are polled in turn, and this one is due after all others. */
        const evict = Effect.suspend(() => {
          if (opened.size <= maxLive) return Effect.void
          const [ref] = [...opened].findLast(([, { users }]) => users === 0) ?? []
          return ref === undefined ? Effect.void : close(ref)
        })

        const closeAll = (which: (open: Open) => boolean) =>
          Effect.forEach([...opened].filter(([, open]) => which(open)), ([ref]) => close(ref), { discard: true })
        yield* ownership.changes.pipe(
          Stream.runForEach(() => closeAll((open) => !isOwned(open))),
          Effect.forkScoped({ startImmediately: true })
        )
        yield* ownership.closing((slots) => closeAll(({ account }) => slots.has(slotOf(account.accountId))))

        return {
          use: (account, ref) =>
            Effect.acquireRelease(
              Effect.gen(function*() {
                const found = (yield* known(ref)) ?? (yield* open(account, ref))
                found.users += 1
                found.pace.looked()
                // The most recently used comes last.
                opened.delete(ref)
                opened.set(ref, found)
                yield* SessionMetrics.setOpen(opened.size)
                yield* evict
                return found
              }),
              (used) => Effect.sync(() => void (used.users -= 1)),
              { interruptible: true }
            ).pipe(Effect.map(({ live }) => live)),
          isUsed: (ref) => (opened.get(ref)?.users ?? 0) > 0,
          close,
          closeUnwatched: Effect.suspend(() => {
            const idle = new Map([...opened].filter(([, { users }]) => users === 0))
            const asked = [...idle].map(([ref, { account }]) => ({ ...account, ref }))
            return Effect.flatMap(monitors.unwatched(asked), (refs) =>
              Effect.forEach(refs, (ref) =>
                Effect.suspend(() => {
                  const open = opened.get(ref)
                  // It may have been used again, or another one opened, during the query.
                  if (open === undefined || open !== idle.get(ref) || open.users > 0) {
                    return Effect.void
                  }
                  // Nobody waits for the codes that were sent to it.
                  codes.delete(open.account.accountId)
                  return close(ref)
                }), { discard: true }))
          }),
          forget: (ref) =>
            Effect.andThen(close(ref), messenger.forget(ref)),
          takeCodes: ({ accountId }) =>
            Effect.sync(() => {
              const count = codes.get(accountId) ?? 0
              codes.delete(accountId)
              return count
            }),
          keepCodes: (account, count) =>
            Effect.sync(() => keep(account, count)),
          heard: Effect.andThen(
            pushes.none.await,
            Effect.sync(() => pushes.heard)
          )
        }
      })
    )
}
