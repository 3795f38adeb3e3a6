/** Exports: recipes of files that hold archived messages. The files are made while they are sent, and never stored. */
import { Duration, Schema } from "effect"
import type { AccountId } from "../accounts/Account.ts"
import { CalendarDay, Count, described, Kind, OptionalTimestamp, Timestamp, Uuid } from "../JsonShapes.ts"
import { NamedAccounts } from "./ArchiveHold.ts"
import { hex } from "./Bytes.ts"
import { LatestDownload, latestDownload, type StoredDownload } from "./ExportDownload.ts"
import { PlatformId } from "./PlatformId.ts"

/** The time that an export can be downloaded, in milliseconds. */
export const exportLifetime = Duration.toMillis(Duration.days(7))

/** The time after its end that an export is still listed, in milliseconds. */
export const endedExportKept = Duration.toMillis(Duration.days(30))

/** Exports that can be downloaded at a time: of one admin, and of the organization. */
export const exportsOfAdmin = 50
export const exportsOfOrganization = 200

const maxNamedChats = 500

export const ExportFormat = Schema.Literals(["json", "html", "rsmf", "eml"])
export type ExportFormat = typeof ExportFormat.Type

/** The records that a new export names. */
export const NewExportCriteria = Schema.Struct({
  account_ids: NamedAccounts.annotateKey({ description: "The accounts, 1 to 100." }),
  chat_ids: Schema.optionalKey(
    Schema.NullOr(Schema.Array(PlatformId).check(Schema.isMinLength(1), Schema.isMaxLength(maxNamedChats)))
  ).annotateKey({ description: "Chats of the one account, at most 500; all chats by default." }),
  since: Schema.optionalKey(Schema.NullOr(CalendarDay)).annotateKey({
    description: "The first day in UTC, `YYYY-MM-DD`; the beginning by default."
  }),
  until: Schema.optionalKey(Schema.NullOr(CalendarDay)).annotateKey({
    description: "The last day in UTC, `YYYY-MM-DD`; today by default."
  })
}).annotate({ identifier: "new_archive_export_criteria" })

const Criteria = Schema.Struct({
  account_ids: described(Schema.Array(Uuid), "The accounts."),
  chat_ids: described(Schema.NullOr(Schema.Array(PlatformId)), "Chats of the one account; null for all."),
  since: described(Schema.NullOr(Schema.String), "The first day in UTC, `YYYY-MM-DD`; null for the beginning."),
  until: described(Schema.NullOr(Schema.String), "The last day in UTC, `YYYY-MM-DD`; null for the day it was made.")
}).annotate({ identifier: "archive_export_criteria" })

const Part = Schema.Struct({
  number: described(Count, "Its number, from 1."),
  account_id: described(Uuid, "The account."),
  first_day: described(Schema.String, "The first day in UTC of its messages, `YYYY-MM-DD`."),
  last_day: described(Schema.String, "The last day."),
  messages: described(Count, "Messages in it, as counted when the export was made."),
  files: described(Count, "Files in it."),
  bytes_estimate: described(Count, "About how many bytes it has."),
  bytes: described(Schema.NullOr(Count), "Its size when it was last sent to its end; null before that."),
  sha256: described(Schema.NullOr(Schema.String), "SHA-256 of it then, in hexadecimal digits."),
  downloaded_at: described(OptionalTimestamp, "When that was."),
  downloaded_by: described(Schema.NullOr(Uuid), "The admin who downloaded it then."),
  downloaded_by_name: described(Schema.NullOr(Schema.String), "The admin's name then."),
  unreadable: described(
    Schema.NullOr(Count),
    "Messages, edits and files that could not be read then; its manifest names them."
  ),
  latest_download: described(
    Schema.NullOr(LatestDownload),
    "Its latest download, whatever became of it; null before the first."
  )
}).annotate({ identifier: "archive_export_part" })

const fields = {
  object: Kind("archive_export"),
  id: described(Uuid, "The export's id: a UUID."),
  state: described(Schema.Literals(["ready", "expired"]), "Whether its parts can be downloaded."),
  criteria: described(Criteria, "What it holds."),
  format: described(
    ExportFormat,
    "The files: `json` in the shape of the messenger's own export, `html` pages to read, `rsmf` for review platforms, `eml` for mail archives."
  ),
  media: described(Schema.Boolean, "Whether it holds the archived files."),
  messages: described(Count, "Messages in all its parts."),
  files: described(Count, "Files in all its parts."),
  part_count: described(Count, "The number of its parts, each of one account and at most one month."),
  created_by: described(Uuid, "The admin who made it."),
  created_at: described(Timestamp, "When it was made: what is archived later is not in it."),
  expires_at: described(Timestamp, "Until when its parts can be downloaded.")
}

