import { assert, describe, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import * as Intent from "../../src/changes/Intent.ts"
import { byOperator } from "../../src/changes/Record.ts"
import { MessengerUnavailable, NotActive } from "../../src/domain/Failure.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import { closeAllIntents } from "../../src/jobs/journal/close_abandoned_intents.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const sweep = Effect.orDie(closeAllIntents)

/** The outcomes in the journal of a change of its own organization, and how often it was made. */
const changing = Effect.fnUntraced(function*<E, R>(
  act: Effect.Effect<void, E, R>,
  { again = false, isWanted = true }: { readonly again?: boolean; readonly isWanted?: boolean } = {}
) {
  const organizationId = OrganizationId.make((yield* World.makeOrganization()).id)
  const entry: Intent.IntentEntry = {
    author: byOperator(organizationId),
    action: "organization.set",
    target: { id: organizationId },
    details: { name: "Ada" }
  }
  const made = yield* Intent.run({
    organizationId,
    again,
    entry: Effect.succeed(isWanted ? { entry, context: null } : { entry: null, answer: "nothing" }),
    prepare: () => Effect.void,
    act: () => act,
    apply: () => Effect.succeed<Intent.ChangeResult>({ details: { made: true } }),
    undo: (failure) => Effect.succeed({ details: failure })
  })
  const events = yield* World.journal(organizationId)
  const first = events[0]?.sequence ?? 0
  return {
    made,
    outcomes: events.map(({ closes, details, outcome, sequence }) => {
      assert.strictEqual(closes, outcome === "pending" ? null : sequence - 1)
      return [outcome, "retries" in details ? { ...details, retries: details["retries"] === first } : details]
    })
  }
})

describe("11 a change between its intent and its outcome", () => {
  layer(World.world(postgres))((it) => {
    it.effect("leaves both with the intent's details and those of the outcome", () =>
      Effect.gen(function*() {
        const { outcomes } = yield* changing(Effect.void)
        assert.deepStrictEqual(outcomes, [["pending", { name: "Ada" }], ["done", { name: "Ada", made: true }]])
      }))

    it.effect("is not made, and leaves no entry, where nothing is to be changed", () =>
      Effect.gen(function*() {
        const { made, outcomes } = yield* changing(Effect.die("made"), { isWanted: false })
        assert.deepStrictEqual([made, outcomes], [{ entry: null, answer: "nothing" }, []])
      }))

    it.effect("says of a failure whether it is certain, and returns it", () =>
      Effect.gen(function*() {
        const refused = yield* changing(Effect.fail(new NotActive({})))
        assert.deepStrictEqual(refused.outcomes.at(-1), ["failed", { name: "Ada", error: "not_active", certain: true }])
        assert.isTrue(refused.made.entry !== null && Exit.isFailure(refused.made.exit))
        const lost = yield* changing(Effect.fail(new MessengerUnavailable({})))
        assert.deepStrictEqual(lost.outcomes.at(-1), ["failed", {
          name: "Ada",
          error: "messenger_unavailable",
          certain: false
        }])
        const broken = yield* changing(Effect.die("broken"))
        assert.deepStrictEqual(broken.outcomes.at(-1), ["failed", {
          name: "Ada",
          error: "interrupted",
          certain: false
        }])
      }))

    it.effect("is journaled by another intent once it was made, where the sweep has closed the first", () =>
      Effect.gen(function*() {
        const { outcomes } = yield* changing(sweep)
        assert.deepStrictEqual(outcomes.map(([outcome]) => outcome), ["pending", "failed", "pending", "done"])
        assert.deepStrictEqual(outcomes.at(-1), ["done", { name: "Ada", made: true, retries: true }])
      }))

    it.effect("that failed is journaled again only on demand", () =>
      Effect.gen(function*() {
        const act = Effect.andThen(sweep, Effect.fail(new NotActive({})))
        assert.lengthOf((yield* changing(act)).outcomes, 2)
        const { outcomes } = yield* changing(act, { again: true })
        assert.deepStrictEqual(outcomes.at(-1), [
          "failed",
          { name: "Ada", error: "not_active", certain: true, retries: true }
        ])
      }))
  })
})
