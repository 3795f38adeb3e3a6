import { Effect } from "effect"
import { Leftovers } from "../../ports/Leftovers.ts"
import * as Job from "../Job.ts"

export const forgetBrowsers = Job.make("forget_browsers", {
  period: "10 minutes",
  does: "deletes browsers that were not used for 180 days",
  run: Effect.flatMap(Leftovers, ({ browsers }) => browsers)
})
