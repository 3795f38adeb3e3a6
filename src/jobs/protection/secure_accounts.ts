import { Effect } from "effect"
import { Engine } from "../../protection/PollLoop.ts"
import * as Job from "../Job.ts"

export const secureAccounts = Job.makeWith("secure_accounts", {
  period: "5 seconds",
  does:
    "makes changes on the messenger that are due without a request: sets a new 2FA password after a takeover, makes a new second session, undoes changes that were left half done, logs out sessions that are no longer needed",
  start: Effect.map(Engine, ({ secure }) => ({ run: secure }))
})
