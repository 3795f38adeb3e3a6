import { assert, describe, it } from "@effect/vitest"
import { session } from "../../../src/domain/sessions/Session.ts"
import { at, day, hour, now, sessionFacts } from "../../support/stored.ts"

describe("2.4 a session", () => {
  it("S2.4-10: can be signed out from 24 hours after connecting on, and not a millisecond before", () => {
    const connected = (ago: number) => session(sessionFacts(), at(day - ago), now).can_sign_out
    assert.isFalse(connected(0))
    assert.isFalse(connected(day - 1))
    assert.isTrue(connected(day))
    assert.isTrue(connected(day + 1))
    assert.isFalse(session(sessionFacts(), null, now).can_sign_out)
  })

  it("S2.4-08: is approved exactly when an admin approved it, and queued exactly when its sign-out was", () => {
    const shown = (facts: Parameters<typeof sessionFacts>[0]) => {
      const { approved, sign_out_queued } = session(sessionFacts(facts), null, now)
      return { approved, sign_out_queued }
    }
    assert.deepStrictEqual(shown({}), { approved: false, sign_out_queued: false })
    assert.deepStrictEqual(shown({ baseline: true, service: true, current: true, review_deadline: at(hour) }), {
      approved: false,
      sign_out_queued: false
    })
    assert.deepStrictEqual(shown({ approved_at: at(-hour) }), { approved: true, sign_out_queued: false })
    assert.deepStrictEqual(shown({ queued_at: at(-hour) }), { approved: false, sign_out_queued: true })
  })
})
