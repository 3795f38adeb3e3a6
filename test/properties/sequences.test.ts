import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { sampled } from "../support/drawn.ts"
import { rewriting, withoutOrganization } from "../support/postgres/statements.ts"
import * as Access from "../support/properties/access.ts"
import * as Isolation from "../support/properties/isolation.ts"
import * as Monotonicity from "../support/properties/monotonicity.ts"
import type { Overseer } from "../support/properties/rewind.ts"
import { prepared, Staged } from "../support/properties/staged.ts"

const count = 8

/** How many sequences are played with more rights and with less. */
const pairs = 12

/** Plays sequences, and answers how many broke the property. */
const broken = Effect.fnUntraced(function*(seed: number) {
  const stage = yield* Staged
  let found = 0
  for (const sequence of yield* Arbitrary.sampleEffect(Isolation.sequences, { count, seed })) {
    yield* Isolation.compare(stage, sequence).pipe(
      Effect.catchDefect(() => Effect.sync(() => void (found += 1)))
    )
  }
  return found
})

const removeWall = async (overseer: Overseer) => {
  const { rows } = await overseer.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relforcerowsecurity"
  )
  expect(rows.length).toBeGreaterThan(10)
  for (const { name } of rows) await overseer.query(`alter table "${name}" disable row level security`)
}

describe("1 sequences of requests", () => {
  layer(Staged.layer(Isolation.organizations))((it) => {
    it.effect("what an organization is told and has is a function of its own requests alone", () =>
      Effect.gen(function*() {
        expect(yield* prepared(broken(1))).toBe(0)
      }))

    it.effect("with the conditions of the statements removed the wall of row level security alone keeps them apart", () =>
      Effect.gen(function*() {
        expect(yield* rewriting(withoutOrganization)(prepared(broken(2)))).toBe(0)
      }))

    it.effect("with the wall removed the conditions of the statements alone keep them apart, and with neither nothing does", () =>
      Effect.gen(function*() {
        const { overseer } = yield* Staged
        yield* Effect.promise(() => removeWall(overseer))
        expect(yield* prepared(broken(3))).toBe(0)
        expect(yield* rewriting(withoutOrganization)(prepared(broken(3)))).toBeGreaterThan(count / 10)
      }))
  })

  layer(Staged.layer(1))((it) => {
    it.effect("who may less is shown and permitted no more, and what is revoked is refused at the next request", () =>
      prepared(Effect.gen(function*() {
        const stage = yield* Staged
        let compared = 0
        for (const sequence of yield* Arbitrary.sampleEffect(Monotonicity.sequences, { count: pairs, seed: 1 })) {
          compared += (yield* Monotonicity.compare(stage, sequence)).comparisons
        }
        expect(compared).toBeGreaterThan(2 * pairs)
      })))

    it.effect("I11: an admin, and a caller with a limit, comes to reach and hands out nothing but what it has connected itself", () =>
      prepared(Effect.gen(function*() {
        const stage = yield* Staged
        const done = { connected: 0, handed: 0 }
        for (const sequence of yield* Arbitrary.sampleEffect(Access.sequences, sampled(30))) {
          const { connected, handed } = yield* Access.compare(stage, sequence)
          done.connected += connected
          done.handed += handed
        }
        expect(done.connected + done.handed).toBeGreaterThan(1)
      })))
  })
})
