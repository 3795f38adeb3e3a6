import { assert, describe, it } from "@effect/vitest"
import type { SignOutAttempt } from "../../../src/domain/protection/Decision.ts"
import { applyOutcomes } from "../../../src/domain/protection/SignOutOutcomes.ts"
import { facts, main, row } from "../../support/protection/facts.ts"
import { at } from "../../support/stored.ts"

const marked = (id: string) => row(id, { ending_reason: "hijacked", ending_at: at(-1), ending_intent: 4 })

const attempt = (id: string, outcome: SignOutAttempt["outcome"], again = false): SignOutAttempt => ({
  session_id: id,
  reason: "hijacked",
  intent: 4,
  again,
  outcome,
  retryAt: null
})

/** What is told of an open takeover of two sessions after these attempts. */
const outcomeOf = (...attempts: ReadonlyArray<SignOutAttempt>) => {
  const stored = facts({ facets: { through: main, takeover: "passkey" }, sessions: [marked("d2"), marked("d3")] })
  const { account, events, facets } = applyOutcomes(stored, attempts, at(0))
  const stopped = events.some(({ action }) => action === "takeover.stopped")
  assert.strictEqual(stopped, account.locked_at !== undefined)
  assert.strictEqual(stopped, facets.takeover === undefined)
  return stopped
}

describe("12.7 what came of the sign-outs of a takeover", () => {
  it("is that it is stopped by the first of its sessions that the service ended, also by an earlier call", () => {
    assert.isTrue(outcomeOf(attempt("d2", "done"), attempt("d3", "unavailable")))
    assert.isTrue(outcomeOf(attempt("d2", "unknown_authorization", true), attempt("d3", "unavailable")))
  })

  it("is that it is stopped where none is left, whoever was first, and not while one is", () => {
    assert.isTrue(outcomeOf(attempt("d2", "unknown_authorization"), attempt("d3", "unknown_authorization")))
    assert.isFalse(outcomeOf(attempt("d2", "unknown_authorization"), attempt("d3", "unavailable")))
    assert.isFalse(outcomeOf(attempt("d2", "flood"), attempt("d3", "skipped")))
  })
})
