import { Effect, Layer } from "effect"
import * as Ports from "../../ports/index.ts"
import * as Bearers from "./Bearers.ts"

/** One statement for who asks, what is left of their budget, and their organization's facts. */
export const layer = Layer.effect(
  Ports.Entrance,
  Effect.map(Bearers.make, ({ enter }) => Ports.Entrance.of({ enter }))
)
