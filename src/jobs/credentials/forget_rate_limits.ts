import { Effect } from "effect"
import { Leftovers } from "../../ports/Leftovers.ts"
import * as Job from "../Job.ts"

export const forgetRateLimits = Job.make("forget_rate_limits", {
  period: "10 minutes",
  does: "deletes expired counters of requests",
  run: Effect.flatMap(Leftovers, ({ rateLimits }) => rateLimits)
})
