import type { Mutant } from "../list.ts"

/** Of the watch: signals, failover, deadlines, guard, claim and finish, and what follows from a licence. */
export const watching: ReadonlyArray<Mutant> = [
  {
    file: "src/domain/protection/Deadline.ts",
    line: "earliest(own.filter(isActing).map(({ created_at }) => plus(created_at, signOutLock)))",
    becomes: "earliest(own.map(({ created_at }) => plus(created_at, signOutLock)))",
    why: "a session that was replaced lets the service sign out earlier than the platform does",
    tests: ["test/domain/protection/sequences.test.ts"]
  },
  {
    file: "src/domain/protection/Deadline.ts",
    line:
      "export const canSignOut = (enforcement: Date | null, now: Date): boolean => enforcement !== null && now >= enforcement",
    becomes:
      "export const canSignOut = (enforcement: Date | null, now: Date): boolean => enforcement !== null && now > enforcement",
    why: "what is queued is not signed out at the end of the platform's lock",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Deadline.ts",
    line:
      "): boolean => account.security_lock || account.locked_at !== null && now < plus(account.locked_at, takeoverWindow)",
    becomes: "): boolean => account.security_lock || account.locked_at !== null",
    why: "the lock of a takeover never ends",
    tests: ["test/domain/protection/sequences.test.ts"]
  },
  {
    file: "src/domain/protection/Deadline.ts",
    line: "const soonest = later(now, facts.enforcement)",
    becomes: "const soonest = now",
    why: "sign-outs are due before the platform allows them",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Deadline.ts",
    line: "const aged = plus(facts.createdAt ?? facts.seenAt, strangersAge)",
    becomes: "const aged = plus(facts.seenAt, strangersAge)",
    why: "a stranger that was found late comes to the age at which it may sign others out",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Takeover.ts",
    line: "? signals.filter(({ code }) => code !== \"T7\")",
    becomes: "? []",
    why: "no signal is a takeover",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Signals.ts",
    line: "...(differs(before.two_fa, after.two_fa, equal) ? [{ code: \"T1\", what: \"two_fa\" } as const] : []),",
    becomes: "",
    why: "a 2FA password that a thief changes is no signal",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Signals.ts",
    line:
      "...(differs(before.reset_at, after.reset_at, noNewReset) ? [{ code: \"T1\", what: \"two_fa_reset\" } as const] : []),",
    becomes: "",
    why: "a thief who asks for a reset of the 2FA password is not seen",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Signals.ts",
    line:
      "...(differs(before.recovery, after.recovery, sameRecovery) ? [{ code: \"T2\", what: \"recovery_email\" } as const] : []),",
    becomes: "",
    why: "a thief's recovery address is not seen",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Signals.ts",
    line:
      "...(differs(before.login_email, after.login_email, equal) ? [{ code: \"T2\", what: \"login_email\" } as const] : []),",
    becomes: "",
    why: "a thief's login address is not seen",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Signals.ts",
    line: "...(differs(before.phone, after.phone, equal) ? [{ code: \"T3\", what: \"phone_number\" } as const] : []),",
    becomes: "",
    why: "a thief takes the account to another number unseen",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Signals.ts",
    line:
      "...(differs(before.passkeys, after.passkeys, noneAdded) ? [{ code: \"T4\", what: \"passkey\" } as const] : [])",
    becomes: "",
    why: "a thief's passkey is not seen",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Signals.ts",
    line:
      "const code = seen.codes > 0 && !login.open && (lastCode === undefined || !within(lastCode, codesTogether, now))",
    becomes: "const code = seen.codes > 0 && (lastCode === undefined || !within(lastCode, codesTogether, now))",
    why: "the service's own login is reported as somebody's attempt",
    tests: [
      "test/domain/protection/sequences.test.ts",
      "test/engine/logins.test.ts",
      "test/domain/protection/decide.test.ts"
    ]
  },
  {
    file: "src/domain/protection/Stage.ts",
    line: "if (!facts.lockdown) return { signals, response: \"none\", stopped: false }",
    becomes: "",
    why: "who does not want accounts locked has everybody signed out",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Stage.ts",
    line: "return { signals, response: canSignOut(enforcement, now) ? \"sign_out\" : \"queued\", stopped: false }",
    becomes: "return { signals, response: \"sign_out\", stopped: false }",
    why: "a takeover is answered before the platform allows it",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Lost.ts",
    line: "if (paired !== undefined && lostPaired === undefined) return promoted(facts, main, paired, reason, now)",
    becomes: "",
    why: "protection stops although a second session lives",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Lost.ts",
    line: "if (isEnded(reason)) return stopped(facts, lost, stopReason(reason), now)",
    becomes: "",
    why: "an account without a session shows as unknown for ever",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Lost.ts",
    line: "reasons.some((reason) => reason === \"revoked\" || reason === \"logged_out\") ? [revoked] : []",
    becomes: "[revoked]",
    why: "the service's own fault is a thief's signal",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Lost.ts",
    line: "account: pairedLost(facts, \"promoted\", now),",
    becomes: "account: {},",
    why: "the console shows a second session that is the first one now",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/WhenUnseen.ts",
    line: "freesIdentity: left.stopped !== null,",
    becomes: "freesIdentity: false,",
    why: "a person whose session was lost cannot be protected by anybody else",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Polling.ts",
    line: "const next = dueAt !== null && dueAt < poll ? dueAt : poll",
    becomes: "const next = poll",
    why: "a deadline waits for the next poll",
    tests: ["test/domain/protection/polling.test.ts"]
  },
  {
    file: "src/domain/protection/Polling.ts",
    line: "return failures >= manyFailures ? failingPollPeriod : pollPeriod",
    becomes: "return failures > 0 ? failingPollPeriod : pollPeriod",
    why: "after one look that failed nobody looks for five minutes",
    tests: ["test/properties/watching.test.ts"]
  },
  {
    file: "src/domain/protection/Polling.ts",
    line: "return monitor.flood_until !== null && monitor.flood_until > next ? monitor.flood_until : next",
    becomes: "return next",
    why: "the platform's wait is not kept",
    tests: ["test/domain/protection/polling.test.ts"]
  },
  {
    file: "src/domain/protection/Polling.ts",
    line: "if (Duration.toMillis(wait) <= Duration.toMillis(longestQuietFlood)) {",
    becomes: "if (Duration.toMillis(wait) < 0) {",
    why: "every short wait makes the account unknown",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Settle.ts",
    line: "if (outcome === \"done\" || outcome === \"unknown_authorization\" && again) {",
    becomes: "if (outcome === \"done\" || outcome === \"unknown_authorization\") {",
    why: "the service claims a sign-out that somebody else made",
    tests: ["test/domain/protection/sequences.test.ts", "test/domain/protection/polling.test.ts"]
  },
  {
    file: "src/domain/protection/Settle.ts",
    line: "if (outcome === \"skipped\" && again) return { row, ended: null, notices: [] }",
    becomes: "",
    why: "a sign-out that may have been sent is told of as not done",
    tests: ["test/domain/protection/sequences.test.ts", "test/domain/protection/polling.test.ts"]
  },
  {
    file: "src/engine/Step.ts",
    line: "if (!(yield* watch.mayEnd(claimed, sent.sessionId, sent.intent))) return attempt(\"skipped\")",
    becomes: "",
    why: "who is approved at the last moment is signed out",
    tests: ["test/engine/meanwhile.test.ts"]
  },
  {
    file: "src/layers/sql/Watch.ts",
    line: "and ending_intent = ${intent} and not ${sql.literal(isSpared)}`.pipe(Effect.orDie)",
    becomes: "and ending_intent = ${intent}`.pipe(Effect.orDie)",
    why: "a session that is approved right before its sign-out is sent is signed out",
    tests: ["test/engine/meanwhile.test.ts"]
  },
  {
    file: "src/layers/sql/Sessions.ts",
    line: "ending_reason = case when ending_intent is not null then coalesce(ending_reason, withheld_reason) end,",
    becomes: "ending_reason = null,",
    why: "an approval makes nobody's what the service has signed out",
    tests: ["test/spec/04_16_sessions.test.ts"]
  },
  {
    file: "src/layers/sql/Accounts.ts",
    line: "and not ${sql.literal(isSpared)}",
    becomes: "",
    why: "a pause and a resume sign an approved session out",
    tests: ["test/spec/04_16_sessions.test.ts"]
  },
  {
    file: "src/engine/Step.ts",
    line: "Effect.tap((written) => written === null ? unwritten : Effect.void)",
    becomes: "Effect.tap(() => Effect.void)",
    why: "a login code that comes while an admin changes the account is never told of",
    tests: ["test/engine/outdated.test.ts"]
  },
  {
    file: "src/operations/sessions/SigningOut.ts",
    line:
      "if (stopped?.twoFaManaged === true) yield* (yield* AccountTasks).add(whoseOf(context), \"rotate_two_fa\", now)",
    becomes: "",
    why: "a thief who was signed out by an admin keeps the 2FA password",
    tests: ["test/spec/04_16_session_sign_outs.test.ts"]
  },
  {
    file: "src/engine/Step.ts",
    line: "if (term === null || ownership.current() !== term) return { kind: \"outdated\", reach }",
    becomes: "if (term === null) return { kind: \"outdated\", reach }",
    why: "a process that has lost the lease writes down what it saw with a dead key",
    tests: ["test/engine/outdated.test.ts"]
  },
  {
    file: "src/engine/Step.ts",
    line: "if (intent !== null && (yield* journal.renew(organizationId, intent))) {",
    becomes: "if (intent !== null && intent < 0 && (yield* journal.renew(organizationId, intent))) {",
    why: "each try of a sign-out leaves an intent open",
    tests: ["test/engine/crashes.test.ts"]
  },
  {
    file: "src/engine/Step.ts",
    line: "refused ||= attempt.outcome === \"flood\" || attempt.outcome === \"locked\"",
    becomes: "",
    why: "who is asked to wait goes on calling",
    tests: ["test/engine/protecting.test.ts", "test/engine/measures.test.ts"]
  },
  {
    file: "src/layers/sql/Guard.ts",
    line:
      "update monitor set busy_until = $4 where organization_id = $1 and account_id = $2 and fence = $3 returning epoch`",
    becomes:
      "update monitor set busy_until = $4 where organization_id = $1 and account_id = $2 and fence >= $3 returning epoch`",
    why: "whoever held the account too long writes over the one who has it now",
    tests: ["test/engine/claims.test.ts"]
  },
  {
    file: "src/layers/sql/Guard.ts",
    line: "where organization_id = $1 and account_id = $2 and fence = $3 returning fence`",
    becomes: "where organization_id = $1 and account_id = $2 and fence >= $3 returning fence`",
    why: "whoever held the account too long gives away what is another's",
    tests: ["test/engine/claims.test.ts"]
  },
  {
    file: "src/layers/sql/Guard.ts",
    line: "return row === undefined ? yield* new GuardLost({}) : row.epoch",
    becomes: "return row === undefined ? 0 : row.epoch",
    why: "a holding that has run out is not noticed",
    tests: ["test/engine/claims.test.ts"]
  },
  {
    file: "src/layers/sql/Watch.ts",
    line: "when epoch <> ${epoch} then next_at",
    becomes: "when epoch < 0 then next_at",
    why: "a pause during a step is forgotten at its end",
    tests: ["test/engine/claims.test.ts"]
  },
  {
    file: "src/layers/sql/Watch.ts",
    line: "when urgent then least(next_at, ${nextAt}::timestamptz)",
    becomes: "when urgent then ${nextAt}::timestamptz",
    why: "a push during a step is forgotten at its end",
    tests: [
      "test/engine/claims.test.ts",
      "test/engine/meanwhile.test.ts",
      "test/engine/crashes.test.ts",
      "test/engine/protecting.test.ts"
    ]
  },
  {
    file: "src/layers/sql/Monitors.ts",
    line: "and next_at is not null and session_ref = ref)`",
    becomes: "and session_ref = ref)`",
    why: "connections of stopped accounts stay open",
    tests: ["test/engine/licenceEnds.test.ts"]
  },
  {
    file: "src/layers/sql/LicenceEnds.ts",
    line: "if (licence === undefined || isLive(licence, now)) return 0",
    becomes: "if (licence === undefined) return 0",
    why: "an account is given up though its licence is back",
    tests: ["test/engine/licenceEnds.test.ts"]
  },
  {
    file: "src/layers/sql/LicenceEnds.ts",
    line: "yield* secrets.leave(of, { passwords: plus(now, unrevealedKept), passkeys: plus(now, retiredSessionKept) })",
    becomes: "",
    why: "people whom nobody protects any more are left with a password that they do not know",
    tests: ["test/engine/licenceEnds.test.ts"]
  },
  {
    file: "src/layers/sql/LicenceEnds.ts",
    line: "yield* own.leave(of, { due: now, now })",
    becomes: "",
    why: "the service stays in accounts that nobody pays for",
    tests: ["test/engine/licenceEnds.test.ts"]
  },
  {
    file: "src/domain/Organization.ts",
    line: "...((facts.status === \"pending\" || facts.suspend_reason === \"licence\") &&",
    becomes: "...((facts.status === \"pending\" || facts.suspend_reason !== null) &&",
    why: "whoever an operator has suspended is active again with a new licence",
    tests: ["test/engine/licenceEnds.test.ts"]
  },
  {
    file: "src/domain/Organization.ts",
    line: "if (facts.closed_at !== null) return null",
    becomes: "",
    why: "what is closed goes on changing",
    tests: ["test/domain/Organization.test.ts"]
  },
  {
    file: "src/engine/RetiredSessions.ts",
    line: ": done(held, session, reason, session.log_out_intent)",
    becomes: ": own.forget(held, [session.id])",
    why: "the journal never says that a session was logged out whose answer was lost",
    tests: ["test/engine/crashes.test.ts"]
  },
  {
    file: "src/engine/Step.ts",
    line: "const recorded = login !== null && isUnseen(looked) ? yield* written(true) : first",
    becomes: "const recorded = first",
    why: "an account that nobody can look at shows as protected while a login into it is not known to be over",
    tests: ["test/engine/logins.test.ts"]
  },
  {
    file: "src/layers/sql/Silence.ts",
    line: "if (left.length > 0) return",
    becomes: "",
    why: "an organization is told that its accounts are watched again while some are not",
    tests: ["test/engine/silence.test.ts"]
  }
]
