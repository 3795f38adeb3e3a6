import { Effect } from "effect"
import { beginWholeDeletion } from "../../archive/WholeDeletion.ts"
import { byService, record } from "../../changes/Record.ts"
import { type ArchiveEnd, archiveEnd, isLastWarningDue } from "../../domain/archive/ArchiveEnd.ts"
import { archiveCloses, archiveIsDeleted } from "../../domain/mail/index.ts"
import type { Mail } from "../../domain/mail/Mail.ts"
import { now } from "../../domain/Moments.ts"
import {
  type ArchivePhase,
  archivePhase,
  isArchiveEndDue,
  type OrganizationFacts
} from "../../domain/organization/Organization.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { ArchivePhases, type NotedPhase } from "../../ports/archive/ArchivePhases.ts"
import { Db } from "../../ports/Db.ts"
import { Outbox } from "../../ports/mail/Outbox.ts"
import { Directory } from "../../ports/organization/Directory.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { eachAlone } from "../Batch.ts"
import * as Job from "../Job.ts"

/** Time alone has made the phase `deleting`, and nothing was begun. */
const isOver = (facts: OrganizationFacts, phase: ArchivePhase): boolean =>
  phase === "deleting" && facts.archive_deletion_started_at === null

const isWarned = (phase: ArchivePhase, end: ArchiveEnd | null, at: Date): end is ArchiveEnd =>
  phase === "closed" && end !== null && isLastWarningDue(end, at)

const isDue = ({ facts, noted }: NotedPhase, at: Date): boolean => {
  const phase = archivePhase(facts, at)
  return phase !== noted || isOver(facts, phase) || isArchiveEndDue(facts, at) ||
    isWarned(phase, archiveEnd(facts.archive_plan_ended_at), at)
}

/** A change to a phase that ends in the deletion is mailed with its dates. */
const mailsOf = (phase: ArchivePhase, end: ArchiveEnd | null): ReadonlyArray<Mail> => {
  if (end === null) return []
  if (phase === "readonly") return [archiveCloses(end)]
  return phase === "closed" ? [archiveIsDeleted(end)] : []
}

const settle = Effect.fnUntraced(function*(organizationId: OrganizationId) {
  const at = yield* now
  const found = yield* (yield* Organizations).lockFacts(organizationId)
  const isEnding = isArchiveEndDue(found, at)
  if (isEnding) yield* (yield* Directory).update(organizationId, { archive_plan_ended_at: at })
  const facts = isEnding ? { ...found, archive_plan_ended_at: at } : found
  const phase = archivePhase(facts, at)
  const end = archiveEnd(facts.archive_plan_ended_at)
  const from = yield* (yield* ArchivePhases).note(organizationId, phase)
  // It locks archives, before the journal. An archive under a hold stays, closed, until the hold is released.
  const begun = isOver(facts, phase) ? yield* beginWholeDeletion(organizationId, at) : null
  if (from !== null) {
    yield* record(
      byService(organizationId),
      "archive.phase_changed",
      { id: organizationId },
      { from, to: phase },
      mailsOf(phase, end)
    )
  }
  const outbox = yield* Outbox
  // It was readonly before, for another reason.
  if (isEnding && from === null && end !== null) {
    yield* outbox.add(organizationId, `archive/${end.closesAt.toISOString()}`, archiveCloses(end))
  }
  if (isWarned(phase, end, at)) {
    yield* outbox.add(organizationId, `archive/${end.deletesAt.toISOString()}`, archiveIsDeleted(end))
  }
  if (begun !== null) {
    yield* record(byService(organizationId), "archive.deletion_started", { id: organizationId }, begun)
  }
})

export const settleArchivePhases = Job.make("settle_archive_phases", {
  period: "10 minutes",
  does:
    "journals the phases of archives as they change, and mails the owner of one that no licence includes; deletes it 90 days after the licence, unless a hold keeps it",
  run: Effect.gen(function*() {
    const db = yield* Db
    const at = yield* now
    const due = (yield* (yield* ArchivePhases).organizations).filter((organization) => isDue(organization, at))
    yield* eachAlone(due.map(({ facts }) => facts.id), (id) => db.transaction(id, settle(id)))
  })
})
