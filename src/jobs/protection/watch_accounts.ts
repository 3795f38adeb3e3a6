import { Effect } from "effect"
import { longestPause, shortestPause } from "../../protection/Cadence.ts"
import { Engine } from "../../protection/PollLoop.ts"
import * as Job from "../Job.ts"

export const watchAccounts = Job.makeWith("watch_accounts", {
  period: longestPause,
  least: shortestPause,
  does:
    "looks at the accounts that are due: more often if there are many, and at once at a deadline, after a push from the messenger, or on a request to the same process",
  start: Effect.map(Engine, ({ claim, pause }) => ({ run: claim, pause }))
})
