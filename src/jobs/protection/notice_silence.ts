import { silenceUntilUnknown } from "../../domain/Limits.ts"
import * as Job from "../Job.ts"
import { noticeAfter } from "./Silence.ts"

/** Rows that another process has locked are skipped. Only of a service whose accounts are to be watched. */
export const noticeSilence = Job.make("notice_silence", {
  period: "1 minute",
  does: "sets the status of accounts to unknown that no process has looked at for 10 minutes",
  run: noticeAfter(silenceUntilUnknown)
})
