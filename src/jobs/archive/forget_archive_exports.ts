import { Effect } from "effect"
import { Leftovers } from "../../ports/Leftovers.ts"
import * as Job from "../Job.ts"

export const forgetArchiveExports = Job.make("forget_archive_exports", {
  period: "1 hour",
  does: "deletes the records of exports of archives, with the names of their accounts, 30 days after they have ended",
  run: Effect.flatMap(Leftovers, ({ archiveExports }) => archiveExports)
})
