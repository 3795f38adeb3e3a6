/** Cleanups: deletions of archived messages, or of their files alone, that are previewed before they are confirmed. */
import { Schema } from "effect"
import type { AccountId } from "../accounts/Account.ts"
import { Count, DateTime, described, Kind, OptionalTimestamp, Timestamp, Uuid } from "../JsonShapes.ts"
import { NamedAccounts } from "./ArchiveHold.ts"
import { confirmPhrase, type PhraseSubject } from "./ConfirmPhrase.ts"
import { PlatformId } from "./PlatformId.ts"

/** A preview can be confirmed for so long, in milliseconds. */
export const previewLifetime = 15 * 60_000

const maxNamedChats = 500

export const CleanupState = Schema.Literals([
  "previewed",
  "queued",
  "running",
  "done",
  "failed",
  "expired",
  "cancelled"
])
export type CleanupState = typeof CleanupState.Type

const What = Schema.Literals(["messages", "media"])

/** The records that a new cleanup names, also as its answer shows them: null is left out. */
export const NewCriteria = Schema.Struct({
  account_ids: NamedAccounts.annotateKey({ description: "The accounts, 1 to 100." }),
  chat_ids: Schema.optionalKey(
    Schema.NullOr(Schema.Array(PlatformId).check(Schema.isMinLength(1), Schema.isMaxLength(maxNamedChats)))
  ).annotateKey({ description: "Chats of the one account, at most 500; all chats by default." }),
  before: described(
    Schema.optionalKey(Schema.NullOr(DateTime)),
    "Only what was sent on days before this one in UTC; everything by default."
  ),
  what: Schema.optionalKey(Schema.NullOr(What)).annotateKey({
    description: "`messages`, with their files, as by default, or `media`: the files alone."
  })
}).annotate({ identifier: "new_archive_cleanup_criteria" })

const Criteria = Schema.Struct({
  account_ids: described(Schema.Array(Uuid), "The accounts."),
  chat_ids: described(Schema.NullOr(Schema.Array(PlatformId)), "Chats of the one account; null for all."),
  before: described(OptionalTimestamp, "The start of the first day in UTC that is kept; null where none is."),
  what: described(What, "Messages with their files, or files alone.")
}).annotate({ identifier: "archive_cleanup_criteria" })

export const ArchiveCleanup = Schema.Struct({
  object: Kind("archive_cleanup"),
  id: described(Uuid, "The cleanup's id: a UUID."),
  state: described(CleanupState, "How far it is."),
  criteria: described(Criteria, "What it deletes."),
  stop_saving: described(Schema.Boolean, "Whether nothing more of its chats is archived."),
  messages: described(Count, "Messages that it deletes, as previewed: what is archived later stays."),
  files: described(Count, "Files that it deletes."),
  bytes: described(Count, "Size of what it deletes."),
  chats: described(Count, "Chats that these are of."),
  deleted_messages: described(Count, "Messages deleted so far."),
  deleted_bytes: described(Count, "Size of what was deleted so far."),
  confirm_phrase: described(Schema.NullOr(Schema.String), "The phrase that confirms it, while it is previewed."),
  not_before: described(
    OptionalTimestamp,
    "A cleanup of the retention waits until then, and counts what it deletes anew when it begins; null for others."
  ),
  expires_at: described(OptionalTimestamp, "When the preview ends; null once it is confirmed."),
  created_by: described(Schema.NullOr(Uuid), "The admin who previewed it; null for the retention of the organization."),
  confirmed_by: described(Schema.NullOr(Uuid), "The admin who confirmed it."),
  created_at: described(Timestamp, "When it was previewed."),
  started_at: described(OptionalTimestamp, "When it began to delete."),
  finished_at: described(OptionalTimestamp, "When it ended."),
  error: described(Schema.NullOr(Schema.String), "The code of what stopped it, such as `archive_held`.")
}).annotate({ identifier: "archive_cleanup" })
export type ArchiveCleanup = typeof ArchiveCleanup.Type

