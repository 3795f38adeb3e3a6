import { Duration, Effect } from "effect"
import { before, now } from "../../domain/Moments.ts"
import { ChainChecks } from "../../ports/journal/ChainChecks.ts"
import * as Job from "../Job.ts"

/** The interval of a chain's checks. */
const period = Duration.days(1)

const chainsPerRun = 100

/** A broken chain is logged at each check; a check by two processes is written down twice. */
export const checkJournals = Job.make("check_journals", {
  period: "10 minutes",
  does: "checks each journal's chain once a day; what it finds is in `get_status`, the log and a metric",
  run: Effect.gen(function*() {
    const checks = yield* ChainChecks
    const at = yield* now
    const due = yield* checks.due(before(at, period), chainsPerRun)
    for (const organizationId of due) {
      const broken = yield* checks.check(organizationId, at)
      if (broken === null) continue
      yield* Effect.logError(
        `The journal of ${organizationId} is broken at ${broken.sequence} (${broken.reason}): see journal verify`
      )
    }
    yield* checks.count
    return due.length
  })
})
