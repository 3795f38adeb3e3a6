import { Effect } from "effect"
import { byService, record } from "../../changes/Record.ts"
import { isNearlyFull } from "../../domain/archive/StorageLimit.ts"
import { storageAlmostFull } from "../../domain/mail/index.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { ArchiveStorage } from "../../ports/archive/ArchiveStorage.ts"
import { Db } from "../../ports/Db.ts"
import * as Job from "../Job.ts"

/** Stores the sum; the organization is notified once each time that it comes near its limit. */
const sum = Effect.fnUntraced(function*(organizationId: OrganizationId) {
  const { after, before, limit } = yield* (yield* ArchiveStorage).sum(organizationId)
  if (limit === null || isNearlyFull(before, limit) || !isNearlyFull(after, limit)) return
  yield* record(
    byService(organizationId),
    "storage.almost_full",
    { id: organizationId },
    { used_bytes: after, limit_bytes: limit },
    [storageAlmostFull({ used: after, limit })]
  )
})

export const sumArchiveStorage = Job.make("sum_archive_storage", {
  period: "1 minute",
  does: "sums what the archives of an organization's accounts take, on which its storage limit acts",
  run: Effect.gen(function*() {
    const db = yield* Db
    for (const organizationId of yield* (yield* ArchiveStorage).due) {
      yield* db.transaction(organizationId, sum(organizationId))
    }
  })
})
