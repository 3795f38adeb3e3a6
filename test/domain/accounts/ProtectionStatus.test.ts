import { assert, describe, it } from "@effect/vitest"
import {
  AccountStatus,
  deriveStatus,
  isActive,
  type StatusFacts
} from "../../../src/domain/accounts/ProtectionStatus.ts"
import { accountFacts, at, day, hour, now } from "../../support/stored.ts"

const status = (facts: Partial<StatusFacts>, when = now) => deriveStatus(accountFacts(facts), when)

/** What makes each status hold, in the order in which they win over each other. */
const ladder: ReadonlyArray<readonly [AccountStatus, Partial<StatusFacts>]> = [
  ["available", { offboarded_at: at(-hour) }],
  ["paused", { paused_at: at(-hour) }],
  ["protection_stopped", { stopped_at: at(-hour) }],
  ["status_unknown", { monitoring_state: "unknown" }],
  ["hijack_blocked", { takeover_stopped_at: at(-hour) }],
  ["new_sign_in", { review_pending: true }],
  ["recently_connected", { connected_at: at(-hour), enforcement_active_at: at(23 * hour) }],
  ["protected", {}]
]

const allOf = (from: number): Partial<StatusFacts> => Object.assign({}, ...ladder.slice(from).map(([, facts]) => facts))

describe("3.1 the status of an account", () => {
  it.each(ladder)("S3.1-02, S3.1-05: is %s when only that holds", (expected, facts) => {
    assert.strictEqual(status(facts), expected)
  })

  it("S3.1-07: is the first that holds: available, paused, stopped, unknown, hijack, new sign-in, recently connected", () => {
    assert.deepStrictEqual(
      ladder.map((_, from) => status(allOf(from))),
      [
        "available",
        "paused",
        "protection_stopped",
        "status_unknown",
        "hijack_blocked",
        "new_sign_in",
        "recently_connected",
        "protected"
      ]
    )
  })

  it("S3.1-07: does not depend on what comes later in the order, for every pair", () => {
    for (const [first, [expected, facts]] of ladder.entries()) {
      for (const [, other] of ladder.slice(first + 1)) {
        assert.strictEqual(status({ ...other, ...facts }), expected)
      }
    }
  })

  it("S3.1-01, S3.2-01: takes eight values and no other", () => {
    assert.deepStrictEqual([...AccountStatus.literals].toSorted(), ladder.map(([value]) => value).toSorted())
  })

  describe("after a takeover that was stopped", () => {
    const stopped = (ago: number, facts: Partial<StatusFacts> = {}) =>
      status({ takeover_stopped_at: at(-ago), ...facts })

    it("S3.1-04: is hijack_blocked until a millisecond before 48 hours, and not any more at 48 hours", () => {
      assert.strictEqual(stopped(0), "hijack_blocked")
      assert.strictEqual(stopped(48 * hour - 1), "hijack_blocked")
      assert.strictEqual(stopped(48 * hour), "protected")
      assert.strictEqual(stopped(48 * hour + 1), "protected")
    })

    it("S3.1-13: counts only when it is later than the last resume", () => {
      assert.strictEqual(stopped(2 * hour, { resumed_at: at(-2 * hour - 1) }), "hijack_blocked")
      assert.strictEqual(stopped(2 * hour, { resumed_at: at(-2 * hour) }), "protected")
      assert.strictEqual(stopped(2 * hour, { resumed_at: at(-2 * hour + 1) }), "protected")
    })
  })

  describe("after connecting", () => {
    const connected = (ago: number, facts: Partial<StatusFacts> = {}) =>
      status({ connected_at: at(-ago), enforcement_active_at: at(day - ago), ...facts })

    it("S3.1-03: is recently_connected until a millisecond before 24 hours, and not any more at 24 hours", () => {
      assert.strictEqual(connected(0), "recently_connected")
      assert.strictEqual(connected(day - 1), "recently_connected")
      assert.strictEqual(connected(day), "protected")
      assert.strictEqual(connected(day + 1), "protected")
    })

    it("S3.1-13: counts only when it is later than the last resume", () => {
      assert.strictEqual(connected(2 * hour, { resumed_at: at(-2 * hour - 1) }), "recently_connected")
      assert.strictEqual(connected(2 * hour, { resumed_at: at(-2 * hour) }), "protected")
      assert.strictEqual(connected(2 * hour, { resumed_at: at(-2 * hour + 1) }), "protected")
    })

    it("is protected without a moment of connecting or of enforcement", () => {
      assert.strictEqual(connected(hour, { connected_at: null }), "protected")
      assert.strictEqual(connected(hour, { enforcement_active_at: null }), "protected")
    })
  })

  it("is protected while monitoring is merely stopped", () => {
    assert.strictEqual(status({ monitoring_state: "stopped" }), "protected")
  })

  it("S3.1-08: is active in the six states that are neither paused nor offboarded", () => {
    assert.deepStrictEqual(AccountStatus.literals.filter((value) => !isActive(value)).toSorted(), [
      "available",
      "paused"
    ])
  })
})
