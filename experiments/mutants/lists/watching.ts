import { change, type MutantsByFile } from "../mutant.ts"

/** Of the watch: signals, failover, deadlines, guard, claim and finish, and what follows from a licence. */
export const watching: MutantsByFile = {
  "src/domain/protection/Deadline.ts": [
    change({ in: "enforcementActiveAt", replace: "filter(isActing).", by: "" })
      .loses("a session that was replaced lets the service sign out earlier than the platform does")
      .seenBy("test/domain/protection/sequences.test.ts"),
    change({ in: "canSignOut", replace: ">=", by: ">" })
      .loses("what is queued is not signed out at the end of the platform's lock")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({ in: "isOnSight", replace: " && now < plus(account.locked_at, takeoverWindow)", by: "" })
      .loses("the lock of a takeover never ends")
      .seenBy("test/domain/protection/sequences.test.ts"),
    change({ in: "soonest", replace: "later(now, facts.enforcement)", by: "now" })
      .loses("sign-outs are due before the platform allows them")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({ in: "aged", replace: "createdAt ?? facts.", by: "" })
      .loses("a stranger that was found late comes to the age at which it may sign others out")
      .seenBy("test/domain/protection/sessions.test.ts")
  ],
  "src/domain/protection/Takeover.ts": [
    change({ in: "takeoverSignals", replace: "signals.filter(({ code }) => code !== \"T7\")", by: "[]" })
      .loses("no signal is a takeover")
      .seenBy("test/domain/protection/takeovers.test.ts")
  ],
  "src/domain/protection/Signals.ts": [
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
      in: "survived",
      replace:
        "if (paired !== undefined && lostPaired === undefined) return promoted(facts, main, paired, reason, now)",
      by: ""
    })
      .loses("protection stops although a second session lives")
      .seenBy("test/domain/protection/lostSessions.test.ts"),
    change({
      in: "survived",
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
  "src/domain/protection/DecideWithoutList.ts": [
    change({ in: "freesIdentity", replace: "left.stopped !== null", by: "false" })
      .loses("a person whose session was lost cannot be protected by anybody else")
      .seenBy("test/domain/protection/lostSessions.test.ts")
  ],
  "src/domain/protection/Polling.ts": [
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
  "src/domain/protection/SignOutOutcomes.ts": [
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
  "src/protection/Step.ts": [
    change({ in: "written", replace: "(written) => written === null ? unwritten : Effect", by: "() => Effect" })
      .loses("a login code that comes while an admin changes the account is never told of")
      .seenBy("test/protection/outdated.test.ts"),
    change({ in: "step", replace: " || ownership.current() !== term", by: "" })
      .loses("a process that has lost the lease writes down what it saw with a dead key")
      .seenBy("test/protection/outdated.test.ts"),
    change({
      in: "recorded",
      replace: "login !== null && isUnseen(looked) ? yield* written(true) : first",
      by: "first"
    })
      .loses("an account that nobody can look at shows as protected while a login into it is not known to be over")
      .seenBy("test/protection/loginEndings.test.ts")
  ],
  "src/protection/SignOuts.ts": [
    change({
      in: "signOut",
      replace: "if (!(yield* watch.mayEnd(claimed, sent.sessionId, sent.intent))) return attempt(\"skipped\")",
      by: ""
    })
      .loses("who is approved at the last moment is signed out")
      .seenBy("test/protection/meanwhile.test.ts"),
    change({ in: "begin", replace: "(yield* journal.renew", by: "intent < 0 && (yield* journal.renew" })
      .loses("each try of a sign-out leaves an intent open")
      .seenBy("test/protection/crashes.test.ts"),
    change({
      in: "act",
      replace: "refused ||= attempt.outcome === \"flood\" || attempt.outcome === \"locked\"",
      by: ""
    })
      .loses("who is asked to wait goes on calling")
      .seenBy("test/protection/protecting.test.ts", "test/protection/measures.test.ts")
  ],
  "src/layers/sql/protection/MonitorStore.ts": [
    change({ in: "mayEnd", replace: " and not ${sql.literal(isSpared)}", by: "" })
      .loses("a session that is approved right before its sign-out is sent is signed out")
      .seenBy("test/protection/meanwhile.test.ts"),
    change({ in: "write", replace: "epoch <> ${epoch}", by: "epoch < 0" })
      .loses("a pause during a step is forgotten at its end")
      .seenBy("test/protection/claims.test.ts"),
    change({ in: "write", replace: "least(next_at, ${nextAt}::timestamptz)", by: "${nextAt}::timestamptz" })
      .loses("a push during a step is forgotten at its end")
      .seenBy(
        "test/protection/claims.test.ts",
        "test/protection/meanwhile.test.ts",
        "test/protection/crashes.test.ts",
        "test/protection/protecting.test.ts"
      )
  ],
  "src/layers/sql/sessions/Sessions.ts": [
    change({
      in: "approve",
      replace: "case when ending_intent is not null then coalesce(ending_reason, withheld_reason) end",
      by: "null"
    })
      .loses("an approval makes nobody's what the service has signed out")
      .seenBy("test/spec/04_16_sessions.test.ts")
  ],
  "src/layers/sql/accounts/AccountChanges.ts": [
    change({ in: "ended", replace: "and not ${sql.literal(isSpared)}", by: "" })
      .loses("a pause and a resume sign an approved session out")
      .seenBy("test/spec/04_16_sessions.test.ts")
  ],
  "src/operations/sessions/SigningOut.ts": [
    change({
      in: "settle",
      replace:
        "if (stopped?.twoFaManaged === true) yield* (yield* AccountTasks).add(whoseOf(context), \"rotate_two_fa\", now)",
      by: ""
    })
      .loses("a thief who was signed out by an admin keeps the 2FA password")
      .seenBy("test/spec/04_16_session_sign_outs.test.ts")
  ],
  "src/layers/sql/accounts/AccountLock.ts": [
    change({ in: "renewed", replace: "fence = $3", by: "fence >= $3" })
      .loses("a process that held the account too long overwrites what its present holder writes")
      .seenBy("test/protection/claims.test.ts"),
    change({ in: "released", replace: "fence = $3", by: "fence >= $3" })
      .loses("a process that held the account too long releases the hold of another")
      .seenBy("test/protection/claims.test.ts"),
    change({ in: "confirm", replace: "yield* new GuardLost({})", by: "0" })
      .loses("a holding that has run out is not noticed")
      .seenBy("test/protection/claims.test.ts")
  ],
  "src/layers/sql/protection/Monitors.ts": [
    change({ in: "unwatched", replace: "next_at is not null and ", by: "" })
      .loses("connections of stopped accounts stay open")
      .seenBy("test/jobs/licenceEnds.test.ts")
  ],
  "src/layers/sql/organization/LicenceEnds.ts": [
    change({ in: "leave", replace: " || isLive(licence, now)", by: "" })
      .loses("an account is given up though its licence is back")
      .seenBy("test/jobs/licenceEnds.test.ts"),
    change({
      in: "leave",
      replace:
        "yield* secrets.leave(of, { passwords: plus(now, unrevealedKept), passkeys: plus(now, retiredSessionKept) })",
      by: ""
    })
      .loses("people whom nobody protects any more are left with a password that they do not know")
      .seenBy("test/jobs/licenceEnds.test.ts"),
    change({ in: "leave", replace: "yield* own.leave(of, { due: now, now })", by: "" })
      .loses("the service stays in accounts that nobody pays for")
      .seenBy("test/jobs/licenceEnds.test.ts")
  ],
  "src/domain/organization/Organization.ts": [
    change({ in: "consequences", replace: "=== \"licence\"", by: "!== null" })
      .loses("an organization that an operator has suspended is active again with a new licence")
      .seenBy("test/jobs/licenceEnds.test.ts"),
    change({ in: "endedByTime", replace: "if (facts.closed_at !== null) return null", by: "" })
      .loses("what is closed goes on changing")
      .seenBy("test/domain/organization/Organization.test.ts")
  ],
  "src/protection/RetiredSessions.ts": [
    change({
      in: "gone",
      replace: "done(held, session, reason, session.log_out_intent)",
      by: "own.forget(held, [session.id])"
    })
      .loses("the journal never says that a session was logged out whose answer was lost")
      .seenBy("test/protection/crashes.test.ts")
  ],
  "src/layers/sql/protection/Silence.ts": [
    change({ in: "restore", replace: "if (left.length > 0) return", by: "" })
      .loses("an organization is told that its accounts are watched again while some are not")
      .seenBy("test/jobs/silence.test.ts")
  ]
}
