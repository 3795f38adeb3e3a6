/** Texts of messages: marked words and https links, and numbers, days and sizes in words. All times are UTC. */
import { make } from "./Elements.ts"

/** A part of a text, in UTF-16 units. */
export interface Span {
  readonly start: number
  readonly length: number
}

const dayFormat = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", dateStyle: "full" })
const shortFormat = new Intl.DateTimeFormat("en-GB", {
  timeZone: "UTC",
  day: "numeric",
  month: "short",
  year: "numeric"
})
const timeFormat = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", hour: "2-digit", minute: "2-digit" })
const momentFormat = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", dateStyle: "long", timeStyle: "medium" })

export const dayOf = (at: Date): string => dayFormat.format(at)
export const shortDay = (at: Date): string => shortFormat.format(at)
export const timeOf = (at: Date): string => timeFormat.format(at)
export const momentOf = (at: Date): string => `${momentFormat.format(at)} UTC`
export const count = (value: number): string => value.toLocaleString("en")

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

export const sizeOf = (bytes: number): string =>
  bytes < 1000
    ? `${bytes} B`
    : bytes < 1e6
    ? `${(bytes / 1e3).toFixed(0)} KB`
    : bytes < 1e9
    ? `${(bytes / 1e6).toFixed(1)} MB`
    : `${(bytes / 1e9).toFixed(2)} GB`

/** Addresses in a text. Anything but https stays text, and so does one with a name or password before its host. */
const address = /\bhttps:\/\/[^\s<>"'`\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g

/** The address as a link leads to it; null where it is none. */
const safeAddress = (text: string): string | null => {
  if (!URL.canParse(text)) return null
  const { href, password, protocol, username } = new URL(text)
  return protocol === "https:" && username === "" && password === "" ? href : null
}

const ending = /[.,;:!?\]}'"»”]$/

/** The address without what ends a sentence; a bracket that it opens is its own. */
const trimmed = (text: string): string => {
  const unopened = text.endsWith(")") && text.split(")").length > text.split("(").length
  return unopened || ending.test(text) ? trimmed(text.slice(0, -1)) : text
}

const linked = (text: string): ReadonlyArray<Node> => {
  const parts: Array<Node> = []
  let at = 0
  for (const match of text.matchAll(address)) {
    const shown = trimmed(match[0])
    const href = safeAddress(shown)
    if (href === null) continue
    parts.push(document.createTextNode(text.slice(at, match.index)))
    parts.push(make("a", { href, rel: "noopener noreferrer nofollow", target: "_blank" }, shown))
    at = match.index + shown.length
  }
  parts.push(document.createTextNode(text.slice(at)))
  return parts
}

/** Spans in order, without those that overlap an earlier one or the text's end. */
const inOrder = (text: string, spans: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  let end = 0
  return [...spans].sort((one, other) => one.start - other.start).filter(({ length, start }) => {
    if (start < end || length <= 0 || start + length > text.length) return false
    end = start + length
    return true
  })
}

/** The text with marked spans and links. */
export const textWith = (text: string, spans: ReadonlyArray<Span> = []): ReadonlyArray<Node> => {
  const parts: Array<Node> = []
  let at = 0
  for (const { length, start } of inOrder(text, spans)) {
    parts.push(...linked(text.slice(at, start)), make("mark", {}, text.slice(start, start + length)))
    at = start + length
  }
  parts.push(...linked(text.slice(at)))
  return parts
}

/** About so many units around the first span, cut between words; with its spans where they are in it. */
export const excerpt = (text: string, spans: ReadonlyArray<Span>, size: number) => {
  const first = inOrder(text, spans)[0]?.start ?? 0
  const from = first < size / 2 ? 0 : text.lastIndexOf(" ", first - size / 3) + 1
  const start = Math.max(from, first - size / 2)
  const end = start + size >= text.length
    ? text.length
    : Math.max(text.lastIndexOf(" ", start + size), start + size / 2)
  const cut = `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`
  const shift = start - (start > 0 ? 1 : 0)
  return { text: cut, spans: spans.map((span) => ({ start: span.start - shift, length: span.length })) }
}

/** The part in which two revisions differ, in each: what is equal at both ends is left out, by whole words. */
export const difference = (before: string, after: string): readonly [Span, Span] => {
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before[start] === after[start]) start++
  let end = 0
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  while (start > 0 && !/\s/.test(before[start - 1] ?? " ")) start--
  while (end > 0 && !/\s/.test(before[before.length - end] ?? " ")) end--
  return [{ start, length: before.length - end - start }, { start, length: after.length - end - start }]
}
