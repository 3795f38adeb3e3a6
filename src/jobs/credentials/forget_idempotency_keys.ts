import { Effect } from "effect"
import { Leftovers } from "../../ports/Leftovers.ts"
import * as Job from "../Job.ts"

export const forgetIdempotencyKeys = Job.make("forget_idempotency_keys", {
  period: "10 minutes",
  does: "deletes idempotency keys after a day",
  run: Effect.flatMap(Leftovers, ({ idempotencyKeys }) => idempotencyKeys)
})
