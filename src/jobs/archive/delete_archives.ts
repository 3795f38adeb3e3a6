import { Effect } from "effect"
import { byService, record } from "../../changes/Record.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { now } from "../../domain/Moments.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { type ArchiveDeletion, ArchiveDeletions, type DeletedRecords } from "../../ports/archive/ArchiveDeletions.ts"
import { Db } from "../../ports/Db.ts"
import type { Due } from "../../ports/Due.ts"
import { eachAlone } from "../Batch.ts"
import * as Job from "../Job.ts"

const deletionsPerRun = 20
const rowsPerTransaction = 500
const transactionsPerDeletion = 100

const recordEnd = ({ accountId, id, organizationId }: ArchiveDeletion, deleted: DeletedRecords) =>
  accountId === null
    ? record(byService(organizationId), "archive.deleted", { id: organizationId }, { ...deleted, deletion: id })
    : record(
      byService(organizationId),
      { ...journalAction("archive.deleted"), target: "account" },
      { id: accountId, accountId },
      { ...deleted, deletion: id }
    )

/** Deletes some rows or, where none is left, ends the deletion; true while there is more to do here. */
const step = Effect.fnUntraced(function*(organizationId: OrganizationId, id: string) {
  const deletions = yield* ArchiveDeletions
  const deletion = yield* deletions.take(organizationId, id)
  if (deletion === null) return false
  const at = yield* now
  if ((yield* deletions.deleteSome(deletion, rowsPerTransaction, at)) > 0) return true
  yield* recordEnd(deletion, yield* deletions.finish(deletion, at))
  return false
})

/** Each step commits by itself: a process that ends leaves the rest to the next run, of any process. */
const goOn = Effect.fnUntraced(function*({ id, organizationId }: Due) {
  const db = yield* Db
  for (let done = 0; done < transactionsPerDeletion; done++) {
    if (!(yield* db.transaction(organizationId, step(organizationId, id)))) return
  }
})

const run = Effect.gen(function*() {
  yield* eachAlone(yield* (yield* ArchiveDeletions).due(deletionsPerRun), goOn)
})

/** Nothing that is still there can be read since the deletion began; of a whole archive the epochs go first. */
export const deleteArchives = Job.make("delete_archives", {
  period: "5 seconds",
  does: "deletes what is left of deleted archives, whose keys are gone already",
  run
})
