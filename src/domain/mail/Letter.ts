/** The content of a mail: a subject and paragraphs, from which its plain text and its HTML are made alike. */
import { Schema } from "effect"
import { shownName } from "../oauth/ClientName.ts"

/** A sentence or more, the one address that the reader is meant to open, or values with their names. */
const Paragraph = Schema.Union([
  Schema.String,
  Schema.Struct({ link: Schema.String }),
  Schema.Struct({ values: Schema.Array(Schema.Tuple([Schema.String, Schema.String])) })
])
export type Paragraph = typeof Paragraph.Type

export const Letter = Schema.Struct({ subject: Schema.String, paragraphs: Schema.Array(Paragraph) })
export type Letter = typeof Letter.Type

/** The number of characters of a third party's text that a mail repeats. */
const quotedLength = 100

/** The places where mail programs make a link by themselves. */
const linked = /(?<=[\p{L}\p{N}])\.(?=\p{L})|:(?=\/\/)/gu

/** A third party's short text, as a mail repeats it: one line in quotes, and never a link. */
export const quoted = (text: string): string =>
  `“${(shownName(text, quotedLength) ?? "").replaceAll(linked, (mark) => `[${mark}]`).replaceAll(/[“”]/gu, "'")}”`

/** A moment, to the minute. */
export const moment = (at: Date): string => `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`

const textOf = (paragraph: Paragraph): string =>
  typeof paragraph === "string"
    ? paragraph
    : "link" in paragraph
    ? paragraph.link
    : paragraph.values.map(([name, value]) => `${name}: ${value}`).join("\n")

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")

const lines = (text: string): string => escape(text).replaceAll("\n", "<br>")

const htmlOf = (paragraph: Paragraph): string =>
  typeof paragraph !== "string" && "link" in paragraph
    ? `<p><a href="${escape(paragraph.link)}">${escape(paragraph.link)}</a></p>`
    : `<p>${lines(textOf(paragraph))}</p>`

/** The letter as plain text. */
export const plainText = ({ paragraphs }: Letter): string => `${paragraphs.map(textOf).join("\n\n")}\n`

/** The letter as HTML without styles, pictures or anything else that is fetched. */
export const html = ({ paragraphs }: Letter): string =>
  `<!doctype html><html><body>${paragraphs.map(htmlOf).join("")}</body></html>`

/** Several letters as one. */
export const joined = (letters: ReadonlyArray<Letter>): Letter => ({
  subject: `${letters.length} notifications`,
  paragraphs: letters.flatMap(({ paragraphs, subject }, at) => [`${at + 1}. ${subject}`, ...paragraphs])
})
