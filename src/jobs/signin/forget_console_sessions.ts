import { Effect } from "effect"
import { Leftovers } from "../../ports/Leftovers.ts"
import * as Job from "../Job.ts"

export const forgetConsoleSessions = Job.make("forget_console_sessions", {
  period: "10 minutes",
  does: "deletes console sessions and sign-ins that have ended",
  run: Effect.flatMap(Leftovers, ({ consoleSessions }) => consoleSessions)
})
