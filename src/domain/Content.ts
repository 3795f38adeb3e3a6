/** Contents: bytes that an operation answers while they are read or made. */
import { Schema, type Stream } from "effect"
import { ContentNotice, Count, described, Kind } from "./JsonShapes.ts"

/** Bytes from `start` on, before `end`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** A content cannot be read to its end, or is not what was stored: whoever reads it gets no clean end. */
export class ContentBroken extends Schema.TaggedError<ContentBroken>()("ContentBroken", {
  reason: Schema.String,
  /** True where the stored content is missing or damaged. A store that is mounted wrongly lacks it for a while. */
  isLost: Schema.optionalKey(Schema.Boolean)
}) {
  override get message(): string {
    return `A content ended early: ${this.reason}`
  }
}

/** A content, of which nothing is read before its bytes are asked for. */
export interface Content {
  readonly media_type: string
  readonly file_name: string
  /** Null where it is known only at the end. */
  readonly size: number | null
  /** True where a part may be asked for; it needs the size. */
  readonly ranges: boolean
  /** A name of exactly these bytes, so that a part can be joined to an earlier one; null where they may change. */
  readonly version: string | null
  /** All bytes, or those of a range within the size. Each use reads them again. */
  readonly bytes: (range?: ByteRange) => Stream.Stream<Uint8Array, ContentBroken>
}

/** The part of a content that fits into an answer of JSON. */
export const ContentHead = Schema.Struct({
  content_notice: ContentNotice,
  object: Kind("content"),
  media_type: described(Schema.String, "The media type as its sender named it."),
  file_name: described(Schema.String, "The name under which it can be stored."),
  size: described(Schema.NullOr(Count), "Its bytes; null where they are known only at the end.")
})

/** The start and end that a header `Range` asks for of so many bytes. */
export type RangeRequest = ByteRange | "whole" | "unsatisfiable"

/** The position, at most the largest that is exact. */
const position = (digits: string): number => {
  const exact = BigInt(digits)
  return exact > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(exact)
}

/** Reads a header `Range` (RFC 9110, section 14.2): several ranges, and whatever is malformed, ask for the whole. */
export const requestedRange = (header: string | undefined, size: number): RangeRequest => {
  const [, first = "", last = ""] = /^bytes=[ \t]*(\d{0,40})-(\d{0,40})[ \t]*$/i.exec(header ?? "") ?? []
  if (first === "" && last === "") return "whole"
  if (first === "") {
    const length = Math.min(position(last), size)
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size }
  }
  if (last !== "" && BigInt(last) < BigInt(first)) return "whole"
  const start = position(first)
  return start >= size ? "unsatisfiable" : { start, end: last === "" ? size : Math.min(position(last), size - 1) + 1 }
}
