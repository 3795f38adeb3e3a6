/** Rows of exports as statements answer them: counts travel as text. */
import type { StoredExport, StoredPart } from "../../../domain/archive/ArchiveExport.ts"
import type { StoredDownload } from "../../../domain/archive/ExportDownload.ts"
import type { MeasuredDays } from "../../../domain/archive/ExportParts.ts"

export type ExportRow = Omit<StoredExport, "chatIds" | "files" | "messages"> & {
  readonly chatTexts: ReadonlyArray<string> | null
  readonly messages: string
  readonly files: string
}

export const exportOf = ({ chatTexts, ...row }: ExportRow): StoredExport => ({
  ...row,
  chatIds: chatTexts === null ? null : chatTexts.map(BigInt),
  messages: Number(row.messages),
  files: Number(row.files)
})

export type Measured = {
  readonly [Name in keyof MeasuredDays]: MeasuredDays[Name] extends number ? string : MeasuredDays[Name]
}

export const measuredOf = (row: Measured): MeasuredDays => ({
  ...row,
  messages: Number(row.messages),
  chatDays: Number(row.chatDays),
  files: Number(row.files),
  pageBytes: Number(row.pageBytes),
  fileBytes: Number(row.fileBytes)
})

export type PartRow = Omit<StoredPart, "bytes" | "download" | "files" | "lastPage" | "messages" | "size"> & {
  readonly lastPage: string
  readonly messages: string
  readonly files: string
  readonly bytes: string
  readonly size: string | null
  readonly downloadBy: string | null
  readonly downloadByName: string | null
  readonly startedAt: Date | null
  readonly at: Date | null
  readonly downloadBytes: string
  readonly downloadMessages: string
  readonly downloadFiles: string
  readonly end: StoredDownload["end"]
}

const downloadOf = (row: PartRow): StoredDownload | null => {
  const { at, downloadBy, startedAt } = row
  if (at === null || downloadBy === null || startedAt === null) return null
  return {
    adminId: downloadBy,
    adminName: row.downloadByName,
    startedAt,
    at,
    bytes: Number(row.downloadBytes),
    messages: Number(row.downloadMessages),
    files: Number(row.downloadFiles),
    end: row.end
  }
}

export const partOf = (row: PartRow): StoredPart => ({
  number: row.number,
  accountId: row.accountId,
  firstDay: row.firstDay,
  lastDay: row.lastDay,
  sha256: row.sha256,
  sentAt: row.sentAt,
  sentBy: row.sentBy,
  sentByName: row.sentByName,
  unreadable: row.unreadable,
  download: downloadOf(row),
  messages: Number(row.messages),
  files: Number(row.files),
  bytes: Number(row.bytes),
  lastPage: BigInt(row.lastPage),
  size: row.size === null ? null : Number(row.size)
})
