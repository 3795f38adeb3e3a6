/** Operations on accounts that another process watches. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Metric, Schedule, Scope } from "effect"
import { answered } from "../../src/cli/process/ForwardedCalls.ts"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { slotCount, slotOf } from "../../src/domain/accounts/Slot.ts"
import * as Forwarding from "../../src/layers/cluster/Forwarding.ts"
import * as Listener from "../../src/layers/cluster/Listener.ts"
import * as Runner from "../../src/layers/cluster/Runner.ts"
import * as Owned from "../../src/layers/messenger/Owned.ts"
import * as Simulated from "../../src/layers/messenger/simulated/Simulated.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { Ownership } from "../../src/ports/messenger/Ownership.ts"
import { postgresUrl } from "../support/postgres/database.ts"
import { postgresLayer } from "../support/postgres/databaseRoles.ts"
import { makeWatched } from "../support/protection/watched.ts"
import { running } from "../support/replicas.ts"
import * as World from "../support/world.ts"

const lease = "3 seconds"

/** A process of the service; one that does not watch forwards everything. */
const started = Effect.fnUntraced(function*(url: string, worker: boolean) {
  const world = World.world(postgresLayer(url))
  const owner = worker
    ? Layer.provideMerge(
      Runner.layer({ lease, margin: "500 millis" }),
      Listener.layer({ host: "127.0.0.1", port: 0 })
    )
    : Ownership.layerNever
  const scope = yield* Scope.fork(yield* Effect.scope)
  const run = yield* Scope.provide(
    running(
      Forwarding.layer(lease).pipe(
        Layer.provideMerge(Worker.layer()),
        Layer.provideMerge(Owned.layer),
        Layer.provideMerge(Layer.provideMerge(Layer.merge(owner, Layer.fresh(Simulated.layerSql)), world)),
        Layer.provideMerge(Layer.succeed(Metric.MetricRegistry, new Map()))
      )
    ),
    scope
  )
  yield* run(Scope.provide(answered, scope))
  return { run, stop: Scope.close(scope, Exit.void) }
})

const until = <A, R>(ask: Effect.Effect<A, never, R>, holds: (answer: A) => boolean) =>
  Effect.timeout(Effect.repeat(ask, { until: holds, schedule: Schedule.spaced(50) }), 15_000)

describe("12.4 requests at a process that does not watch the account", () => {
  it.live(
    "are answered as by the one that does, once; and with 503 only while nobody does",
    () =>
      Effect.gen(function*() {
        const url = yield* postgresUrl
        const { run: worker, stop } = yield* started(url, true)
        const { run: api } = yield* started(url, false)
        yield* until(worker(Effect.map(Ownership, ({ owned }) => owned())), ({ size }) => size === slotCount)
        const organization = yield* worker(World.makeOrganization())
        const { account } = yield* worker(makeWatched(organization))
        const path = `/v1/accounts/${account}/messenger-profile`
        const { key } = organization.admins.owner

        const [there, here] = [yield* worker(World.get(path, key)), yield* api(World.get(path, key))]
        assert.strictEqual(here.status, 200)
        assert.deepStrictEqual(here.body, there.body)

        const changed = yield* api(World.patch(path, key, { first_name: "Grace" }))
        assert.strictEqual(changed.status, 200)
        assert.strictEqual((yield* worker(World.get(path, key))).body.first_name, "Grace")
        const entries = (yield* api(World.journal(organization.id))).filter(({ action }) =>
          action === "profile.updated"
        )
        const { id } = organization.admins.owner
        assert.deepStrictEqual(
          entries.map(({ actor_admin_id, outcome, via }) => [actor_admin_id, outcome, via]),
          [[id, "pending", "rest"], [id, "done", "rest"]]
        )

        const refused = yield* api(World.patch(path, key, { about: "a".repeat(2000) }))
        const refusedThere = yield* worker(World.patch(path, key, { about: "a".repeat(2000) }))
        assert.deepStrictEqual([refused.status, refused.body.error?.code], [
          refusedThere.status,
          refusedThere.body.error?.code
        ])
        const unknown = yield* api(World.get(path.replace(account, crypto.randomUUID()), key))
        assert.strictEqual(unknown.status, 404)

        yield* stop
        const away = yield* api(World.get(path, key))
        assert.deepStrictEqual([away.status, away.body.error?.code], [503, "messenger_unavailable"])
        const { run: next } = yield* started(url, true)
        yield* until(
          next(Effect.map(Ownership, ({ term }) => term(slotOf(AccountId.make(account))))),
          (term) => term !== null
        )
        assert.strictEqual((yield* api(World.get(path, key))).status, 200)
      }),
    60_000
  )
})
