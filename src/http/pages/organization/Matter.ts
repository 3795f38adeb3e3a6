/** A matter that an admin has to look at, and the facts that matters are found in. */
import type { ArchiveCleanup } from "../../../domain/archive/ArchiveCleanup.ts"
import type { ArchiveEnd } from "../../../domain/archive/ArchiveEnd.ts"
import type { ArchiveRetention } from "../../../domain/archive/Retention.ts"
import type { ArchivePhase } from "../../../domain/organization/Organization.ts"
import type { StatusOverview } from "../../../domain/organization/StatusOverview.ts"
import type { Role } from "../../../domain/people/Access.ts"
import type * as Html from "../kit/Html.ts"

/** A state, what follows from it, and the page where it is solved. */
export interface Matter {
  readonly tone: "danger" | "caution" | "note"
  readonly title: string
  readonly text: Html.Value
  readonly to: string
  readonly action: string
}

/** The state of the organization's archive as a whole. */
export interface ArchiveState {
  readonly phase: ArchivePhase
  /** The end that time brings; null while a plan includes the archive. */
  readonly end: ArchiveEnd | null
  /** Null for those who do not delete from the archive. */
  readonly retention: ArchiveRetention | null
  /** The newest that failed, of those that the viewer sees. */
  readonly failedCleanups: ReadonlyArray<ArchiveCleanup>
}

/** The admin who looks at it, and the mail of the console. */
export interface Viewer {
  readonly role: Role
  readonly readsArchive: boolean
  readonly sendsMail: boolean
}

export type Find = (overview: StatusOverview, viewer: Viewer, archive: ArchiveState) => Matter | undefined
