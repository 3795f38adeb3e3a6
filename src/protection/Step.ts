/** One step of one account: poll, decide and write down, sign out, and write down the outcome. */
import { Clock, Effect, Random, type Scope } from "effect"
import * as Intent from "../changes/Intent.ts"
import * as Changes from "../changes/Record.ts"
import { isWatched } from "../domain/accounts/ProtectionStatus.ts"
import { slotOf } from "../domain/accounts/Slot.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import * as Actor from "../domain/journal/Actor.ts"
import { failuresUntilUnknown } from "../domain/Limits.ts"
import { decide } from "../domain/protection/Decide.ts"
import type { Decision, EngineEvent, EngineMail, SignOutAttempt } from "../domain/protection/Decision.ts"
import type { DecideOptions, ProtectionFacts } from "../domain/protection/Facts.ts"
import { type LookOutcome, outcomeOf } from "../domain/protection/OutageDetector.ts"
import { isSilent, nextStepAt } from "../domain/protection/Polling.ts"
import { applyOutcomes } from "../domain/protection/SignOutOutcomes.ts"
import { LiveSessions } from "../messenger/OpenSessions.ts"
import type { AccountLockLost } from "../ports/accounts/AccountLock.ts"
import { Db } from "../ports/Db.ts"
import type { Outbox } from "../ports/mail/Outbox.ts"
import { Ownership } from "../ports/messenger/Ownership.ts"
import { AccountTasks } from "../ports/protection/AccountTasks.ts"
import { Outages } from "../ports/protection/MessengerOutages.ts"
import type { ClaimedAccount, QuietPoll } from "../ports/protection/Monitors.ts"
import { type LockedAccount, Watch } from "../ports/protection/MonitorStore.ts"
import { Secrets } from "../ports/security/Secrets.ts"
import { acting } from "./ActingSession.ts"
import { type LoginServices, resolve } from "./LoginEndings.ts"
import { look, type LookResult } from "./Observe.ts"
import * as PollMetrics from "./PollMetrics.ts"
import { type RefusalLog } from "./RefusalLog.ts"
import * as SignOuts from "./SignOuts.ts"
import { type MailedAccount, mailOf } from "./StepMails.ts"

/**
 * The end of a step: it found nothing new, which is written down with others', or it has given the account back itself.
 */
export type StepResult =
  & (
    | { readonly kind: "quiet"; readonly quiet: QuietPoll }
    | { readonly kind: "written"; readonly signedOut: number }
    /** The facts that the poll relied on have changed meanwhile: nothing was written, and the account is still held. */
    | { readonly kind: "outdated" }
  )
  & {
    /** The evidence of the poll about the messenger. */
    readonly messenger: LookOutcome
  }

/** The services of the core that a step may need. */
export type StepServices =
  | AccountTasks
  | LiveSessions
  | LoginServices
  | Outages
  | Outbox
  | Ownership
  | RefusalLog
  | Secrets
  | Watch

/** The time after a stored good poll when the next good one is stored in any case, in ms. */
const quietFor = 9 * 60_000

/** The time until an account is polled again while a sign-in to it is under way, in ms. */
const whileSigningIn = 2_000

/** Around its period each poll is due a fifth earlier or later, so that accounts do not stay together. */
const spread = Effect.map(Random.next, (value) => 0.8 + 0.4 * value)

const isQuiet = (claimed: ClaimedAccount, { same }: LookResult, now: number): boolean =>
  same && claimed.failures === 0 && (claimed.due_at === null || claimed.due_at.getTime() > now) &&
  claimed.last_ok_at !== null && claimed.last_ok_at.getTime() > now - quietFor

const actors = { service: Actor.service, external: Actor.external }

/** True if the account becomes unknown by one more poll that failed. */
const isLost = ({ failures, last_ok_at }: ClaimedAccount, now: number): boolean =>
  failures + 1 >= failuresUntilUnknown || isSilent({ last_ok_at, started_at: null }, new Date(now))

