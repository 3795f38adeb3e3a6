/** The time for which an organization keeps what is archived. */
import { Duration, Schema } from "effect"
import { described, Kind, OptionalTimestamp, Uuid } from "../JsonShapes.ts"
import { after, before } from "../Moments.ts"

/** From the counting and announcement of what a retention deletes until it is deleted. */
const retentionNotice = Duration.days(7)

export const RetentionDays = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 30, maximum: 36_500 })))

export const ArchiveRetention = Schema.Struct({
  object: Kind("archive_retention"),
  days: described(RetentionDays, "What was sent before so many days is deleted; null keeps everything."),
  begins_at: described(OptionalTimestamp, "From when it deletes; null where everything is kept."),
  updated_at: described(OptionalTimestamp, "When it was set; null where everything is kept."),
  updated_by: described(Schema.NullOr(Uuid), "The admin who set it; null where everything is kept.")
}).annotate({ identifier: "archive_retention" })
export type ArchiveRetention = typeof ArchiveRetention.Type

/** A retention as it is stored. */
export interface StoredRetention {
  readonly days: number
  readonly setBy: string
  readonly setAt: Date
  readonly beginsAt: Date
}

export const archiveRetention = (stored: StoredRetention | null): ArchiveRetention => ({
  object: "archive_retention",
  days: stored?.days ?? null,
  begins_at: stored?.beginsAt ?? null,
  updated_at: stored?.setAt ?? null,
  updated_by: stored?.setBy ?? null
})

/** The time from which something that is announced now is deleted. */
export const retentionDeletes = (now: Date): Date => after(now, retentionNotice)

/** The first day in UTC that is kept at a time. */
export const firstKeptDay = (days: number, at: Date): string =>
  before(at, Duration.days(days)).toISOString().slice(0, 10)
