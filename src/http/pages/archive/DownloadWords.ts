/** Downloads of an export's parts, in words and as the length of a bar. They are text, which events carry too. */
import { Duration } from "effect"
import type { ArchiveExport } from "../../../domain/archive/ArchiveExport.ts"
import type { LatestDownload } from "../../../domain/archive/ExportDownload.ts"
import * as Times from "../kit/Times.ts"
import * as Words from "./ExportWords.ts"

export type Part = ArchiveExport["parts"][number]

/** A download that is under way or ended early. */
export interface DownloadLine {
  readonly number: number
  readonly isRunning: boolean
  readonly reason: LatestDownload["reason"]
  readonly text: string
  /** Of the bar, in bytes. */
  readonly done: number
  readonly total: number
}

/** A rate is not said earlier: it would rest on what was made while the keys were opened. */
const rateAfter = Duration.toMillis("5 seconds")

/** A name that another text is around, whose direction changes nothing there. */
const isolated = (name: string | null): string => name === null ? "an admin" : `\u2068${name}\u2069`

const reasons: Readonly<Record<NonNullable<LatestDownload["reason"]>, string>> = {
  connection_lost: "the connection was lost, or the browser or program ended it",
  archive_closed: "the archive was locked before the part was made",
  storage_unavailable: "the store of the files did not answer",
  service_unavailable: "the database did not answer, or too many parts were being made",
  changed: "what was there of the part is not its beginning any more: something of it was deleted meanwhile",
  process_lost: "the service was stopped, or lost its database",
  unexpected: "something unexpected went wrong; the service’s log says what"
}

/** The size that the part had when it was last sent; until then it is estimated. */
const totalOf = ({ bytes, bytes_estimate }: Part): number => bytes ?? bytes_estimate

const amountOf = (part: Part, { bytes, files, messages }: LatestDownload): string => {
  const total = totalOf(part)
  const whole = bytes >= total ? "" : ` of ${part.bytes === null ? "about " : ""}${Words.size(total)}`
  const count = (done: number, all: number, noun: string): ReadonlyArray<string> =>
    all === 0 ? [] : [`${done.toLocaleString("en")} of ${all.toLocaleString("en")} ${noun}`]
  return [
    `${Words.size(bytes)}${whole}`,
    ...count(messages, part.messages, "messages"),
    ...count(files, part.files, "files")
  ].join(", ")
}

const leftOf = (part: Part, { at, bytes, started_at }: LatestDownload): string => {
  const passed = at.getTime() - started_at.getTime()
  const left = totalOf(part) - bytes
  return passed < rateAfter || bytes === 0 || left <= 0
    ? ""
    : ` About ${Times.lasting(left * passed / bytes)} more.`
}

/** The latest download, unless it was sent to its end: the part's own words are about that. */
export const lineOf = (part: Part): DownloadLine | null => {
  const { latest_download: latest, number } = part
  if (latest === null || latest.reason === null && latest.state !== "running") return null
  const isRunning = latest.reason === null
  const amount = amountOf(part, latest)
  const text = latest.reason === null
    ? `Being sent to ${isolated(latest.admin_name)}: ${amount}.${leftOf(part, latest)}`
    : `The last download, by ${isolated(latest.admin_name)}, ended early after ${Words.size(latest.bytes)}: ${
      reasons[latest.reason]
    }.`
  return {
    number,
    isRunning,
    reason: latest.reason,
    text,
    done: latest.bytes,
    total: Math.max(totalOf(part), latest.bytes)
  }
}

/** The facts of the last time that the part was sent to its end, after a verb and a moment; null before that. */
export const sentOf = ({ bytes, downloaded_by_name, unreadable }: Part): string | null =>
  bytes === null
    ? null
    : `by ${isolated(downloaded_by_name)}: ${bytes.toLocaleString("en")} bytes.${
      unreadable === null || unreadable === 0
        ? ""
        : ` ${
          unreadable.toLocaleString("en")
        } of its messages, edits and files could not be read: manifest.json names them.`
    }`
