/** The texts of a record that a search looks through, and the tokens that a vocabulary keeps of them. */
import { fold } from "./Fold.ts"
import type { ChangeRecord, MessageDetails, MessageRecord } from "./Records.ts"

export type TextField = "text" | "caption" | "transcript" | "file" | "poll" | "contact" | "service"

/** A text of a revision. */
export interface FieldText {
  readonly field: TextField
  readonly text: string
}

/** A revision of a message: as it was first seen, or an edit. */
export interface Revision {
  readonly text: string | null
  readonly details: MessageDetails
}

const textsIn = (field: TextField, texts: ReadonlyArray<string | null | undefined>): ReadonlyArray<FieldText> =>
  texts.flatMap((text) => text === null || text === undefined || text === "" ? [] : [{ field, text }])

export const fieldTexts = ({ details, text }: Revision): ReadonlyArray<FieldText> => [
  ...textsIn("text", [text]),
  ...textsIn("caption", [details.caption]),
  ...textsIn("transcript", [details.transcript]),
  ...textsIn("file", details.files?.map(({ name }) => name) ?? []),
  ...textsIn("poll", details.poll ?? []),
  ...textsIn("contact", details.contact ?? []),
  ...textsIn("service", [details.service])
]

/** The texts of a page's records; a deletion has none. */
export const textsOf = (records: ReadonlyArray<MessageRecord | ChangeRecord>): ReadonlyArray<string> =>
  records.flatMap((record) =>
    "change" in record && record.change === "deleted" ? [] : fieldTexts(record).map(({ text }) => text)
  )

const token = /[\p{L}\p{N}\p{M}]+/gu

/** The maximal runs of letters, digits and marks of a folded text. */
export const tokensOf = (folded: string): ReadonlyArray<string> => folded.match(token) ?? []

/** The tokens of the texts, each once. */
export const tokensOfTexts = (texts: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(texts.flatMap((text) => tokensOf(fold(text))))