/** An export as a list has it. */
export const ArchiveExportSummary = Schema.Struct(fields).annotate({ identifier: "archive_export_summary" })

export const ArchiveExport = Schema.Struct({ ...fields, parts: described(Schema.Array(Part), "Its parts.") })
  .annotate({ identifier: "archive_export" })
export type ArchiveExport = typeof ArchiveExport.Type

export const ExportId = Uuid.pipe(Schema.brand("ExportId"))
export type ExportId = typeof ExportId.Type

/** The export that an operation is about, as a member of its path. */
export const TargetExport = ExportId.annotateKey({ description: "From list_archive_exports." })

/** The records that an export holds; days are `YYYY-MM-DD`. */
export interface ExportCriteria {
  readonly accountIds: ReadonlyArray<AccountId>
  readonly chatIds: ReadonlyArray<bigint> | null
  readonly since: string | null
  readonly until: string | null
  readonly media: boolean
}

/** A part as it is planned: messages of one account and some days. */
export interface PlannedPart {
  readonly accountId: AccountId
  readonly firstDay: string
  readonly lastDay: string
  readonly messages: number
  readonly files: number
  /** The estimated size. */
  readonly bytes: number
}

/** A part as it was when it was last sent to its end; each is null before that. */
interface LastSent {
  readonly size: number | null
  readonly sha256: Uint8Array | null
  readonly sentAt: Date | null
  readonly sentBy: string | null
  readonly sentByName: string | null
  readonly unreadable: number | null
}

export const neverSent: LastSent = {
  size: null,
  sha256: null,
  sentAt: null,
  sentBy: null,
  sentByName: null,
  unreadable: null
}

/** A part as it is stored. */
export interface StoredPart extends PlannedPart, LastSent {
  readonly number: number
  /** The account's highest page id when the export was made. */
  readonly lastPage: bigint
  readonly download: StoredDownload | null
}

/** An export as it is stored. */
export interface StoredExport extends ExportCriteria {
  readonly id: ExportId
  /** Names of the accounts when it was made, in the order of their ids. */
  readonly accountNames: ReadonlyArray<string>
  readonly format: ExportFormat
  readonly messages: number
  readonly files: number
  readonly parts: number
  readonly createdBy: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** The name under which a part can be stored. */
export const partFileName = (exportId: string, number: number, parts: number): string =>
  `archive-export-${exportId.slice(0, 8)}-${number}-of-${parts}.zip`

export const exportSummary = (stored: StoredExport, now: Date): typeof ArchiveExportSummary.Type => ({
  object: "archive_export",
  id: stored.id,
  state: stored.expiresAt > now ? "ready" : "expired",
  criteria: {
    account_ids: stored.accountIds,
    chat_ids: stored.chatIds === null ? null : stored.chatIds.map(String),
    since: stored.since,
    until: stored.until
  },
  format: stored.format,
  media: stored.media,
  messages: stored.messages,
  files: stored.files,
  part_count: stored.parts,
  created_by: stored.createdBy,
  created_at: stored.createdAt,
  expires_at: stored.expiresAt
})

export const archiveExport = (
  stored: StoredExport,
  parts: ReadonlyArray<Omit<StoredPart, "lastPage">>,
  now: Date
): ArchiveExport => ({
  ...exportSummary(stored, now),
  parts: parts.map((part) => ({
    number: part.number,
    account_id: part.accountId,
    first_day: part.firstDay,
    last_day: part.lastDay,
    messages: part.messages,
    files: part.files,
    bytes_estimate: part.bytes,
    bytes: part.size,
    sha256: part.sha256 === null ? null : hex(part.sha256),
    downloaded_at: part.sentAt,
    downloaded_by: part.sentBy,
    downloaded_by_name: part.sentByName,
    unreadable: part.unreadable,
    latest_download: part.download === null ? null : latestDownload(part.download, now)
  }))
})

/** The export as the journal keeps it. */
export const exportDetails = (stored: Omit<StoredExport, "id">) => ({
  accounts: stored.accountIds.length,
  ...(stored.chatIds === null ? {} : { chats: stored.chatIds.length }),
  ...(stored.since === null ? {} : { since: stored.since }),
  ...(stored.until === null ? {} : { until: stored.until }),
  format: stored.format,
  media: stored.media,
  parts: stored.parts,
  messages: stored.messages,
  files: stored.files
})
