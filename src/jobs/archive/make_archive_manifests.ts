import { Duration, Effect } from "effect"
import { cover, roundRoot } from "../../archive/Manifests.ts"
import { byService, record } from "../../changes/Record.ts"
import { before, now } from "../../domain/Moments.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { ArchiveManifests } from "../../ports/archive/ArchiveManifests.ts"
import { Db } from "../../ports/Db.ts"
import { eachAlone } from "../Batch.ts"
import * as Job from "../Job.ts"

/** One event of the journal a day and organization. */
const betweenRounds = Duration.days(1)
const accountsAtOnce = 200

/** Ends the round that is being made: one event of the journal holds all its manifests. */
const endRound = Effect.fnUntraced(function*(organizationId: OrganizationId) {
  const manifests = yield* ArchiveManifests
  const round = yield* manifests.nextRound(organizationId)
  const { manifests: made, pages, root } = yield* roundRoot(organizationId, round)
  if (made === 0) return yield* manifests.endRound(organizationId, round - 1n, yield* now)
  yield* record(byService(organizationId), "archive.manifested", { id: organizationId }, {
    round: Number(round),
    manifests: made,
    pages,
    root
  })
  yield* manifests.endRound(organizationId, round, yield* now)
})

/** Covers all pages of the organization that no manifest covers, an account and a transaction at a time. */
const makeRound = Effect.fnUntraced(function*(organizationId: OrganizationId) {
  const db = yield* Db
  const manifests = yield* ArchiveManifests
  let after = ""
  while (true) {
    const accounts = yield* db.transaction(organizationId, manifests.uncovered(organizationId, after, accountsAtOnce))
    for (const accountId of accounts) {
      while (yield* db.transaction(organizationId, cover(organizationId, accountId)));
    }
    const last = accounts.at(-1)
    if (last === undefined || accounts.length < accountsAtOnce) break
    after = last
  }
  yield* db.transaction(organizationId, endRound(organizationId))
})

/** A process that ends leaves manifests of a round that is not over: the next run, of any process, goes on with it. */
export const makeArchiveManifests = Job.make("make_archive_manifests", {
  period: "10 minutes",
  does: "covers new pages of archives by manifests, and journals them once a day",
  run: Effect.gen(function*() {
    yield* eachAlone(yield* (yield* ArchiveManifests).due(before(yield* now, betweenRounds)), makeRound)
  })
})
