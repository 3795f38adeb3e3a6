/** The planning of an export: what it holds, and the parts that it is cut into. */
import { Effect } from "effect"
import type { ExportCriteria, ExportFormat, PlannedPart } from "../domain/archive/ArchiveExport.ts"
import { isTooLarge, maxExportParts, pieces, plannedPart } from "../domain/archive/ExportParts.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { ArchiveExports } from "../ports/archive/ArchiveExports.ts"

/** The parts by account and day; null where they are too many. */
export const planExport = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  criteria: ExportCriteria,
  format: ExportFormat
) {
  const exports = yield* ArchiveExports
  const months = yield* exports.months(organizationId, criteria, maxExportParts + 1)
  const parts: Array<PlannedPart> = []
  for (const month of months) {
    if (parts.length >= maxExportParts) return null
    const days = isTooLarge(format, month)
      ? pieces(format, yield* exports.days(organizationId, criteria, month))
      : [month]
    for (const each of days) parts.push(plannedPart(format, each))
  }
  return parts.length > maxExportParts ? null : parts
})
