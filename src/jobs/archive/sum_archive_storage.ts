import { Effect } from "effect"
import { byService, record } from "../../changes/Record.ts"
import { storageAlmostFull } from "../../domain/mail/index.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { ArchiveStorage } from "../../ports/archive/ArchiveStorage.ts"
import { Db } from "../../ports/Db.ts"
import { eachAlone } from "../Batch.ts"
import * as Job from "../Job.ts"

/** Stores the sum; the organization is notified once each time that it comes near its limit, or the limit near it. */
const sum = Effect.fnUntraced(function*(organizationId: OrganizationId) {
  const storage = yield* ArchiveStorage
  const { isNear, limit, used, warned } = yield* storage.sum(organizationId)
  if (isNear === warned) return
  yield* storage.setWarned(organizationId, isNear)
  if (!isNear || limit === null) return
  yield* record(
    byService(organizationId),
    "storage.almost_full",
    { id: organizationId },
    { used_bytes: used, limit_bytes: limit },
    [storageAlmostFull({ used, limit })]
  )
})

export const sumArchiveStorage = Job.make("sum_archive_storage", {
  period: "1 minute",
  does: "sums what the archives of an organization's accounts take, on which its storage limit acts",
  run: Effect.gen(function*() {
    const db = yield* Db
    yield* eachAlone(yield* (yield* ArchiveStorage).due, (id) => db.transaction(id, sum(id)))
  })
})
