import { sweep } from "../../signin/FailedSignIns.ts"
import * as Job from "../Job.ts"

export const journalPasswordFailures = Job.make("journal_password_failures", {
  period: "5 seconds",
  does: "journals wrong passwords: the first of an admin's, a burst of them, and others once an hour",
  run: sweep
})
