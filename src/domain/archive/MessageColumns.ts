/**
 * The columns of messages: `n`; `i` ids, `t` times and `a` times of archiving as differences; `f` index into `p`, the
 * senders, or -1; `k` kinds; `x` texts or 0; `e` the details of those that have some, by index. Another member is a column
 * of `n` values that a later version has added: it is kept with the records.
 */
import { Schema } from "effect"
import { isDifference, isListOf, isObject, isWhole, type JsonObject } from "./JsonGuards.ts"
import { largestId, lastSecond, MessageDetails, MessageKind, type MessageRecord, SenderRecord } from "./Records.ts"

const known = new Set(["n", "i", "t", "a", "f", "p", "k", "x", "e"])

const isKind = Schema.is(MessageKind)
const isDetails = Schema.is(MessageDetails)
const isSender = Schema.is(SenderRecord)
const isText = (value: unknown): value is string | 0 => typeof value === "string" || value === 0
const areSenders = (value: unknown): value is ReadonlyArray<SenderRecord> =>
  Array.isArray(value) && value.every((item) => isSender(item))

const differences = (values: ReadonlyArray<number>): ReadonlyArray<number> =>
  values.map((value, at) => value - (values[at - 1] ?? 0))

const isExact = (value: bigint): boolean =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)

const idDifferences = (records: ReadonlyArray<MessageRecord>): ReadonlyArray<number | string> =>
  records.map(({ id }, at) => {
    const difference = id - (records[at - 1]?.id ?? 0n)
    return isExact(difference) ? Number(difference) : String(difference)
  })

const unknownColumns = (records: ReadonlyArray<MessageRecord>): JsonObject => {
  const names = new Set(records.flatMap(({ unknown }) => unknown === undefined ? [] : Object.keys(unknown)))
  return Object.fromEntries(
    [...names].map((name) => [name, records.map(({ unknown }) => unknown?.[name] ?? null)])
  )
}

export const encodeMessages = (records: ReadonlyArray<MessageRecord>): JsonObject => {
  const senders = new Map<string, { readonly at: number; readonly sender: SenderRecord }>()
  const senderOf = (sender: SenderRecord | null): number => {
    if (sender === null) return -1
    const key = JSON.stringify(sender)
    const at = senders.get(key)?.at ?? senders.size
    senders.set(key, { at, sender })
    return at
  }
  const f = records.map(({ from }) => senderOf(from))
  const details = records.flatMap((record, at) =>
    Object.keys(record.details).length === 0 ? [] : [[String(at), record.details]]
  )
  return {
    n: records.length,
    i: idDifferences(records),
    t: differences(records.map(({ at }) => at)),
    a: differences(records.map(({ archivedAt }) => archivedAt)),
    f,
    p: [...senders.values()].map(({ sender }) => sender),
    k: records.map(({ kind }) => kind),
    x: records.map(({ text }) => text ?? 0),
    e: Object.fromEntries(details),
    ...unknownColumns(records)
  }
}

/** The times of a column of differences, or null where one is no time. */
const timesOf = (column: unknown, n: number): ReadonlyArray<number> | null => {
  if (!isListOf(column, n, isWhole)) return null
  let time = 0
  const times = column.map((difference) => time += difference)
  return times.every((value) => value >= 0 && value <= lastSecond) ? times : null
}

const idsOf = (column: unknown, n: number): ReadonlyArray<bigint> | null => {
  if (!isListOf(column, n, isDifference)) return null
  let id = 0n
  const ids = column.map((difference) => id += BigInt(difference))
  return ids.every((value) => value >= 0n && value <= largestId) ? ids : null
}

/** The columns that this version does not know, or null where a member is no column. */
const unknownOf = (columns: JsonObject, n: number): ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> | null => {
  const unknown: Array<readonly [string, ReadonlyArray<unknown>]> = []
  for (const [name, column] of Object.entries(columns)) {
    if (known.has(name)) continue
    if (!Array.isArray(column) || column.length !== n) return null
    unknown.push([name, column])
  }
  return unknown
}

const noDetails: MessageDetails = {}

const detailsOf = (column: unknown, n: number): ReadonlyMap<number, MessageDetails> | null => {
  if (!isObject(column)) return null
  const details = new Map<number, MessageDetails>()
  for (const [at, value] of Object.entries(column)) {
    if (!/^\d{1,6}$/.test(at) || Number(at) >= n || !isDetails(value)) return null
    details.set(Number(at), value)
  }
  return details
}

/** The messages, or null where a column is missing, too short or of another form. */
export const decodeMessages = (columns: JsonObject): ReadonlyArray<MessageRecord> | null => {
  const { n, f, p, k, x } = columns
  if (!isWhole(n)) return null
  const ids = idsOf(columns["i"], n)
  const times = timesOf(columns["t"], n)
  const archived = timesOf(columns["a"], n)
  const details = detailsOf(columns["e"], n)
  const unknown = unknownOf(columns, n)
  if (ids === null || times === null || archived === null || details === null || unknown === null) return null
  if (!areSenders(p) || !isListOf(f, n, isWhole) || f.some((sender) => sender < -1 || sender >= p.length)) return null
  if (!isListOf(k, n, isKind) || !isListOf(x, n, isText)) return null
  return ids.map((id, at) => ({
    id,
    at: times[at] ?? 0,
    archivedAt: archived[at] ?? 0,
    from: p[f[at] ?? -1] ?? null,
    kind: k[at] ?? "other",
    text: x[at] === 0 ? null : x[at] ?? null,
    details: details.get(at) ?? noDetails,
    ...(unknown.length === 0
      ? {}
      : { unknown: Object.fromEntries(unknown.map(([name, column]) => [name, column[at]])) })
  }))
}
