/** The sign-outs of a step: their intents, and what came of each. */
import { Clock, Effect } from "effect"
import * as Intent from "../changes/Intent.ts"
import { byService } from "../changes/Record.ts"
import type { SessionEnding, SignOutAttempt } from "../domain/protection/Decision.ts"
import { inTime } from "../messenger/OpenSessions.ts"
import type { ClaimedAccount } from "../ports/protection/Monitors.ts"
import { type BegunSignOut, Watch } from "../ports/protection/MonitorStore.ts"
import type { SignOutTarget } from "./ActingSession.ts"
import { RefusalLog } from "./RefusalLog.ts"

/** A sign-out with an intent in the journal. */
interface RequestedSignOut extends BegunSignOut {
  readonly again: boolean
}

/** Journals what is about to be signed out. */
export const begin = Effect.fnUntraced(function*(
  { accountId, organizationId }: ClaimedAccount,
  { action, by, details, intent, reason, session_id }: SessionEnding
) {
  const author = byService(organizationId)
  const sequence = yield* Intent.begin({ author, action, target: { id: session_id, accountId }, details }, intent)
  return { sessionId: session_id, reason, by, intent: sequence, again: intent !== null } satisfies RequestedSignOut
})

const attempted = (
  { again, intent, reason, sessionId }: RequestedSignOut,
  outcome: SignOutAttempt["outcome"],
  retryAt: Date | null
): SignOutAttempt => ({ session_id: sessionId, reason, intent, again, outcome, retryAt })

/** Signs one session out, unless an admin has decided otherwise in the meantime. */
const signOut = Effect.fnUntraced(
  function*(claimed: ClaimedAccount, { id, live }: SignOutTarget, sent: RequestedSignOut) {
    const watch = yield* Watch
    const attempt = (outcome: SignOutAttempt["outcome"], retryAt: Date | null = null) =>
      attempted(sent, outcome, retryAt)
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
  }
)

/** Signs out one after the other; once the platform refuses one for a while, the others are not sent. */
export const act = Effect.fnUntraced(
  function*(claimed: ClaimedAccount, target: (id: string) => SignOutTarget, all: ReadonlyArray<RequestedSignOut>) {
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
