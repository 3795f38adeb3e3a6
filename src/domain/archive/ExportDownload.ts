/** Downloads of an export's parts: how far the latest one of a part is, and what ended it. */
import { Duration, Schema } from "effect"
import { Count, described, Timestamp, Uuid } from "../JsonShapes.ts"

/** Counts are kept this often while they change, in milliseconds, and this often while they do not. */
export const downloadKept = Duration.toMillis("1 second")
export const downloadKeptStill = Duration.toMillis("5 seconds")

/** A download that nothing was kept of for so long has lost its process or its database, in milliseconds. */
const downloadLost = Duration.toMillis("20 seconds")

/** The ends of a download before its end, apart from the loss of its process. */
export const DownloadStop = Schema.Literals([
  "connection_lost",
  "archive_closed",
  "storage_unavailable",
  "service_unavailable",
  "changed",
  "unexpected"
])
export type DownloadStop = typeof DownloadStop.Type

const StopReason = Schema.Literals([...DownloadStop.literals, "process_lost"])

export const LatestDownload = Schema.Struct({
  state: described(
    Schema.Literals(["running", "sent", "stopped"]),
    "Whether it is under way, was sent to its end, or ended before that."
  ),
  reason: described(
    Schema.NullOr(StopReason),
    "Why it ended before its end: `connection_lost` (by its client or on the way), `archive_closed` (the archive was locked before it began), `storage_unavailable` (the store of files did not answer), `service_unavailable` (the database did not answer, or no turn was free), `changed` (what was to be gone on with is not the part as it is now), `process_lost` (nothing is known of it any more), `unexpected`."
  ),
  admin_id: described(Uuid, "The admin."),
  admin_name: described(Schema.NullOr(Schema.String), "The admin's name then."),
  started_at: described(Timestamp, "When it began."),
  at: described(Timestamp, "When it was heard of last."),
  bytes: described(Count, "Bytes of the part that were made until then."),
  messages: described(Count, "Messages in them."),
  files: described(Count, "Files in them.")
}).annotate({ identifier: "archive_export_download" })
export type LatestDownload = typeof LatestDownload.Type

/** The counts of a part as far as it is made. */
export interface PartProgress {
  readonly bytes: number
  readonly messages: number
  readonly files: number
}

/** A download as far as it is at a moment; `end` is null while it is under way. */
export interface DownloadReport extends PartProgress {
  readonly at: Date
  readonly end: DownloadStop | "sent" | null
}

/** The latest download of a part as it is stored. */
export interface StoredDownload extends DownloadReport {
  readonly adminId: string
  readonly adminName: string | null
  readonly startedAt: Date
}

type Outcome = Pick<LatestDownload, "reason" | "state">

const outcomeOf = ({ at, end }: StoredDownload, now: Date): Outcome =>
  end === "sent"
    ? { state: "sent", reason: null }
    : end !== null
    ? { state: "stopped", reason: end }
    : now.getTime() - at.getTime() > downloadLost
    ? { state: "stopped", reason: "process_lost" }
    : { state: "running", reason: null }

export const latestDownload = (stored: StoredDownload, now: Date): LatestDownload => ({
  ...outcomeOf(stored, now),
  admin_id: stored.adminId,
  admin_name: stored.adminName,
  started_at: stored.startedAt,
  at: stored.at,
  bytes: stored.bytes,
  messages: stored.messages,
  files: stored.files
})
