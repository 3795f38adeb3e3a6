import { Effect } from "effect"
import { statusSamplePeriod } from "../../domain/Limits.ts"
import { StoredStatuses } from "../../ports/accounts/StoredStatuses.ts"
import * as Job from "../Job.ts"

export const sampleStatuses = Job.make("sample_statuses", {
  period: statusSamplePeriod,
  does: "counts the accounts of each status for the charts of 30 days, and stores counts that have changed",
  run: Effect.flatMap(StoredStatuses, ({ sample }) => sample)
})
