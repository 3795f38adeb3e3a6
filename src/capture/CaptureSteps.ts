/** Steps of capture: each stores what was seen, and moves what is promised of it, in one transaction. */
import { Duration, Effect } from "effect"
import { slotOf } from "../domain/accounts/Slot.ts"
import { now } from "../domain/Moments.ts"
import { Accounts } from "../ports/accounts/Accounts.ts"
import { ArchiveRules } from "../ports/archive/ArchiveRules.ts"
import { ArchiveRuns, type ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import type { AccountArchive } from "../ports/archive/ArchiveWriter.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import { Db } from "../ports/Db.ts"
import { PlatformBusy } from "../ports/messenger/MessengerSession.ts"
import { Ownership } from "../ports/messenger/Ownership.ts"
import { Organizations } from "../ports/organization/Organizations.ts"
import { captureStop, CaptureStopped } from "./CaptureStop.ts"
import { OpenArchives } from "./OpenArchives.ts"

/** A claim lasts so long after each step. */
export const claimTime = Duration.minutes(2)

/** A claim is renewed so often, also where the run takes no step. */
const renewPause = Duration.seconds(30)

/** Keeps the claim, as a large file takes longer than one lasts; where it is lost all the same, the next step ends. */
export const keepClaim = Effect.fnUntraced(function*(run: ClaimedRun) {
  const db = yield* Db
  const runs = yield* ArchiveRuns
  const renew = Effect.flatMap(now, (at) => {
    const until = new Date(at.getTime() + Duration.toMillis(claimTime))
    return Effect.ignore(db.transaction(run.organizationId, runs.renew(run, until)))
  })
  return yield* Effect.forever(Effect.delay(renew, renewPause))
})

/** Ends where this process may not write the account now, or nothing of it is to be saved. */
const allowed = Effect.fnUntraced(function*(account: ArchivedAccount, claimed: ClaimedRun | null) {
  const ownership = yield* Ownership
  if (ownership.term(slotOf(account.accountId)) === null) return yield* new CaptureStopped({ reason: "not_owned" })
  const facts = yield* (yield* Accounts).hold(account.organizationId, account.accountId)
  if (facts === null) return yield* new CaptureStopped({ reason: "retired" })
  const organization = yield* (yield* Organizations).facts({ ...account, arrival: undefined })
  const at = yield* now
  const reason = captureStop(facts, organization, at)
  if (reason !== null) return yield* new CaptureStopped({ reason })
  yield* (yield* ArchiveRules).settle(account.organizationId)
  if (claimed === null) return facts
  const until = new Date(at.getTime() + Duration.toMillis(claimTime))
  if (!(yield* (yield* ArchiveRuns).renew(claimed, until))) return yield* new CaptureStopped({ reason: "claim_lost" })
  return facts
})

/** Runs a step in a transaction of its own, where it is allowed by then. */
export const commit = <A, E, R>(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  work: (archive: AccountArchive) => Effect.Effect<A, E, R>
) =>
  Effect.flatMap(
    OpenArchives,
    (archives) =>
      archives.step(account, (archive) =>
        Effect.flatMap(Db, (db) =>
          db.transaction(account.organizationId, Effect.andThen(allowed(account, claimed), work(archive)))))
  )

/** Reads in a transaction of its own, where saving is allowed. */
export const consult = <A, E, R>(account: ArchivedAccount, claimed: ClaimedRun | null, work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Db, (db) => db.transaction(account.organizationId, Effect.andThen(allowed(account, claimed), work)))

/** A longer wait that the messenger demands ends the run, which goes on at its end. */
const longestWait = Duration.seconds(60)
const waits = 5

/** Makes the call again after each short wait that the messenger demands, some times. */
export const afterWaits = <A, E, R>(
  call: Effect.Effect<A, E | PlatformBusy, R>,
  left: number = waits
): Effect.Effect<A, E | PlatformBusy, R> =>
  Effect.catchIf(
    call,
    (failure): failure is PlatformBusy =>
      failure instanceof PlatformBusy && left > 0 && failure.retryAfterSeconds <= Duration.toSeconds(longestWait),
    ({ retryAfterSeconds }) =>
      Effect.andThen(
        Effect.sleep(Duration.seconds(retryAfterSeconds)),
        Effect.suspend(() => afterWaits(call, left - 1))
      )
  )

/** Runs a call to the messenger with its steps, apart from every other one of the account. */
export const exclusively = <A, E, R>(account: ArchivedAccount, work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(OpenArchives, (archives) => archives.exclusively(account, work))
