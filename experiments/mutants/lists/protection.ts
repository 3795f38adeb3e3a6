import type { Mutant } from "../list.ts"

export const protection: ReadonlyArray<Mutant> = [
  {
    file: "src/domain/protection/Deadline.ts",
    line: "return later(soonest, earliest([reviewed, aged]))",
    becomes: "return later(soonest, reviewed)",
    why: "a stranger comes to the age at which it may sign others out",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Deadline.ts",
    line: "const reviewed = plus(later(facts.seenAt, facts.resumedAt), facts.reviewWindow)",
    becomes: "const reviewed = plus(facts.seenAt, facts.reviewWindow)",
    why: "sessions are gone the moment a long pause ends",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Deadline.ts",
    line: "if (facts.onSight) return soonest",
    becomes: "",
    why: "a locked account lets strangers wait for their review",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Deadline.ts",
    line:
      "export const isActing = ({ slot }: Pick<OwnSession, \"slot\">): boolean => slot === \"main\" || slot === \"paired\"",
    becomes: "export const isActing = ({ slot }: Pick<OwnSession, \"slot\">): boolean => slot === \"main\"",
    why: "after a new login an older paired session does not go on enforcing",
    tests: ["test/domain/protection/sequences.test.ts"]
  },
  {
    file: "src/domain/protection/Own.ts",
    line: "const asking = authorizations.filter(({ current }) => current)",
    becomes: "const asking = authorizations.filter((seen) => isOwnDevice(seen, device))",
    why: "a thief's device that calls itself like the service is taken for it",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Own.ts",
    line: "seen.created_at?.getTime() === own.created_at.getTime() && isOwnDevice(seen, device)",
    becomes: "isOwnDevice(seen, device)",
    why: "whoever copies the service's names is never signed out",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Review.ts",
    line:
      "!account.baselined && row.created_at !== null && asking.created_at !== null && row.created_at <= asking.created_at",
    becomes: "row.created_at !== null && asking.created_at !== null && row.created_at <= asking.created_at",
    why: "what comes back after a good poll counts as there from the beginning",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Review.ts",
    line: "? { ...row, baseline: true }",
    becomes: "? row",
    why: "the holder's own phone is signed out half a day after connecting",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Review.ts",
    line: "ending_reason: row.withheld_reason ?? row.ending_reason ?? \"rejected\",",
    becomes: "ending_reason: row.ending_reason,",
    why: "a pause forgets which sessions an admin has rejected",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Review.ts",
    line: "canSignOut(enforcement, now) && (retryAt === null || retryAt <= now)",
    becomes: "retryAt === null || retryAt <= now",
    why: "sign-outs are sent before the platform allows them, at every poll",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Review.ts",
    line:
      "): boolean => ending_reason !== null && approved_at !== null && (ending_at === null || approved_at >= ending_at)",
    becomes:
      "): boolean => ending_reason === null && approved_at !== null && (ending_at === null || approved_at >= ending_at)",
    why: "a session that was approved after a takeover is signed out all the same",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Review.ts",
    line: "Number(isPending(other)) - Number(isPending(one)) || age(other) - age(one)",
    becomes: "age(other) - age(one)",
    why: "a takeover signs the holder's devices out before the thief's",
    tests: ["test/domain/protection/sequences.test.ts"]
  },
  {
    file: "src/domain/protection/Review.ts",
    line: "const waits = rows.some(({ ending_reason }) => ending_reason !== null) ? [enforcement, retryAt] : []",
    becomes: "const waits: ReadonlyArray<Date> = []",
    why: "what is queued waits for the next poll instead of the end of the platform's lock",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Takeover.ts",
    line: "row.service || row.ending_intent !== null",
    becomes: "row.service || row.approved_at !== null || row.ending_intent !== null",
    why: "a thief who was approved by mistake stays in",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Takeover.ts",
    line:
      "): boolean => sessions.some((row) => isPending(row) && (recent(row.seen_at, now) || recent(monitor.last_ok_at, now)))",
    becomes: "): boolean => sessions.some((row) => isPending(row))",
    why: "a stranger of last week makes a takeover of every lost session",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/WhenSeen.ts",
    line: "(takeover === null || takeover.response === \"none\" ? rows : hijacked(rows, terms.now))",
    becomes: "(takeover === null || takeover.response === \"none\" ? rows : rows)",
    why: "a takeover is told of and not stopped",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/WhenSeen.ts",
    line: "const actor = good ? \"external\" : \"unknown\"",
    becomes: "const actor = \"external\"",
    why: "the service says who ended a session although nobody watched",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/WhenSeen.ts",
    line: "if (reason !== null && row.ending_intent !== null) {",
    becomes: "if (reason !== null && row.ending_intent === null) {",
    why: "after a crash the service's own sign-out is blamed on somebody else",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Signals.ts",
    line: "one.present === other.present && one.pending === other.pending &&",
    becomes: "one.present === other.present &&",
    why: "a recovery email that waits for its code goes unseen",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Signals.ts",
    line: "before !== undefined && after !== undefined && !same(before, after)",
    becomes: "after !== undefined && (before === undefined || !same(before, after))",
    why: "the first look at an account reports a takeover",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Rows.ts",
    line: "if (!otherList) return known",
    becomes: "return known",
    why: "after a failover every approved session is a stranger",
    tests: ["test/domain/protection/sequences.test.ts"]
  },
  {
    file: "src/domain/protection/Polling.ts",
    line: "(monitor.started_at === null || monitor.last_ok_at >= monitor.started_at)",
    becomes: "true",
    why: "what ended during a pause is blamed on somebody",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Polling.ts",
    line: "const unknown = failures >= failuresUntilUnknown || isSilent(facts.monitor, now)",
    becomes: "const unknown = failures >= failuresUntilUnknown",
    why: "an account that is polled rarely shows as protected long after its last good poll",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Decide.ts",
    line: "if (!isWatched(facts.account)) return nothing(facts, now)",
    becomes: "",
    why: "a paused account's sessions are signed out",
    tests: ["test/domain/protection/decide.test.ts"]
  },
  {
    file: "src/domain/protection/Settle.ts",
    line: "const stopped = takeover !== undefined && (hijacked > 0 || noneLeft)",
    becomes: "const stopped = takeover !== undefined",
    why: "a takeover counts as stopped although nothing was signed out",
    tests: ["test/domain/protection/sequences.test.ts"]
  },
  {
    file: "src/domain/protection/WhenUnseen.ts",
    line: "...(left.signals.length > 0 && takeover === null ? { revoked_at: now.toISOString() } : {})",
    becomes: "",
    why: "a thief who revokes the service before it saw him is no takeover",
    tests: ["test/domain/protection/sequences.test.ts"]
  }
]
