/** The deletion of everything that an organization has archived, which begins with its keys. */
import { Effect } from "effect"
import type { OrganizationId } from "../domain/people/Access.ts"
import { ArchiveDeletions } from "../ports/archive/ArchiveDeletions.ts"
import { ArchiveHolds } from "../ports/archive/ArchiveHolds.ts"
import { ArchiveKeys } from "../ports/archive/ArchiveKeys.ts"

/**
 * Drops the archive keys, within the organization's transaction: the details of its event. Null, with nothing done,
 * where a hold keeps any of it.
 */
export const beginWholeDeletion = Effect.fnUntraced(function*(organizationId: OrganizationId, at: Date) {
  if (yield* (yield* ArchiveHolds).binds(organizationId, { accountIds: null, before: null })) return null
  const begun = yield* (yield* ArchiveDeletions).beginWhole(organizationId, at)
  yield* (yield* ArchiveKeys).dropAll(organizationId, at)
  return begun
})
