import { Effect } from "effect"
import { Leftovers } from "../../ports/Leftovers.ts"
import * as Job from "../Job.ts"

export const forgetPasswordAttempts = Job.make("forget_password_attempts", {
  period: "10 minutes",
  does: "deletes attempts at passwords after a day",
  run: Effect.flatMap(Leftovers, ({ passwordAttempts }) => passwordAttempts)
})
