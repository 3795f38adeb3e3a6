import { Effect, Layer } from "effect"
import * as Ports from "../../../ports/index.ts"
import * as Bearers from "./Bearers.ts"

/** One statement that reads the caller, the rest of its budget, and its organization's facts. */
export const layer = Layer.effect(
  Ports.Entrance,
  Effect.map(Bearers.make, ({ enter }) => Ports.Entrance.of({ enter }))
)
