/** Mutants of how accounts are watched and defended. */
import { change, type MutantsByFile } from "../mutant.ts"

export const protection: MutantsByFile = {
  "src/domain/protection/Deadline.ts": [
    change({ in: "reviewDeadline", replace: "earliest([reviewed, aged])", by: "reviewed" })
      .loses("a stranger comes to the age at which it may sign others out")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({ in: "reviewed", replace: "later(facts.seenAt, facts.resumedAt)", by: "facts.seenAt" })
      .loses("sessions are gone the moment a long pause ends")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({ in: "reviewDeadline", replace: "if (facts.onSight) return soonest", by: "" })
      .loses("a locked account lets strangers wait for their review")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({ in: "isActing", replace: " || slot === \"paired\"", by: "" })
      .loses("after a new login an older paired session does not go on enforcing")
      .seenBy("test/domain/protection/sequences.test.ts"),
    change({ in: "enforcementActiveAt", replace: "filter(isActing).", by: "" })
      .loses("a session that was replaced lets the service sign out earlier than the platform does")
      .seenBy("test/domain/protection/sequences.test.ts"),
    change({ in: "canSignOut", replace: ">=", by: ">" })
      .loses("what is queued is not signed out at the end of the platform's lock")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({ in: "isOnSight", replace: " && now < after(account.locked_at, takeoverWindow)", by: "" })
      .loses("the lock of a takeover never ends")
      .seenBy("test/domain/protection/sequences.test.ts"),
    change({ in: "soonest", replace: "later(now, facts.enforcement)", by: "now" })
      .loses("sign-outs are due before the platform allows them")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({ in: "aged", replace: "createdAt ?? facts.", by: "" })
      .loses("a stranger that was found late comes to the age at which it may sign others out")
      .seenBy("test/domain/protection/sessions.test.ts")
  ],
  "src/domain/protection/Decide.ts": [
    change({ in: "decide", replace: "if (!isWatched(facts.account)) return nothing(facts, now)", by: "" })
      .loses("a paused account's sessions are signed out")
      .seenBy("test/domain/protection/sessions.test.ts")
  ],
  "src/domain/protection/DecideOnList.ts": [
    change({ in: "marked", replace: "hijacked(rows, terms.now)", by: "rows" })
      .loses("a takeover is told of and not stopped")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({ in: "marked", replace: "since ? hijackedSince(rows, terms.now) : rows", by: "rows" })
      .loses("a stranger who comes while a takeover waits survives it")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({ in: "actor", replace: "good ? \"external\" : \"unknown\"", by: "\"external\"" })
      .loses("the service says who ended a session although nobody watched")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({ in: "ended", replace: "ending_intent !== null", by: "ending_intent === null" })
      .loses("after a crash the service's own sign-out is blamed on somebody else")
      .seenBy("test/domain/protection/sessions.test.ts")
  ],
  "src/domain/protection/DecideWithoutList.ts": [
    change({
      in: "facets",
      replace: "...(left.signals.length > 0 && takeover === null ? { revoked_at: now.toISOString() } : {})",
      by: ""
    })
      .loses("a thief who revokes the service before it saw him is no takeover")
      .seenBy("test/domain/protection/sequences.test.ts"),
    change({ in: "freesIdentity", replace: "left.stopped !== null", by: "false" })
      .loses("a person whose session was lost cannot be protected by anybody else")
      .seenBy("test/domain/protection/lostSessions.test.ts")
  ],
  "src/domain/protection/DecisionInput.ts": [
    change({
      in: "takeoverOf",
      replace: "if (!facts.lockdown) return { signals, response: \"none\", stopped: false }",
      by: ""
    })
      .loses("who does not want accounts locked has everybody signed out")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({ in: "response", replace: "canSignOut(enforcement, now) ? \"sign_out\" : \"queued\"", by: "\"sign_out\"" })
      .loses("a takeover is answered before the platform allows it")
      .seenBy("test/domain/protection/takeovers.test.ts")
  ],
  "src/domain/protection/LostSessions.ts": [
    change({
      in: "settleLosses",
      replace:
        "if (paired !== undefined && lostPaired === undefined) return promoted(facts, main, paired, reason, now)",
      by: ""
    })
      .loses("protection stops although a second session lives")
      .seenBy("test/domain/protection/lostSessions.test.ts"),
    change({
      in: "settleLosses",
      replace: "if (isEnded(reason)) return stopped(facts, lost, stopReason(reason), now)",
      by: ""
    })
      .loses("an account without a session shows as unknown for ever")
      .seenBy("test/domain/protection/lostSessions.test.ts"),
    change({
      in: "signalsOf",
      replace: "reasons.some((reason) => reason === \"revoked\" || reason === \"logged_out\") ? [revoked] : []",
      by: "[revoked]"
    })
      .loses("the service's own fault is a thief's signal")
      .seenBy("test/domain/protection/lostSessions.test.ts"),
    change({ in: "promoted.account", replace: "pairedLost(facts, \"promoted\", now)", by: "{}" })
      .loses("the console shows a second session that is the first one now")
      .seenBy("test/domain/protection/lostSessions.test.ts")
  ],
  "src/domain/protection/Polling.ts": [
    change({
      in: "lastPollWasGood",
      replace: "(monitor.started_at === null || monitor.last_ok_at >= monitor.started_at)",
      by: "true"
    })
      .loses("what ended during a pause is blamed on somebody")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({ in: "unknown", replace: " || isSilent(facts.monitor, now)", by: "" })
      .loses("an account that is polled rarely shows as protected long after its last good poll")
      .seenBy("test/domain/protection/lostSessions.test.ts"),
    change({ in: "next", replace: "dueAt !== null && dueAt < poll ? dueAt : poll", by: "poll" })
      .loses("a deadline waits for the next poll")
      .seenBy("test/domain/protection/polling.test.ts"),
    change({ in: "period", replace: "failures >= manyFailures", by: "failures > 0" })
      .loses("after one look that failed nobody looks for five minutes")
      .seenBy("test/properties/watching.test.ts"),
    change({
      in: "nextStepAt",
      replace: "monitor.flood_until !== null && monitor.flood_until > next ? monitor.flood_until : next",
      by: "next"
    })
      .loses("the platform's wait is not kept")
      .seenBy("test/domain/protection/polling.test.ts"),
    change({
      in: "flooded",
      replace: "Duration.toMillis(wait) <= Duration.toMillis(longestQuietFlood)",
      by: "Duration.toMillis(wait) < 0"
    })
      .loses("every short wait makes the account unknown")
      .seenBy("test/domain/protection/lostSessions.test.ts")
  ],
  "src/domain/protection/ProtectionRows.ts": [
    change({ in: "earlierRows", replace: "if (!otherList) ", by: "" })
      .loses("after a failover every approved session is a stranger")
      .seenBy("test/domain/protection/sequences.test.ts")
  ],
  "src/domain/protection/Review.ts": [
    change({ in: "baselined", replace: "!account.baselined && ", by: "" })
      .loses("what comes back after a good poll counts as there from the beginning")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({ in: "baselined", replace: "{ ...row, baseline: true }", by: "row" })
      .loses("the holder's own phone is signed out half a day after connecting")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({
      in: "ending_reason",
      replace: "withheld_reason ?? row.ending_reason ?? \"rejected\"",
      by: "ending_reason"
    })
      .loses("a pause forgets which sessions an admin has rejected")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({
      in: "maySignOut",
      replace: "canSignOut(enforcement, now) && (retryAt === null || retryAt <= now)",
      by: "retryAt === null || retryAt <= now"
    })
      .loses("sign-outs are sent before the platform allows them, at every poll")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({ in: "isSpared", replace: "ending_reason !== null", by: "ending_reason === null" })
      .loses("a session that was approved after a takeover is signed out all the same")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({ in: "byUrgency", replace: "Number(isPending(other)) - Number(isPending(one)) || ", by: "" })
      .loses("a takeover signs the holder's devices out before the thief's")
      .seenBy("test/domain/protection/sequences.test.ts"),
    change({
      in: "waits",
      replace: "waits = rows.some(({ ending_reason }) => ending_reason !== null) ? [enforcement, retryAt] : []",
      by: "waits: ReadonlyArray<Date> = []"
    })
      .loses("what is queued waits for the next poll instead of the end of the platform's lock")
      .seenBy("test/domain/protection/sessions.test.ts")
  ],
  "src/domain/protection/ServiceSessionFacts.ts": [
    change({ in: "asking", replace: "({ current }) => current", by: "(seen) => isOwnDevice(seen, device)" })
      .loses("a thief's device that calls itself like the service is taken for it")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({ in: "found", replace: "seen.created_at?.getTime() === own.created_at.getTime() && ", by: "" })
      .loses("a session that copies the service's names is never signed out")
      .seenBy("test/domain/protection/sessions.test.ts")
  ],
  "src/domain/protection/SignOutOutcomes.ts": [
    change({ in: "stopped", replace: " && (hijacked > 0 || noneLeft)", by: "" })
      .loses("a takeover counts as stopped although nothing was signed out")
      .seenBy("test/domain/protection/sequences.test.ts"),
    change({ in: "applied", replace: "\"unknown_authorization\" && again", by: "\"unknown_authorization\"" })
      .loses("the service claims a sign-out that somebody else made")
      .seenBy("test/domain/protection/sequences.test.ts", "test/domain/protection/polling.test.ts"),
    change({
      in: "applied",
      replace: "if (outcome === \"skipped\" && again) return { row, ended: null, notices: [] }",
      by: ""
    })
      .loses("a sign-out that may have been sent is told of as not done")
      .seenBy("test/domain/protection/sequences.test.ts", "test/domain/protection/polling.test.ts")
  ],
  "src/domain/protection/Signals.ts": [
    change({ in: "sameRecovery", replace: " one.pending === other.pending &&", by: "" })
      .loses("a recovery email that waits for its code goes unseen")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({
      in: "differs",
      replace: "before !== undefined && after !== undefined && !same(before, after)",
      by: "after !== undefined && (before === undefined || !same(before, after))"
    })
      .loses("the first look at an account reports a takeover")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({
      in: "changes",
      replace: "...(differs(before.two_fa, after.two_fa, equal) ? [{ code: \"T1\", what: \"two_fa\" } as const] : []),",
      by: ""
    })
      .loses("a 2FA password that a thief changes is no signal")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({
      in: "changes",
      replace:
        "...(differs(before.reset_at, after.reset_at, noNewReset) ? [{ code: \"T1\", what: \"two_fa_reset\" } as const] : []),",
      by: ""
    })
      .loses("a thief who asks for a reset of the 2FA password is not seen")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({
      in: "changes",
      replace:
        "...(differs(before.recovery, after.recovery, sameRecovery) ? [{ code: \"T2\", what: \"recovery_email\" } as const] : []),",
      by: ""
    })
      .loses("a thief's recovery address is not seen")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({
      in: "changes",
      replace:
        "...(differs(before.login_email, after.login_email, equal) ? [{ code: \"T2\", what: \"login_email\" } as const] : []),",
      by: ""
    })
      .loses("a thief's login address is not seen")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({
      in: "changes",
      replace:
        "...(differs(before.phone, after.phone, equal) ? [{ code: \"T3\", what: \"phone_number\" } as const] : []),",
      by: ""
    })
      .loses("a thief takes the account to another number unseen")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({
      in: "changes",
      replace:
        "...(differs(before.passkeys, after.passkeys, noneAdded) ? [{ code: \"T4\", what: \"passkey\" } as const] : [])",
      by: ""
    })
      .loses("a thief's passkey is not seen")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({ in: "code", replace: "!login.open && ", by: "" })
      .loses("the service's own login is reported as somebody's attempt")
      .seenBy(
        "test/domain/protection/sequences.test.ts",
        "test/protection/loginEndings.test.ts",
        "test/domain/protection/sessions.test.ts"
      )
  ],
  "src/domain/protection/Takeover.ts": [
    change({ in: "hijacked", replace: "ending_intent", by: "approved_at !== null || row.ending_intent" })
      .loses("a thief who was approved by mistake stays in")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({ in: "strangerSeen", replace: " && (recent(row.seen_at, now) || recent(monitor.last_ok_at, now))", by: "" })
      .loses("a stranger of last week makes a takeover of every lost session")
      .seenBy("test/domain/protection/lostSessions.test.ts"),
    change({ in: "strangersEnded", replace: "ended.some(isPending)", by: "ended.length < 0" })
      .loses("a stranger who leaves in time can have the service's session revoked without a takeover")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({ in: "takeoverSignals", replace: "signals.filter(({ code }) => code !== \"T7\")", by: "[]" })
      .loses("no signal is a takeover")
      .seenBy("test/domain/protection/takeovers.test.ts")
  ],
  "src/protection/RetiredSessions.ts": [
    change({
      in: "gone",
      replace: "Intent.close(entryOf(held, reason), log_out_intent, \"done\")",
      by: "Effect.void"
    })
      .loses("the journal never says that a session was logged out whose answer was lost")
      .seenBy("test/protection/crashes.test.ts")
  ],
  "src/protection/SignOuts.ts": [
    change({
      in: "signOut",
      replace: "if (!(yield* watch.mayEnd(claimed, sent.sessionId, sent.intent))) return attempt(\"skipped\")",
      by: ""
    })
      .loses("who is approved at the last moment is signed out")
      .seenBy("test/protection/meanwhile.test.ts"),
    change({
      in: "act",
      replace: "refused ||= attempt.outcome === \"flood\" || attempt.outcome === \"locked\"",
      by: ""
    })
      .loses("who is asked to wait goes on calling")
      .seenBy("test/protection/protecting.test.ts", "test/protection/pollMetrics.test.ts")
  ],
  "src/protection/Step.ts": [
    change({ in: "written", replace: "(written) => written === null ? unwritten : Effect", by: "() => Effect" })
      .loses("a login code that comes while an admin changes the account is never told of")
      .seenBy("test/protection/outdated.test.ts"),
    change({ in: "step", replace: " || ownership.term(slot) !== term", by: "" })
      .loses("a process that has lost the lease writes down what it saw with a dead key")
      .seenBy("test/protection/outdated.test.ts"),
    change({
      in: "recorded",
      replace: "login !== null && isUnseen(looked) ? yield* written(true) : first",
      by: "first"
    })
      .loses("an account that nobody can look at shows as protected while a login into it is not known to be over")
      .seenBy("test/protection/loginEndings.test.ts")
  ]
}
