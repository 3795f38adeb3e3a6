/** The cases of a run: one number of a seed is one case, whatever came before it. */
import * as fc from "fast-check"
import * as crypto from "node:crypto"
import type { Case } from "./case.ts"
import * as Mcp from "./mcp.ts"
import * as OAuth from "./oauth.ts"
import * as Rest from "./rest.ts"
import type { Stage } from "./stage.ts"
import * as Wire from "./wire.ts"

export const arbitrary = (stage: Stage): fc.Arbitrary<Case> =>
  fc.oneof(
    { weight: 50, arbitrary: Rest.cases(stage) },
    { weight: 22, arbitrary: Mcp.cases(stage) },
    { weight: 20, arbitrary: OAuth.cases(stage) },
    { weight: 8, arbitrary: Wire.cases(stage) }
  )

/** The seed of one case. */
const seedOf = (seed: number, number: number): number =>
  crypto.createHash("sha256").update(`${seed}/${number}`).digest().readInt32BE()

/** The case of that number. */
export const caseOf = (arbitrary: fc.Arbitrary<Case>, seed: number, number: number): Case => {
  const [found] = fc.sample(arbitrary, { seed: seedOf(seed, number), numRuns: 1 })
  if (found === undefined) throw new Error("No case was generated")
  return found
}

/** The smallest case that `fails` still holds for, found from the case of that number. */
export const shrink = async (
  arbitrary: fc.Arbitrary<Case>,
  seed: number,
  number: number,
  fails: (found: Case) => Promise<boolean>
): Promise<Case | undefined> => {
  const found = await fc.check(fc.asyncProperty(arbitrary, async (each) => !(await fails(each))), {
    seed: seedOf(seed, number),
    numRuns: 1,
    interruptAfterTimeLimit: 20_000,
    markInterruptAsFailure: true
  })
  return found.counterexample?.[0]
}
