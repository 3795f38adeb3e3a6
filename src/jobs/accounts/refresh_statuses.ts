import { Effect } from "effect"
import { StoredStatuses } from "../../ports/accounts/StoredStatuses.ts"
import * as Job from "../Job.ts"

export const refreshStatuses = Job.make("refresh_statuses", {
  period: "1 minute",
  does: "stores the new statuses of accounts whose stored status has expired",
  run: Effect.flatMap(StoredStatuses, ({ refresh }) => refresh)
})
