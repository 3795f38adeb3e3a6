/** The cutting of an export into parts: of one account and at most one month each, and no larger than can be handled. */
import type { AccountId } from "../accounts/Account.ts"
import type { ExportFormat, PlannedPart } from "./ArchiveExport.ts"

/** Parts of one export. */
export const maxExportParts = 1200

/** The bytes of a part at most, as estimated, where nothing smaller is asked for; and the least that can be. */
export const largestPart = 2 * 1024 ** 3
export const leastPartLimit = 10_000_000

/** The largest part in messages and in entries of its ZIP. A single day is never divided. */
const partLimits = { messages: 200_000, entries: 20_000 }

/** The files of a part, and its bytes at most. */
export interface PartForm {
  readonly format: ExportFormat
  readonly bytes: number
}

/** The records of some days of an account: their number, and the size of their sealed pages and of their files. */
export interface MeasuredDays {
  readonly accountId: AccountId
  readonly firstDay: string
  readonly lastDay: string
  readonly messages: number
  /** Days of chats: each is a document of its own in some formats. */
  readonly chatDays: number
  readonly files: number
  readonly pageBytes: number
  readonly fileBytes: number
}

/** Bytes of a message beyond its text, as measured, and by how much a text is larger than sealed. */
const messageBytes: Readonly<Record<ExportFormat, number>> = { json: 330, html: 260, rsmf: 700, eml: 160 }
const textGrowth = 3

/** Files of an RSMF or EML document are in Base64. */
const fileGrowth: Readonly<Record<ExportFormat, number>> = { json: 1, html: 1, rsmf: 1.37, eml: 1.37 }

const bytesOf = (format: ExportFormat, { fileBytes, messages, pageBytes }: MeasuredDays): number =>
  Math.ceil(messages * messageBytes[format] + pageBytes * textGrowth + fileBytes * fileGrowth[format])

const entriesOf = ({ chatDays, files }: MeasuredDays): number => chatDays + files

const fits = ({ bytes, format }: PartForm, days: MeasuredDays): boolean =>
  bytesOf(format, days) <= bytes && days.messages <= partLimits.messages &&
  entriesOf(days) <= partLimits.entries

/** True if the days have to be looked at one by one to be cut. */
export const isTooLarge = (form: PartForm, days: MeasuredDays): boolean =>
  days.firstDay !== days.lastDay && !fits(form, days)

const joined = (one: MeasuredDays, next: MeasuredDays): MeasuredDays => ({
  accountId: one.accountId,
  firstDay: one.firstDay,
  lastDay: next.lastDay,
  messages: one.messages + next.messages,
  chatDays: one.chatDays + next.chatDays,
  files: one.files + next.files,
  pageBytes: one.pageBytes + next.pageBytes,
  fileBytes: one.fileBytes + next.fileBytes
})

/** Joins the days of one account, in their order, into the fewest pieces that fit. */
export const pieces = (form: PartForm, days: ReadonlyArray<MeasuredDays>): ReadonlyArray<MeasuredDays> => {
  const made: Array<MeasuredDays> = []
  for (const day of days) {
    const last = made.at(-1)
    const together = last === undefined ? day : joined(last, day)
    if (last === undefined || !fits(form, together)) made.push(day)
    else made[made.length - 1] = together
  }
  return made
}

export const plannedPart = (format: ExportFormat, days: MeasuredDays): PlannedPart => ({
  accountId: days.accountId,
  firstDay: days.firstDay,
  lastDay: days.lastDay,
  messages: days.messages,
  files: days.files,
  bytes: bytesOf(format, days)
})
