/** Operations that other processes have forwarded to this one, because it watches their account. */
import { Cause, Clock, Effect, Layer, Option, Schema } from "effect"
import { leaseTime, slotOf } from "../../domain/accounts/Slot.ts"
import type { Failure } from "../../domain/FailureBase.ts"
import { Caller } from "../../domain/people/Access.ts"
import { membersOf } from "../../kernel/FailureJson.ts"
import { Replayed } from "../../kernel/Idempotency.ts"
import type * as Operation from "../../kernel/Operation.ts"
import * as Forwarding from "../../layers/cluster/Forwarding.ts"
import { Perform, type Performed } from "../../layers/cluster/Forwarding.ts"
import * as Listen from "../../layers/cluster/Listener.ts"
import * as Randomness from "../../layers/crypto/Randomness.ts"
import { type Operations, operations } from "../../operations/index.ts"
import { Elsewhere } from "../../ports/messenger/Elsewhere.ts"
import { Ownership } from "../../ports/messenger/Ownership.ts"
import * as ClusterAddress from "../settings/ClusterAddress.ts"
import type * as Settings from "../settings/Settings.ts"
import * as Environment from "./Environment.ts"

/** The address at which others reach this worker. */
export const layerListener = Effect.fnUntraced(
  function*(settings: Settings.Database & Pick<Settings.WatchSettings, "clusterAddress">) {
    return Layer.provide(Listen.layer(yield* ClusterAddress.parse(settings.clusterAddress)), [
      Environment.peppers(settings),
      Randomness.layer
    ])
  }
)

/** Forwards operations to the workers. */
export const layerElsewhere = (settings: Settings.Database) =>
  Layer.provide(Forwarding.layer(leaseTime), Environment.peppers(settings))

const decode = Schema.decodeUnknownOption(Perform)
const notBegun: Performed = { _tag: "NotBegun" }

const known = new Map<string, Operation.Any>(operations.map((operation) => [operation.id, operation]))

const perform = Effect.fnUntraced(function*(operation: Operation.Any, { caller, input }: Perform) {
  let replayed = false
  const written: Effect.Effect<{ readonly text: string }, Failure, Operation.Services<Operations> | Caller> = operation
    .respond(input)
  return yield* written.pipe(
    Effect.map(({ text }): Performed => ({ _tag: "Answered", text, replayed })),
    Effect.catch((failure) =>
      Effect.succeed<Performed>({ _tag: "Failed", code: failure._tag, members: membersOf(failure) })
    ),
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logError("A forwarded operation failed", Cause.squash(cause)),
        { _tag: "Died" } satisfies Performed
      )
    ),
    Effect.provideService(Caller, caller),
    // If the slot has passed on meanwhile, the process that asked looks for its owner again.
    Effect.provideService(Elsewhere, () => Effect.succeed(null)),
    Effect.provideService(Replayed, () => void (replayed = true)),
    Effect.annotateLogs({ request_id: caller.requestId })
  )
})

/** Answers them for as long as the scope lasts; those under way finish. */
export const answered = Effect.gen(function*() {
  const listener = yield* Effect.serviceOption(Listen.Listener)
  if (Option.isNone(listener)) return
  const ownership = yield* Ownership
  const services = yield* Effect.context<Operation.Services<Operations>>()
  yield* listener.value.answering((value) =>
    Effect.gen(function*() {
      const request = decode(value)
      if (Option.isNone(request)) return notBegun
      const { accountId, operation, until } = request.value
      const found = known.get(operation)
      if (found === undefined || ownership.term(slotOf(accountId)) === null) return notBegun
      if ((yield* Clock.currentTimeMillis) > until) return notBegun
      return yield* Effect.provideContext(perform(found, request.value), services)
    })
  )
})
