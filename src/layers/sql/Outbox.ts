import { Effect, Layer } from "effect"
import * as Ports from "../../ports/index.ts"

/** The outbox of a service that sends no mail. */
export const layer = Layer.succeed(Ports.Outbox, { available: false, add: () => Effect.void })
