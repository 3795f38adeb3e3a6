/** The words for cleanups of the archive. */
import type { ArchiveCleanup, CleanupState } from "../../../domain/archive/ArchiveCleanup.ts"
import * as Statuses from "../accounts/Statuses.ts"
import type * as Html from "../kit/Html.ts"

const states: Readonly<Record<CleanupState, readonly [Statuses.Tone, string]>> = {
  previewed: ["caution", "Not confirmed"],
  queued: ["caution", "Begins soon"],
  running: ["caution", "Deleting"],
  done: ["good", "Done"],
  failed: ["danger", "Stopped"],
  expired: ["caution", "Preview has ended"],
  cancelled: ["caution", "Cancelled"]
}

export const mark = ({ state }: ArchiveCleanup): Html.Html => Statuses.mark(...states[state])

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`

/** The counts of a cleanup, in words. */
export const amount = ({ chats, criteria, files, messages }: ArchiveCleanup): string =>
  `${criteria.what === "media" ? "" : `${counted(messages, "message", "messages")}, `}${
    counted(files, "file", "files")
  } of ${counted(chats, "chat", "chats")}`

/** The sentence for a cleanup that a refusal has stopped. */
export const stopped: Readonly<Record<string, string>> = {
  archive_held: "A hold was placed on these records. What was deleted before stays deleted.",
  archive_closed: "The whole archive is being deleted."
}
