/** One of several workers that share the accounts, over a messenger of its own, in a process that its parent asks. */
import { Effect, Layer, Scope } from "effect"
import * as Runner from "../../src/layers/cluster/Runner.ts"
import * as Randomness from "../../src/layers/crypto/Randomness.ts"
import * as Owned from "../../src/layers/messenger/Owned.ts"
import { Ownership } from "../../src/ports/messenger/Ownership.ts"
import { latenesses, watching, workerOver } from "../monitor/measure.ts"
import { makePlatform } from "../monitor/platform.ts"
import { memoryOf } from "../peers/processes.ts"
import type { Ground } from "../support/ground.ts"

export type Order =
  | { readonly _: "start"; readonly ground: Pick<Ground, "blobs" | "pepper" | "url">; readonly latency: number }
  | { readonly _: "state" }

export interface State {
  readonly slots: number
  /** Sessions that are open now, and lists of sessions that were read until now. */
  readonly open: number
  readonly looks: number
  /** Of the looks of the last minute: the median, p99 and the longest, in seconds. */
  readonly late: ReadonlyArray<number>
  /** Processor time until now, in ms. */
  readonly cpu: number
  /** In MiB. */
  readonly memory: number
}

type Asking = () => Promise<State>

/** More sessions than any worker here has accounts. */
const maxLive = 100_000

const start = async ({ ground, latency }: Extract<Order, { readonly _: "start" }>): Promise<Asking> => {
  const platform = makePlatform(latency)
  const messenger = Layer.provide(Owned.layer, platform.layer)
  const ownership = Layer.provide(Runner.layer(), Randomness.layer)
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(
    Layer.buildWithScope(workerOver(ground, messenger, { maxLive }, ownership), scope)
  )
  await Effect.runPromise(Effect.provideContext(Effect.forkIn(watching, scope), context))
  return () =>
    Effect.runPromise(Effect.provideContext(
      Effect.gen(function*() {
        const { system, user } = process.cpuUsage()
        return {
          slots: (yield* Ownership).owned().size,
          open: platform.open().length,
          looks: platform.polls(),
          late: yield* latenesses,
          cpu: (system + user) / 1000,
          memory: memoryOf(process.pid)
        }
      }),
      context
    ))
}

let asking: Asking | undefined

process.on("disconnect", () => process.exit(0))
process.on("message", async (order: Order) => {
  if (order._ === "start") asking = await start(order)
  process.send!(await asking?.())
})
