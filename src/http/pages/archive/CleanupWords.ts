/** The words for cleanups of the archive. */
import type { ArchiveCleanup, CleanupState } from "../../../domain/archive/ArchiveCleanup.ts"
import * as Statuses from "../accounts/Statuses.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"

const states: Readonly<Record<CleanupState, readonly [Statuses.Tone, string]>> = {
  previewed: ["caution", "Not confirmed"],
  queued: ["caution", "Begins soon"],
  running: ["caution", "Deleting"],
  done: ["good", "Done"],
  failed: ["danger", "Stopped"],
  expired: ["caution", "Preview has ended"],
  cancelled: ["caution", "Cancelled"]
}

/** True until the time from which it may begin. */
const isWaiting = ({ not_before, state }: ArchiveCleanup, now: number): boolean =>
  state === "queued" && not_before !== null && not_before.getTime() > now

export const mark = (cleanup: ArchiveCleanup, now: number): Html.Html =>
  isWaiting(cleanup, now) ? Statuses.mark("caution", "Waiting") : Statuses.mark(...states[cleanup.state])

/** The sentence on when it begins to delete, while it waits for that. */
export const begins = (cleanup: ArchiveCleanup, now: number): Html.Html | undefined =>
  cleanup.not_before === null || !isWaiting(cleanup, now)
    ? undefined
    : html`The retention begins to delete this on ${Html.dayOf(cleanup.not_before)}, unless it is cancelled before.`

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
