import { Effect } from "effect"
import { Capture } from "../../capture/Capture.ts"
import * as Job from "../Job.ts"

export const closeArchiveDays = Job.makeWith("close_archive_days", {
  period: "1 minute",
  does: "makes pages of archived days that are over, and gives up archives that nothing has used for 30 hours",
  start: Effect.map(Capture, ({ tend }) => ({ run: tend }))
})