export const CleanupId = Uuid.pipe(Schema.brand("CleanupId"))
export type CleanupId = typeof CleanupId.Type

/** The cleanup that an operation is about, as a member of its path. */
export const TargetCleanup = CleanupId.annotateKey({ description: "From list_archive_cleanups." })

/** The records that a cleanup deletes; `before` is `YYYY-MM-DD`. */
export interface CleanupCriteria {
  readonly accountIds: ReadonlyArray<AccountId>
  readonly chatIds: ReadonlyArray<bigint> | null
  readonly before: string | null
  readonly mediaOnly: boolean
}

/** Counts of a preview. */
export interface CleanupCounts {
  readonly pages: number
  readonly messages: number
  readonly files: number
  readonly bytes: number
  readonly chats: number
}

/** A cleanup as it is stored. */
export interface StoredCleanup extends CleanupCriteria, CleanupCounts {
  readonly id: CleanupId
  readonly state: CleanupState
  readonly stopSaving: boolean
  readonly deletedMessages: number
  readonly deletedBytes: number
  /** It begins then at the earliest; null for one that an admin confirms. */
  readonly notBefore: Date | null
  readonly expiresAt: Date | null
  readonly createdBy: string | null
  readonly createdAt: Date
  readonly confirmedBy: string | null
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly error: string | null
}

/** The start of the day in UTC. */
export const cleanupDay = (before: Date): string => before.toISOString().slice(0, 10)

/** The state now: a preview ends by time alone. */
export const cleanupState = (
  { expiresAt, state }: Pick<StoredCleanup, "expiresAt" | "state">,
  now: Date
): CleanupState => state === "previewed" && expiresAt !== null && expiresAt <= now ? "expired" : state

/** The count in the phrase that confirms a cleanup. */
export const cleanupSubject = (
  { accountIds, files, mediaOnly, messages }: Pick<StoredCleanup, "accountIds" | "files" | "mediaOnly" | "messages">
): PhraseSubject => ({
  kind: "cleanup",
  what: mediaOnly ? "files" : "messages",
  count: mediaOnly ? files : messages,
  accounts: accountIds.length
})

export const archiveCleanup = (cleanup: StoredCleanup, now: Date): ArchiveCleanup => {
  const state = cleanupState(cleanup, now)
  return {
    object: "archive_cleanup",
    id: cleanup.id,
    state,
    criteria: {
      account_ids: cleanup.accountIds,
      chat_ids: cleanup.chatIds === null ? null : cleanup.chatIds.map(String),
      before: cleanup.before === null ? null : new Date(`${cleanup.before}T00:00:00Z`),
      what: cleanup.mediaOnly ? "media" : "messages"
    },
    stop_saving: cleanup.stopSaving,
    messages: cleanup.messages,
    files: cleanup.files,
    bytes: cleanup.bytes,
    chats: cleanup.chats,
    deleted_messages: cleanup.deletedMessages,
    deleted_bytes: cleanup.deletedBytes,
    confirm_phrase: state === "previewed" ? confirmPhrase(cleanupSubject(cleanup)) : null,
    not_before: cleanup.notBefore,
    expires_at: cleanup.confirmedBy === null ? cleanup.expiresAt : null,
    created_by: cleanup.createdBy,
    confirmed_by: cleanup.confirmedBy,
    created_at: cleanup.createdAt,
    started_at: cleanup.startedAt,
    finished_at: cleanup.finishedAt,
    error: cleanup.error
  }
}

/** The cleanup as the journal keeps it: archives are verified by its pages. */
export const cleanupDetails = (cleanup: CleanupCriteria & CleanupCounts) => ({
  accounts: cleanup.accountIds.length,
  ...(cleanup.before === null ? {} : { before: cleanup.before }),
  what: cleanup.mediaOnly ? "media" : "messages",
  chats: cleanup.chats,
  pages: cleanup.pages,
  messages: cleanup.messages,
  files: cleanup.files,
  bytes: cleanup.bytes
})
