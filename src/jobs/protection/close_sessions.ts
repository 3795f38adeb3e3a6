import { Effect } from "effect"
import { Engine } from "../../protection/PollLoop.ts"
import * as Job from "../Job.ts"

export const closeSessions = Job.makeWith("close_sessions", {
  period: "1 minute",
  does: "closes connections to the messenger for accounts that are no longer watched",
  start: Effect.map(Engine, ({ closeUnwatched }) => ({ run: closeUnwatched }))
})
