/** Archiving of this process's accounts: runs that are due, and what is pushed between them. */
import { Cause, Clock, Context, Duration, Effect, Exit, FiberMap, Layer, Option, Semaphore, Stream } from "effect"
import { AccountId } from "../domain/accounts/Account.ts"
import { type Slot, slotOf } from "../domain/accounts/Slot.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import { accountsAtOnce, signOutLock } from "../domain/Limits.ts"
import { SessionRef } from "../domain/messenger/Messenger.ts"
import { now } from "../domain/Moments.ts"
import { inTime, LiveSessions } from "../messenger/OpenSessions.ts"
import { Accounts } from "../ports/accounts/Accounts.ts"
import type { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import type { ArchiveKeys } from "../ports/archive/ArchiveKeys.ts"
import type { ArchiveRecords } from "../ports/archive/ArchiveRecords.ts"
import type { ArchiveRules } from "../ports/archive/ArchiveRules.ts"
import { ArchiveRuns, type ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import type { BlobStore } from "../ports/archive/BlobStore.ts"
import { CaptureStore } from "../ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import type { WaitingFiles } from "../ports/archive/WaitingFiles.ts"
import { Db } from "../ports/Db.ts"
import type { Journal } from "../ports/journal/Journal.ts"
import { MessengerArchive, type PushListener } from "../ports/messenger/MessengerArchive.ts"
import { Ownership } from "../ports/messenger/Ownership.ts"
import type { Organizations } from "../ports/organization/Organizations.ts"
import { runCapture } from "./CaptureRun.ts"
import { claimTime, GiveWay, keepClaim } from "./CaptureSteps.ts"
import { CaptureStopped } from "./CaptureStop.ts"
import { makeFloods } from "./Floods.ts"
import { makeLiveAccounts } from "./LiveAccounts.ts"
import { afterRun, type RunOutcome } from "./NextRuns.ts"
import { keyOf, OpenArchives } from "./OpenArchives.ts"
import { afterLooks, inTurn, makePacer, otherLooks, ownLook, type Pace } from "./Pacer.ts"
import { recordRun, runEvent } from "./RunEvents.ts"
import { ComparedAge } from "./Unchecked.ts"

export interface Options {
  /** The rate of calls for each account; all of the process together make as many as some accounts do alone. */
  readonly pace: Pace
  /** The rate of parts of files, of the whole process. */
  readonly mediaPace: Pace
  /** The number of runs at the same time. */
  readonly runs: number
  /** The number of accounts whose pushes are archived as they arrive. */
  readonly maxLive: number
  /** Older messages are not compared again after changes were lost; null for all. */
  readonly comparedAge: Duration.Duration | null
  /** True while the watch of this process looks: runs give way. */
  readonly isLooking: () => boolean
}

/** Contents that runs read at the same time, and those that are read as they are pushed: neither waits for the other. */
const runFiles = 4
const liveFiles = 4

type Services =
  | Accounts
  | ArchiveCrypto
  | ArchiveKeys
  | ArchiveRecords
  | ArchiveRules
  | ArchiveRuns
  | BlobStore
  | CaptureStore
  | Db
  | Journal
  | OpenArchives
  | Organizations
  | Ownership
  | WaitingFiles

const slotOfKey = (key: string): Slot => slotOf(AccountId.make(key.slice(key.lastIndexOf("/") + 1)))

/** The session through which the account's chats are read, and if the messenger may still be wary of it. */
const sessionOf = Effect.fnUntraced(function*({ accountId, organizationId }: ArchivedAccount) {
  const db = yield* Db
  const accounts = yield* Accounts
  const facts = yield* db.read(organizationId, accounts.known(organizationId, accountId))
  if (facts === null || facts.session_ref === null) return yield* new CaptureStopped({ reason: "no_connection" })
  const age = (yield* now).getTime() - (facts.connected_at?.getTime() ?? 0)
  return { ref: SessionRef.make(facts.session_ref), isNew: age < Duration.toMillis(signOutLock) }
})

const logUnproven = ({ accountId, organizationId }: ArchivedAccount) =>
  Effect.logError("Nothing proves the public key of an archive, and nothing is sealed to it", {
    organization: organizationId,
    account: accountId
  })

export class Capture extends Context.Service<Capture, {
  /** Starts the runs that are due, and the feeds of accounts that have none. */
  readonly claim: Effect.Effect<number, ServiceUnavailable>
  /** Runs what is due, and waits until nothing is. */
  readonly tick: Effect.Effect<number, ServiceUnavailable>
  /** Closes days that are over, and archives that nothing is written to. */
  readonly tend: Effect.Effect<void>
}>()("org-security-console/capture/Capture") {
  static readonly layer = ({ comparedAge, isLooking, maxLive, mediaPace, pace, runs: places }: Options) =>
    Layer.effect(
      Capture,
      Effect.gen(function*() {
        const messenger = yield* Effect.serviceOption(MessengerArchive)
        const archives = yield* OpenArchives
        const ownership = yield* Ownership
        const sessions = yield* LiveSessions
        const runs = yield* ArchiveRuns
        const store = yield* CaptureStore
        const accounts = yield* Accounts
        const db = yield* Db
        const giveWay = afterLooks(isLooking, otherLooks)
        const services = (yield* Effect.context<Services>()).pipe(
          Context.add(ComparedAge, comparedAge),
          Context.add(GiveWay, giveWay)
        )
        const works = yield* FiberMap.make<string, void, never>()
        const mediaPacer = inTurn(makePacer(mediaPace), giveWay)
        const processPacer = makePacer({ rate: accountsAtOnce * pace.rate, burst: accountsAtOnce * pace.burst })
        /** A session that is new makes half as many calls; none is made while a look at the account is under way. */
        const pacerOf = ({ isNew, ref }: { readonly isNew: boolean; readonly ref: SessionRef }) =>
          inTurn(
            makePacer(isNew ? { ...pace, rate: pace.rate / 2 } : pace),
            processPacer,
            afterLooks(() => sessions.isUsed(ref), ownLook),
            giveWay
          )
        const runPlaces = Semaphore.makeUnsafe(runFiles)
        const livePlaces = Semaphore.makeUnsafe(liveFiles)
        const floods = makeFloods()
        let underWay = 0

        const finish = Effect.fnUntraced(function*(run: ClaimedRun, outcome: RunOutcome) {
          const at = yield* now
          yield* db.transaction(
            run.organizationId,
            Effect.gen(function*() {
              // The account's archive before its run, as in every step.
              const { zone } = yield* Effect.all({
                held: accounts.holdArchive(run.organizationId, run.accountId),
                zone: store.timeZone(run.organizationId)
              }, { concurrency: "unbounded" })
              const next = afterRun(run, outcome, zone, at)
              const ends = { at: next.nextAt, failures: next.failures, askedAt: next.askedAt }
              if (!(yield* runs.finish(run, ends))) return
              if (outcome._tag === "Done" || outcome._tag === "Stopped") yield* store.count(run)
              const event = runEvent(run, outcome, yield* store.end(run, next, at))
              if (event !== null) yield* recordRun(run, event)
            })
          )
        })

        const work = Effect.fnUntraced(function*(run: ClaimedRun, port: MessengerArchive["Service"]) {
          const session = yield* sessionOf(run)
          const feed = floods.feed(run, yield* inTime(port.feed(session.ref, slotOf(run.accountId))))
          const reader = floods.reader(run, yield* inTime(port.read(session.ref, slotOf(run.accountId))))
          yield* Effect.forkScoped(keepClaim(run))
          yield* runCapture(run, { feed, reader, pacer: pacerOf(session), mediaPacer, mediaPlaces: runPlaces })
        }, Effect.scoped)

        const start = (run: ClaimedRun, port: MessengerArchive["Service"]) =>
          work(run, port).pipe(
            // One that is cut off at the end gives the account back, for the process that watches next.
            Effect.onInterrupt(() => Effect.ignore(finish(run, { _tag: "Waiting", seconds: 0 }))),
            Effect.tapErrorTag("PublicKeyUnproven", () => logUnproven(run)),
            Effect.exit,
            Effect.tap((exit) =>
              Exit.isFailure(exit) && Cause.hasDies(exit.cause)
                ? Effect.logError("A run over an archive failed", exit.cause)
                : Effect.void
            ),
            Effect.flatMap((exit) => Effect.ignore(finish(run, outcomeOf(exit)))),
            Effect.ensuring(Effect.sync(() => void (underWay -= 1))),
            Effect.provideContext(services)
          )

        const connect = Effect.fnUntraced(function*(account: ArchivedAccount, listener: PushListener) {
          const port = yield* Effect.fromOption(messenger)
          const session = yield* sessionOf(account)
          const slot = slotOf(account.accountId)
          const feed = floods.feed(account, yield* inTime(port.feed(session.ref, slot, listener)))
          // Made anew each time: most accounts never read, and keep it for as long as they are live.
          const reading = Effect.suspend(() =>
            Effect.map(inTime(port.read(session.ref, slot)), (reader) => ({
              reader: floods.reader(account, reader),
              pacer: pacerOf(session),
              mediaPacer,
              mediaPlaces: livePlaces
            }))
          )
          return { feed, reading }
        })
        const lives = yield* Effect.provideContext(makeLiveAccounts(connect), services)

        const claim = Effect.gen(function*() {
          const slots = ownership.owned()
          if (Option.isNone(messenger) || slots.size === 0) return 0
          yield* runs.addMissing
          const until = new Date((yield* Clock.currentTimeMillis) + Duration.toMillis(claimTime))
          const found = yield* runs.claim(slots, places - underWay, Math.max(1, places / 2), until)
          for (const run of found) {
            underWay += 1
            yield* FiberMap.run(works, keyOf(run), start(run, messenger.value))
          }
          yield* lives.goOn(yield* runs.begun(slots, maxLive))
          return found.length
        })

        const end = Effect.fnUntraced(function*(slots: ReadonlySet<Slot>) {
          yield* lives.end(({ accountId }) => slots.has(slotOf(accountId)))
          const ended = [...works].map(([key]) => key).filter((key) => slots.has(slotOfKey(key)))
          yield* Effect.forEach(ended, (key) => FiberMap.remove(works, key), { concurrency: "unbounded" })
        })
        yield* ownership.changes.pipe(Stream.runForEach(end), Effect.forkScoped({ startImmediately: true }))
        yield* ownership.closing(end)

        return Capture.of({
          claim,
          tick: Effect.gen(function*() {
            let all = 0
            for (let found = yield* claim; found > 0; found = yield* claim) {
              all += found
              yield* FiberMap.awaitEmpty(works)
            }
            return all
          }),
          tend: archives.tend
        })
      })
    )
}

/** The outcome of a run that has ended so. */
export const outcomeOf = (exit: Exit.Exit<void, { readonly _tag: string }>): RunOutcome => {
  if (Exit.isSuccess(exit)) return { _tag: "Done" }
  const failure = Cause.findErrorOption(exit.cause)
  if (Option.isNone(failure)) return { _tag: "Failed", error: "unexpected" }
  return outcomeOfFailure(failure.value)
}

const outcomeOfFailure = (failure: { readonly _tag: string }): RunOutcome => {
  if (failure instanceof CaptureStopped) return { _tag: "Stopped", reason: failure.reason }
  switch (failure._tag) {
    case "NoSession":
      return { _tag: "Stopped", reason: "no_connection" }
    case "PlatformBusy":
      return { _tag: "Waiting", seconds: "retryAfterSeconds" in failure ? Number(failure.retryAfterSeconds) : 60 }
    case "PlatformUnavailable":
    case "service_unavailable":
    case "WriterReplaced":
      return { _tag: "Waiting", seconds: 60 }
    case "PublicKeyUnproven":
      return { _tag: "Failed", error: "archive_key_unproven" }
    case "BlobStoreFailed":
      return { _tag: "Failed", error: "file_store_failed" }
    default:
      return { _tag: "Failed", error: failure._tag === "FrameTooLarge" ? "record_too_large" : "messenger_refused" }
  }
}
