/** The planning of an export: what it holds, and the parts that it is cut into. */
import { Effect } from "effect"
import type { ExportCriteria, PlannedPart } from "../domain/archive/ArchiveExport.ts"
import { isTooLarge, maxExportParts, type PartForm, pieces, plannedPart } from "../domain/archive/ExportParts.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { ArchiveExports } from "../ports/archive/ArchiveExports.ts"

/** The parts by account and day; null where they are too many. */
export const planExport = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  criteria: ExportCriteria,
  form: PartForm
) {
  const exports = yield* ArchiveExports
  const months = yield* exports.months(organizationId, criteria, maxExportParts + 1)
  const parts: Array<PlannedPart> = []
  for (const month of months) {
    if (parts.length >= maxExportParts) return null
    const days = isTooLarge(form, month)
      ? pieces(form, yield* exports.days(organizationId, criteria, month))
      : [month]
    for (const each of days) parts.push(plannedPart(form.format, each))
  }
  return parts.length > maxExportParts ? null : parts
})
