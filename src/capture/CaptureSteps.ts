/** Steps of capture: each stores what was seen, and moves what is promised of it, in one transaction. */
import { Context, Duration, Effect } from "effect"
import type { AccountFacts } from "../domain/accounts/Account.ts"
import { slotOf } from "../domain/accounts/Slot.ts"
import { after, now } from "../domain/Moments.ts"
import type { OrganizationFacts } from "../domain/organization/Organization.ts"
import { Accounts } from "../ports/accounts/Accounts.ts"
import type { PublicKeyUnproven } from "../ports/archive/ArchiveKeys.ts"
import { ArchiveRules } from "../ports/archive/ArchiveRules.ts"
import { ArchiveRuns, type ClaimedRun } from "../ports/archive/ArchiveRuns.ts"
import type { AccountArchive } from "../ports/archive/ArchiveWriter.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import { Db } from "../ports/Db.ts"
import { PlatformBusy } from "../ports/messenger/MessengerSession.ts"
import { Ownership } from "../ports/messenger/Ownership.ts"
import { Organizations } from "../ports/organization/Organizations.ts"
import { captureStop, CaptureStopped } from "./CaptureStop.ts"
import { KeyReplaced, OpenArchives } from "./OpenArchives.ts"
import type { Pacer } from "./Pacer.ts"

/** A claim lasts so long after each step. */
export const claimTime = Duration.minutes(2)

/** A claim is renewed so often, also where the run takes no step. */
const renewPause = Duration.seconds(30)

/** Keeps the claim, as a large file takes longer than one lasts; where it is lost all the same, the next step ends. */
export const keepClaim = Effect.fnUntraced(function*(run: ClaimedRun) {
  const db = yield* Db
  const runs = yield* ArchiveRuns
  const renew = Effect.flatMap(now, (at) => {
    const until = after(at, claimTime)
    return Effect.ignore(db.transaction(run.organizationId, runs.renew(run, until)))
  })
  return yield* Effect.forever(Effect.delay(renew, renewPause))
})

/** Ends where this process may not write the account now. */
const owned = Effect.fnUntraced(function*({ accountId }: ArchivedAccount) {
  const ownership = yield* Ownership
  if (ownership.term(slotOf(accountId)) === null) return yield* new CaptureStopped({ reason: "not_owned" })
})

const organizationOf = (account: ArchivedAccount) =>
  Effect.flatMap(Organizations, ({ facts }) => facts({ ...account, arrival: undefined }))

/** Ends where nothing of the account is to be saved. */
const wanted = Effect.fnUntraced(function*(facts: AccountFacts | null, organization: OrganizationFacts) {
  const reason = facts === null ? "retired" : captureStop(facts, organization, yield* now)
  if (reason !== null) return yield* new CaptureStopped({ reason })
})

/**
 * Ends where this process may not write the account now, or nothing of it is to be saved. The facts of the archive and the
 * claim hold until the commit; the account itself, which the watch locks, may be paused or offboarded meanwhile. The
 * reading travels with them. Where the rules have changed for it, its chats are judged before anything of them is stored.
 */
const allowed = Effect.fnUntraced(function*<A, E, R>(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  isKeyCurrent: Effect.Effect<boolean, PublicKeyUnproven>,
  read: Effect.Effect<A, E, R>
) {
  yield* owned(account)
  const accounts = yield* Accounts
  const rules = yield* ArchiveRules
  const runs = yield* ArchiveRuns
  const at = yield* now
  const until = after(at, claimTime)
  const { facts, found, hasKey, isClaimed, isUnjudged, organization } = yield* Effect.all({
    facts: accounts.holdArchive(account.organizationId, account.accountId),
    organization: organizationOf(account),
    isUnjudged: rules.settle(account),
    isClaimed: claimed === null ? Effect.succeed(true) : runs.renew(claimed, until),
    hasKey: Effect.result(isKeyCurrent),
    found: read
  }, { concurrency: "unbounded" })
  yield* wanted(facts, organization)
  if (!isClaimed) return yield* new CaptureStopped({ reason: "claim_lost" })
  if (!(yield* Effect.fromResult(hasKey))) return yield* new KeyReplaced()
  if (!isUnjudged) return found
  yield* rules.judge(account, at)
  return yield* read
})

/** The waits of a run before each of its steps: the watch goes first. */
export const GiveWay = Context.Reference<Pacer>("org-security-console/capture/CaptureSteps/GiveWay", {
  defaultValue: () => ({ take: Effect.void })
})

/** Runs a step in a transaction of its own, where it is allowed by then, with what is read in the transaction before. */
export const commitRead = <B, E2, R2, A, E, R>(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  read: Effect.Effect<B, E2, R2>,
  work: (archive: AccountArchive, found: B) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const archives = yield* OpenArchives
    const db = yield* Db
    if (claimed !== null) yield* (yield* GiveWay).take
    return yield* archives.step(account, (archive, isKeyCurrent) =>
      db.transaction(
        account.organizationId,
        Effect.flatMap(allowed(account, claimed, isKeyCurrent, read), (found) => work(archive, found))
      ))
  })

/** Runs a step in a transaction of its own, where it is allowed by then. */
export const commit = <A, E, R>(
  account: ArchivedAccount,
  claimed: ClaimedRun | null,
  work: (archive: AccountArchive) => Effect.Effect<A, E, R>
) => commitRead(account, claimed, Effect.void, work)

/** Reads without a lock, where saving is allowed; the step that stores what follows from it judges again. */
export const consult = Effect.fnUntraced(function*<A, E, R>(account: ArchivedAccount, work: Effect.Effect<A, E, R>) {
  yield* owned(account)
  const db = yield* Db
  const known = Effect.flatMap(Accounts, ({ known }) => known(account.organizationId, account.accountId))
  const [facts, organization, answer] = yield* db.read(
    account.organizationId,
    Effect.all([known, organizationOf(account), work], { concurrency: "unbounded" })
  )
  yield* wanted(facts, organization)
  return answer
})

/** A longer wait that the messenger demands ends the run, which goes on at its end. */
export const longestWait = Duration.seconds(60)
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
