/** Plays a part of the sequences on a database of its own, and tells how far it is. */
import { Arbitrary, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Mcp from "../../test/mcp/support.ts"
import { migrate, postgresLayer } from "../../test/support/postgres/databaseRoles.ts"
import * as Access from "../../test/support/properties/access.ts"
import * as Isolation from "../../test/support/properties/isolation.ts"
import * as Monotonicity from "../../test/support/properties/monotonicity.ts"
import { oversee, tidy } from "../../test/support/properties/rewind.ts"
import { make, type Stage } from "../../test/support/properties/stage.ts"
import * as World from "../../test/support/world.ts"

/** What a worker is to do: the sequences numbered `first`, `first + step` and so on, up to `last`. */
export interface Part {
  readonly seed: string
  readonly first: number
  readonly last: number
  readonly step: number
  /** The addresses of the database, as its owner and as the superuser. */
  readonly url: string
  readonly superuserUrl: string
}

interface Task extends Part {
  readonly property: "isolation" | "monotonicity" | "reach"
}

/** How far it is, and what it has found. */
export interface Progress {
  readonly sequences: number
  readonly requests: number
  readonly comparisons: number
  readonly findings: ReadonlyArray<{ readonly sequence: number; readonly text: string }>
}

const properties = {
  isolation: {
    organizations: Isolation.organizations,
    compare: (stage: Stage, seed: string) =>
      Effect.flatMap(
        Arbitrary.sampleEffect(Isolation.sequences, { count: 1, seed }),
        ([sequence]) => sequence === undefined ? Effect.die("no sequence") : Isolation.compare(stage, sequence)
      )
  },
  monotonicity: {
    organizations: 1,
    compare: (stage: Stage, seed: string) =>
      Effect.flatMap(
        Arbitrary.sampleEffect(Monotonicity.sequences, { count: 1, seed }),
        ([sequence]) => sequence === undefined ? Effect.die("no sequence") : Monotonicity.compare(stage, sequence)
      )
  },
  reach: {
    organizations: 1,
    compare: (stage: Stage, seed: string) =>
      Effect.flatMap(
        Arbitrary.sampleEffect(Access.sequences, { count: 1, seed }),
        ([sequence]) => sequence === undefined ? Effect.die("no sequence") : Access.compare(stage, sequence)
      )
  }
}

const report = (progress: Progress) => process.send?.(progress)

const play = Effect.fnUntraced(function*({ first, last, property, seed, step, superuserUrl }: Task) {
  const overseer = yield* Effect.acquireRelease(
    Effect.promise(() => oversee(superuserUrl)),
    (overseer) => Effect.promise(() => overseer.end())
  )
  const { compare, organizations } = properties[property]
  const stage = yield* make(overseer, organizations)
  const handler = yield* Mcp.webHandler()
  const findings: Array<Progress["findings"][number]> = []
  let sequences = 0
  let requests = 0
  let comparisons = 0
  for (let sequence = first; sequence <= last; sequence += step) {
    const found = yield* compare(stage, `${seed}/${sequence}`).pipe(
      Effect.provideService(World.Prepared, handler),
      Effect.catchCause((cause) => {
        findings.push({ sequence, text: String(cause) })
        return Effect.succeed({ requests: 0, comparisons: 0 })
      })
    )
    sequences += 1
    requests += found.requests
    comparisons += found.comparisons
    if (sequences % 100 === 0) {
      yield* Effect.promise(() => tidy(overseer))
      report({ sequences, requests, comparisons, findings })
    }
  }
  report({ sequences, requests, comparisons, findings })
}, Effect.scoped)

process.once("message", (task: Task) => {
  const database = postgresLayer(task.url)
  const world = World.world(database).pipe(Layer.provideMerge(database), Layer.merge(TestClock.layer()))
  const program = Effect.andThen(migrate(task.url), Effect.provide(play(task), world))
  Effect.runPromise(program).then(() => process.disconnect(), (error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})
