/** The end of an archive that no licence of the organization includes any more (specification, section 12.3). */
import { Duration } from "effect"
import { archiveClosedPeriod, archiveReadonlyPeriod } from "../Limits.ts"
import { after, before } from "../Moments.ts"

export interface ArchiveEnd {
  /** It cannot be read from then on. */
  readonly closesAt: Date
  /** It is deleted from then on. */
  readonly deletesAt: Date
}

/** The end that time brings the archive, which no licence includes since then; null while none is set. */
export const archiveEnd = (planEndedAt: Date | null): ArchiveEnd | null => {
  if (planEndedAt === null) return null
  const closesAt = after(planEndedAt, archiveReadonlyPeriod)
  return { closesAt, deletesAt: after(closesAt, archiveClosedPeriod) }
}

/** The owner is warned once more so long before the archive is deleted. */
const lastWarning = Duration.days(7)

export const isLastWarningDue = ({ deletesAt }: ArchiveEnd, now: Date): boolean =>
  now >= before(deletesAt, lastWarning) && now < deletesAt
