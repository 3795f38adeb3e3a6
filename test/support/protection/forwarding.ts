/** Processes of the service in one test, of which those that do not watch forward what they are asked. */
import { Effect, Exit, Layer, Metric, Scope } from "effect"
import { answered } from "../../../src/cli/process/ForwardedCalls.ts"
import * as Forwarding from "../../../src/layers/cluster/Forwarding.ts"
import * as Listener from "../../../src/layers/cluster/Listener.ts"
import * as Runner from "../../../src/layers/cluster/Runner.ts"
import * as Owned from "../../../src/layers/messenger/Owned.ts"
import * as Simulated from "../../../src/layers/messenger/simulated/Simulated.ts"
import * as Worker from "../../../src/layers/Worker.ts"
import { MessengerSession } from "../../../src/ports/messenger/MessengerSession.ts"
import { Ownership } from "../../../src/ports/messenger/Ownership.ts"
import { postgresLayer } from "../postgres/databaseRoles.ts"
import { running } from "../replicas.ts"
import * as World from "../world.ts"

const lease = "3 seconds"

/** The moments of a forwarded change: it was taken; the messenger has made it; its outcome is stored. */
export const moments = ["taken", "made", "stored"] as const
export type Moment = typeof moments[number]

const kill = Effect.sync(() => void process.kill(process.pid, "SIGKILL"))

const dyingListener = (at: Moment | undefined) =>
  Layer.effect(
    Listener.Listener,
    Effect.map(Listener.Listener, (listener) => ({
      ...listener,
      answering: (answer) =>
        listener.answering((value) => {
          if (at === "taken") return kill
          return at === "stored" ? Effect.tap(answer(value), kill) : answer(value)
        })
    }))
  ).pipe(Layer.provide(Listener.layer({ host: "127.0.0.1", port: 0 })))

const dyingMessenger = (at: Moment | undefined) =>
  Layer.effect(
    MessengerSession,
    Effect.map(MessengerSession, (messenger) => ({
      ...messenger,
      open: (ref, slot) =>
        Effect.map(messenger.open(ref, slot), (live) => ({
          ...live,
          updateProfile: (patch) =>
            at === "made" ? Effect.tap(live.updateProfile(patch), kill) : live.updateProfile(patch)
        }))
    }))
  )

/** A process of the service; one that watches is killed with its first forwarded change, at that moment. */
export const started = Effect.fnUntraced(function*(url: string, worker: boolean, dies?: Moment) {
  const world = World.world(postgresLayer(url))
  const owner = worker
    ? Layer.provideMerge(Runner.layer({ lease, margin: "500 millis" }), dyingListener(dies))
    : Ownership.layerNever
  const messenger = dyingMessenger(dies).pipe(Layer.provideMerge(Layer.fresh(Simulated.layerSql)))
  const scope = yield* Scope.fork(yield* Effect.scope)
  const run = yield* Scope.provide(
    running(
      Forwarding.layer(lease).pipe(
        Layer.provideMerge(Worker.layer()),
        Layer.provideMerge(Owned.layer),
        Layer.provideMerge(Layer.provideMerge(Layer.merge(owner, messenger), world)),
        Layer.provideMerge(Layer.succeed(Metric.MetricRegistry, new Map()))
      )
    ),
    scope
  )
  yield* run(Scope.provide(answered, scope))
  return { run, stop: Scope.close(scope, Exit.void) }
})
