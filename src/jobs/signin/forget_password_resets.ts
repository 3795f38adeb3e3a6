import { Effect } from "effect"
import { Leftovers } from "../../ports/Leftovers.ts"
import * as Job from "../Job.ts"

export const forgetPasswordResets = Job.make("forget_password_resets", {
  period: "10 minutes",
  does: "deletes the records of links to a new password after a day",
  run: Effect.flatMap(Leftovers, ({ passwordResets }) => passwordResets)
})