/** Writes down what happened, each mail with its event. */
const report = Effect.fnUntraced(function*(
  { accountId, organizationId }: ClaimedAccount,
  { events, mails }: { readonly events: ReadonlyArray<EngineEvent>; readonly mails: ReadonlyArray<EngineMail> },
  about: MailedAccount
) {
  for (const [place, { action, actor, closes, details, outcome = "done", session }] of events.entries()) {
    const author = Changes.byService(organizationId, actors[actor])
    const target = { id: session ?? accountId, accountId }
    const caused = mails.filter(({ event }) => event === place).map((mail) => mailOf(mail, about))
    if (closes === undefined) yield* Changes.record(author, action, target, details, caused, outcome)
    // Several sessions may share one intent: the event of each is journaled.
    else if (yield* Intent.close({ author, action, target, details }, closes, outcome)) {
      yield* Changes.mail(organizationId, caused)
    }
  }
})

const about = (
  { facts, name }: LockedAccount,
  upserts: Decision["upserts"]
): MailedAccount => ({
  account: { id: facts.account.id, name },
  twoFaManaged: facts.account.two_fa_managed,
  session: (id) => upserts.find(({ row }) => row.id === id)?.row ?? facts.sessions.find((session) => session.id === id)
})

/** The time of the next step by what the account and its monitor are from now on; null where it is not watched. */
const nextAfter = (
  { account, monitor }: ProtectionFacts,
  changes: Pick<Decision, "account" | "dueAt" | "monitor">,
  now: Date,
  around: number
): Date | null =>
  isWatched({ ...account, ...changes.account })
    ? nextStepAt({ ...monitor, ...changes.monitor }, changes.dueAt, now, around)
    : null

/** Has a managed 2FA password replaced once a takeover is stopped, because the intruder may have read it. */
const afterTakeover = (claimed: ClaimedAccount, { facts }: LockedAccount, changed: Decision["account"], now: Date) =>
  changed.takeover_stopped_at instanceof Date && facts.account.two_fa_managed
    ? Effect.flatMap(AccountTasks, (tasks) => tasks.add(claimed, "rotate_two_fa", now))
    : Effect.void

/** True if the list of sessions could not be requested: then no session can be one that a login has made. */
const isUnseen = ({ observation: { outcome } }: LookResult): boolean =>
  outcome.kind === "unavailable" || outcome.kind === "flood"

/**
 * The first transaction: what was seen is decided on and written down, and every sign-out that follows begun. Nothing
 * is begun while a sign-in is under way, unless `despite` is true.
 */
const record = Effect.fnUntraced(
  function*(claimed: ClaimedAccount, looked: LookResult, options: DecideOptions, despite: boolean) {
    const db = yield* Db
    const secrets = yield* Secrets
    const watch = yield* Watch
    const around = yield* spread
    return yield* db.transaction(
      claimed.organizationId,
      Effect.gen(function*() {
        const locked = yield* watch.lock(claimed)
        // The observation is older than what an operation has changed: the account is due again immediately.
        if (locked === null || locked.epoch !== claimed.epoch) return null
        // A session that is signing in is the service's own, and is judged once that is stored.
        if (locked.login !== null && !despite) return locked.login
        const now = new Date(yield* Clock.currentTimeMillis)
        const decision = decide(locked.facts, looked.observation, now, options)
        const nextAt = nextAfter(locked.facts, decision, now, around)
        const release = decision.endings.length === 0
        yield* watch.write(claimed, {
          ...decision,
          // If this process dies, what is begun here goes on as soon as nobody holds the account.
          nextAt: release || nextAt === null ? nextAt : now,
          release,
          ...(looked.seenMark === null ? {} : { seenMark: looked.seenMark })
        }, now)
        yield* secrets.move(claimed, looked.secrets, now)
        yield* afterTakeover(claimed, locked, decision.account, now)
        if (decision.events.some(({ action }) => action === "monitoring.failed_over")) {
          yield* (yield* AccountTasks).add(claimed, "pair", now)
        }
        yield* report(claimed, decision, about(locked, decision.upserts))
        // Several sessions may share one intent: the event of one that is gone has closed it.
        const sent = yield* Effect.forEach(decision.endings, (ending) => SignOuts.begin(claimed, ending))
        yield* watch.begin(claimed, sent, now)
        return { sent, events: decision.events }
      })
    )
  }
)

