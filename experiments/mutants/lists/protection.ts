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
      .seenBy("test/domain/protection/sequences.test.ts")
  ],
  "src/domain/protection/ServiceSessionFacts.ts": [
    change({ in: "asking", replace: "({ current }) => current", by: "(seen) => isOwnDevice(seen, device)" })
      .loses("a thief's device that calls itself like the service is taken for it")
      .seenBy("test/domain/protection/sessions.test.ts"),
    change({ in: "found", replace: "seen.created_at?.getTime() === own.created_at.getTime() && ", by: "" })
      .loses("a session that copies the service's names is never signed out")
      .seenBy("test/domain/protection/sessions.test.ts")
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
  "src/domain/protection/Takeover.ts": [
    change({ in: "hijacked", replace: "ending_intent", by: "approved_at !== null || row.ending_intent" })
      .loses("a thief who was approved by mistake stays in")
      .seenBy("test/domain/protection/takeovers.test.ts"),
    change({ in: "strangerSeen", replace: " && (recent(row.seen_at, now) || recent(monitor.last_ok_at, now))", by: "" })
      .loses("a stranger of last week makes a takeover of every lost session")
      .seenBy("test/domain/protection/lostSessions.test.ts"),
    change({ in: "strangersEnded", replace: "ended.some(isPending)", by: "ended.length < 0" })
      .loses("a stranger who leaves in time can have the service's session revoked without a takeover")
      .seenBy("test/domain/protection/takeovers.test.ts")
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
      .seenBy("test/domain/protection/takeovers.test.ts")
  ],
  "src/domain/protection/ProtectionRows.ts": [
    change({ in: "earlierRows", replace: "if (!otherList) ", by: "" })
      .loses("after a failover every approved session is a stranger")
      .seenBy("test/domain/protection/sequences.test.ts")
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
      .seenBy("test/domain/protection/lostSessions.test.ts")
  ],
  "src/domain/protection/Decide.ts": [
    change({ in: "decide", replace: "if (!isWatched(facts.account)) return nothing(facts, now)", by: "" })
      .loses("a paused account's sessions are signed out")
      .seenBy("test/domain/protection/sessions.test.ts")
  ],
  "src/domain/protection/SignOutOutcomes.ts": [
    change({ in: "stopped", replace: " && (hijacked > 0 || noneLeft)", by: "" })
      .loses("a takeover counts as stopped although nothing was signed out")
      .seenBy("test/domain/protection/sequences.test.ts")
  ],
  "src/domain/protection/DecideWithoutList.ts": [
    change({
      in: "facets",
      replace: "...(left.signals.length > 0 && takeover === null ? { revoked_at: now.toISOString() } : {})",
      by: ""
    })
      .loses("a thief who revokes the service before it saw him is no takeover")
      .seenBy("test/domain/protection/sequences.test.ts")
  ]
}
