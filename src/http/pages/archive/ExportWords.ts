/** Words about exports of the archive that several pages use. */
import type { ArchiveExport, ExportFormat } from "../../../domain/archive/ArchiveExport.ts"

export const formats: Readonly<Record<ExportFormat, string>> = {
  html: "Pages to read",
  json: "JSON, as the messenger's own export",
  rsmf: "RSMF, for review platforms",
  eml: "Mails, for mail archives"
}

export const counted = (count: number, one: string): string =>
  `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`

export const amount = ({ files, messages }: Pick<ArchiveExport, "files" | "messages">): string =>
  `${counted(messages, "message")}, ${counted(files, "file")}`

export const days = ({ since, until }: Pick<ArchiveExport["criteria"], "since" | "until">): string =>
  since === null
    ? until === null ? "all days" : `until ${until}`
    : until === null
    ? `from ${since} on`
    : `${since} to ${until}`

const units = ["B", "kB", "MB", "GB", "TB"] as const

/** A size with three digits. */
export const size = (bytes: number): string => {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${Number((bytes / 1000 ** power).toPrecision(3)).toLocaleString("en")} ${units[power]}`
}