/** The second transaction: what came of the sign-outs, and the account given back. */
const close = Effect.fnUntraced(function*(claimed: ClaimedAccount, attempts: ReadonlyArray<SignOutAttempt>) {
  const db = yield* Db
  const watch = yield* Watch
  const around = yield* spread
  return yield* db.transaction(
    claimed.organizationId,
    Effect.gen(function*() {
      const locked = yield* watch.lock(claimed)
      if (locked === null) return []
      const now = new Date(yield* Clock.currentTimeMillis)
      const changes = applyOutcomes(locked.facts, attempts, now)
      const nextAt = nextAfter(locked.facts, changes, now, around)
      yield* watch.write(claimed, { ...changes, nextAt, release: true }, now)
      yield* afterTakeover(claimed, locked, changes.account, now)
      yield* report(claimed, changes, about(locked, changes.upserts))
      return changes.events
    })
  )
})

/**
 * Runs one step of an account that is held; `away` says whether the messenger cannot be reached at all.
 *
 * It fails where the database is away or the holding was lost: then nothing more is written, and the next step of the
 * account goes on from what is stored.
 */
export const step = (
  claimed: ClaimedAccount,
  options: DecideOptions,
  away: () => boolean
): Effect.Effect<StepResult, AccountLockLost | ServiceUnavailable, StepServices | Scope.Scope> =>
  Effect.gen(function*() {
    const ownership = yield* Ownership
    const slot = slotOf(claimed.accountId)
    const term = ownership.term(slot)
    const looked = yield* PollMetrics.phase("look")(look(claimed))
    // A poll during which the slot was lost proves nothing about the account.
    const messenger = outcomeOf(looked.observation)
    if (term === null || ownership.term(slot) !== term) return { kind: "outdated", messenger }
    const now = yield* Clock.currentTimeMillis
    if (away() && messenger === "failed" && isLost(claimed, now)) yield* (yield* Outages).notify(claimed.organizationId)
    if (isQuiet(claimed, looked, now)) {
      const next = nextStepAt(
        { failures: 0, last_poll_error: null, flood_until: null },
        claimed.due_at,
        new Date(now),
        yield* spread
      )
      return { kind: "quiet", quiet: { ...claimed, next_at: next }, messenger }
    }
    const sessions = yield* LiveSessions
    const unwritten = sessions.keepCodes(claimed, looked.observation.codes)
    const written = (despite: boolean) =>
      PollMetrics.phase("record")(record(claimed, looked, options, despite)).pipe(
        Effect.onError(() => unwritten),
        Effect.tap((written) => written === null ? unwritten : Effect.void)
      )
    const first = yield* written(false)
    const login = first !== null && "busy" in first ? first : null
    if (login !== null && !login.busy && (yield* resolve(claimed.organizationId, login.id))) {
      return { kind: "outdated", messenger }
    }
    const recorded = login !== null && isUnseen(looked) ? yield* written(true) : first
    if (recorded === null) return { kind: "outdated", messenger }
    if ("busy" in recorded) {
      return { kind: "quiet", quiet: { ...claimed, next_at: new Date(now + whileSigningIn) }, messenger }
    }
    const { events, sent } = recorded
    yield* PollMetrics.observed(looked.observation)
    yield* PollMetrics.countEvents(events)
    if (sent.length === 0) return { kind: "written", signedOut: 0, messenger }
    const target = yield* acting(claimed, looked)
    const attempts = target === null ? [] : yield* PollMetrics.phase("act")(SignOuts.act(claimed, target, sent))
    yield* PollMetrics.countEvents(yield* PollMetrics.phase("close")(close(claimed, attempts)))
    yield* PollMetrics.signedOut(attempts)
    return { kind: "written", signedOut: attempts.filter(({ outcome }) => outcome === "done").length, messenger }
  })
