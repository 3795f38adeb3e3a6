import { Effect } from "effect"
import { LoginEndings } from "../../protection/LoginEndings.ts"
import * as Job from "../Job.ts"

export const endLogins = Job.makeWith("end_logins", {
  period: "1 minute",
  does: "ends logins that have expired, and those with a step that a crash interrupted",
  start: Effect.map(LoginEndings, ({ end }) => ({ run: end }))
})
