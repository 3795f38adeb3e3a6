/** A process that watches all accounts of a database, and is killed at a moment: `dyingOwner.ts URL MOMENT`. */
import { Effect, Schedule } from "effect"
import { slotCount } from "../../../src/domain/accounts/Slot.ts"
import { Ownership } from "../../../src/ports/messenger/Ownership.ts"
import { moments, started } from "./forwarding.ts"

const [url = "", moment] = process.argv.slice(2)

await Effect.gen(function*() {
  const { run } = yield* started(url, true, moments.find((known) => known === moment))
  const slots = run(Effect.map(Ownership, ({ owned }) => owned().size))
  yield* Effect.repeat(slots, { until: (size) => size === slotCount, schedule: Schedule.spaced(50) })
  yield* Effect.sync(() => void process.send?.("watches"))
  return yield* Effect.never
}).pipe(Effect.scoped, Effect.runPromise)
