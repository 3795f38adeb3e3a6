import { Duration, Effect } from "effect"
import { record } from "../../changes/Record.ts"
import type { Actor } from "../../domain/journal/Actor.ts"
import { before, now } from "../../domain/Moments.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { type ArchiveRead, ArchiveReads } from "../../ports/archive/ArchiveReads.ts"
import { Db } from "../../ports/Db.ts"
import { eachAlone } from "../Batch.ts"
import * as Job from "../Job.ts"

/** An hour, and the time that its last counts may be late. */
const hourAndLateness = Duration.seconds(3610)
const eventsPerRun = 200

const readerOf = (read: ArchiveRead): Actor => ({
  type: "admin",
  adminId: read.admin_id,
  name: read.admin_name,
  credential: { kind: read.credential_kind, id: read.credential_id, label: read.credential_label }
})

const journalRead = (organizationId: OrganizationId, read: ArchiveRead) =>
  record(
    {
      organizationId,
      actor: readerOf(read),
      origin: { via: read.via, ip: null, requestId: null }
    },
    "archive.read",
    { id: read.account_id, accountId: read.account_id },
    { since: read.hour.toISOString(), messages: read.messages, files: read.files, searches: read.searches }
  )

const journalHours = Effect.fnUntraced(function*(organizationId: OrganizationId, over: Date) {
  const reads = yield* (yield* ArchiveReads).take(organizationId, over, eventsPerRun)
  for (const read of reads) yield* journalRead(organizationId, read)
})

export const journalArchiveReads = Job.make("journal_archive_reads", {
  period: "1 minute",
  does: "journals how much of an archive was read with each credential in an hour that is over",
  run: Effect.gen(function*() {
    const db = yield* Db
    const over = before(yield* now, hourAndLateness)
    yield* eachAlone(
      yield* (yield* ArchiveReads).due(over),
      (organizationId) => db.transaction(organizationId, journalHours(organizationId, over))
    )
  })
})
