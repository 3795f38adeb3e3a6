/** The sign-outs of a step: their intents, and what came of each. */
import { Clock, Effect } from "effect"
import * as Actor from "../domain/journal/Actor.ts"
import { background, journalAction, journalEntry } from "../domain/journal/JournalEntry.ts"
import type { SessionEnding, SignOutAttempt } from "../domain/protection/Decision.ts"
import { inTime } from "../messenger/OpenSessions.ts"
import { Journal } from "../ports/journal/Journal.ts"
import type { Claimed } from "../ports/protection/Monitors.ts"
import { type BegunSignOut, Watch } from "../ports/protection/MonitorStore.ts"
import type { SignOutTarget } from "./ActingSession.ts"
import { RefusalLog } from "./RefusalLog.ts"

/** A sign-out with an intent in the journal. */
interface Sent extends BegunSignOut {
  readonly again: boolean
}

/**
 * Journals what is about to be signed out; an intent that the sweep has closed is begun again, and names the old one.
 */
export const begin = Effect.fnUntraced(function*(
  { accountId, organizationId }: Claimed,
  { action, by, details, intent, reason, session_id }: SessionEnding
) {
  const journal = yield* Journal
  if (intent !== null && (yield* journal.renew(organizationId, intent))) {
    return { sessionId: session_id, reason, by, intent, again: true } satisfies Sent
  }
  const { sequence } = yield* journal.begin(
    organizationId,
    journalEntry(Actor.service, background, journalAction(action), {
      targetId: session_id,
      accountId,
      outcome: "pending",
      details: intent === null ? details : { ...details, retries: intent }
    })
  )
  return { sessionId: session_id, reason, by, intent: sequence, again: intent !== null } satisfies Sent
})

const attempted = (
  { again, intent, reason, sessionId }: Sent,
  outcome: SignOutAttempt["outcome"],
  retryAt: Date | null
): SignOutAttempt => ({ session_id: sessionId, reason, intent, again, outcome, retryAt })

/** Signs one session out, unless an admin has decided otherwise in the meantime. */
const signOut = Effect.fnUntraced(function*(claimed: Claimed, { id, live }: SignOutTarget, sent: Sent) {
  const watch = yield* Watch
  const attempt = (outcome: SignOutAttempt["outcome"], retryAt: Date | null = null) => attempted(sent, outcome, retryAt)
  if (!(yield* watch.mayEnd(claimed, sent.sessionId, sent.intent))) return attempt("skipped")
  const now = yield* Clock.currentTimeMillis
  const refusals = yield* RefusalLog
  const call = Effect.tapError(
    inTime(live.signOut(id)),
    (failure) =>
      failure._tag === "UnknownAuthorization" || failure._tag === "SignOutLocked"
        ? Effect.void
        : refusals.note("sign a session out", failure, claimed)
  )
  return yield* Effect.match(call, {
    onSuccess: () => attempt("done"),
    onFailure: (failure) => {
      switch (failure._tag) {
        case "UnknownAuthorization":
          return attempt("unknown_authorization")
        case "SignOutLocked":
          return attempt("locked", failure.until)
        case "PlatformBusy":
          return attempt("flood", new Date(now + failure.retryAfterSeconds * 1000))
        case "NoSession":
        case "PlatformRefused":
        case "PlatformUnavailable":
          return attempt("unavailable")
      }
    }
  })
})

/** Signs out one after the other; once the platform refuses one for a while, the others are not sent. */
export const act = Effect.fnUntraced(
  function*(claimed: Claimed, target: (id: string) => SignOutTarget, all: ReadonlyArray<Sent>) {
    const attempts: Array<SignOutAttempt> = []
    let refused = false
    for (const sent of all) {
      const attempt: SignOutAttempt = refused
        ? attempted(sent, "skipped", null)
        : yield* signOut(claimed, target(sent.sessionId), sent)
      attempts.push(attempt)
      refused ||= attempt.outcome === "flood" || attempt.outcome === "locked"
    }
    return attempts
  }
)
