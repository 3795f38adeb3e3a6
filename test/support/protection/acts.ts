/** What may happen to an account, at random. */
import * as fc from "fast-check"
import type { Act } from "./play.ts"

const often = fc.constantFrom(1, 1, 5, 9, 30, 60, 11 * 60, 12 * 60, 13 * 60, 23 * 60, 24 * 60, 26 * 60)

const stepCase = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant({ look: false }) },
  { weight: 1, arbitrary: fc.constant({ pairedSilent: true }) },
  { weight: 2, arbitrary: fc.constantFrom("before", "after").map((crash) => ({ crash })) },
  { weight: 2, arbitrary: fc.constantFrom("approve", "pause", "end").map((during) => ({ during })) },
  { weight: 1, arbitrary: fc.constantFrom("flood", "unavailable").map((refused) => ({ refused })) }
)

const pick = fc.nat({ max: 9 })

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("wait"), minutes: often, step: stepCase }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("sign in"), disguised: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("end"), pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("approve", "reject"), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("change"),
      what: fc.constantFrom("2fa", "reset", "recovery", "login email", "phone", "passkey")
    })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "pause",
        "resume",
        "resume",
        "relogin",
        "pair",
        "set 2fa",
        "release",
        "away",
        "back",
        "back",
        "flood",
        "code",
        "attempt"
      )
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("revoke"), slot: fc.constantFrom("main", "paired") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("lockdown", "security lock"), on: fc.boolean() }) }
)

/** A sequence of it. */
export const acts = fc.array(act, { minLength: 4, maxLength: 24, size: "max" })

/** How many of the holder's devices there are before, and whether each session sees ids of its own. */
export const setting = fc.record({ before: fc.nat({ max: 2 }), ownIds: fc.boolean() })
