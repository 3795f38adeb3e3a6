/** Records as the plaintext of a frame: JSON in UTF-8, the messages in columns. */
import { Schema } from "effect"
import { readUtf8, utf8 } from "./Bytes.ts"
import type { FrameKind } from "./Epoch.ts"
import { isColumns, type JsonObject } from "./JsonGuards.ts"
import { decodeMessages, encodeMessages } from "./MessageColumns.ts"
import { ChangeRecord, ChatRecord, MemberRecord, type RecordOf, type RecordsOf } from "./Records.ts"

/** `decode` answers null where the columns are not of its kind. */
interface Codec<A> {
  readonly encode: (records: ReadonlyArray<A>) => JsonObject
  readonly decode: (columns: JsonObject) => ReadonlyArray<A> | null
}

/** Rows as they are, with members that this version does not know. */
const rowsOf = <A>(schema: Schema.Schema<A>): Codec<A> => {
  const areRows = Schema.is(Schema.Array(schema))
  return {
    encode: (records) => ({ n: records.length, r: records }),
    decode: ({ n, r }) => areRows(r) && r.length === n ? r : null
  }
}

const codecs: { readonly [Kind in FrameKind]: Codec<RecordsOf[Kind]> } = {
  messages: { encode: encodeMessages, decode: decodeMessages },
  changes: rowsOf(ChangeRecord),
  members: rowsOf(MemberRecord),
  chat: rowsOf(ChatRecord)
}

export const encodeRecords = <Kind extends FrameKind>(
  kind: Kind,
  records: ReadonlyArray<RecordOf<Kind>>
): Uint8Array => utf8(JSON.stringify(codecs[kind].encode(records)))

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The records, or null where the bytes are not columns of this kind. */
export const decodeRecords = <Kind extends FrameKind>(
  kind: Kind,
  bytes: Uint8Array
): ReadonlyArray<RecordOf<Kind>> | null => {
  const text = readUtf8(bytes)
  const columns = text === null ? null : parse(text)
  return isColumns(columns) ? codecs[kind].decode(columns) : null
}
