/** Values as PostgreSQL's binary protocol carries them, and rows as objects. */
import { type PgProtocol, PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import { Buffer } from "node:buffer"

const { OID } = PgTypes

const typed = (oid: number, value: unknown): PgTypes.Parameter => ({
  [PgTypes.ParameterTypeId]: PgTypes.ParameterTypeId,
  oid,
  value
})

const nothing = typed(0, null)
const yes = typed(OID.bool, true)
const no = typed(OID.bool, false)

const isInt4 = (value: number): boolean => (value | 0) === value

/** The type of a value; texts and null have none, so that the statement decides. */
const scalar = (value: unknown): PgTypes.Parameter => {
  switch (typeof value) {
    case "string":
      // Half a surrogate pair has no UTF-8.
      if (!value.isWellFormed()) throw new PgTypes.CodecError({ message: "A text is not well-formed Unicode" })
      return typed(0, value)
    case "number":
      if (isInt4(value)) return typed(OID.int4, value)
      return Number.isSafeInteger(value) ? typed(OID.int8, BigInt(value)) : typed(OID.float8, value)
    case "boolean":
      return value ? yes : no
    case "bigint":
      return typed(OID.int8, value)
    case "undefined":
      return nothing
  }
  if (value === null) return nothing
  if (PgTypes.isParameter(value)) return value
  if (value instanceof Date) return typed(OID.timestamptz, value)
  if (value instanceof Uint8Array) return typed(OID.bytea, value)
  throw new PgTypes.CodecError({ message: `No type of PostgreSQL is known for a value of type ${typeof value}` })
}

/** An array names its elements' type, which all of them share; one without a value leaves it to the statement. */
const array = (values: ReadonlyArray<unknown>): PgTypes.Parameter => {
  let element: number | undefined
  const elements = values.map((value) => {
    const { oid, value: encoded } = scalar(value)
    if (encoded === null) return null
    const named = oid === 0 ? OID.text : oid
    if (element !== undefined && element !== named) {
      throw new PgTypes.CodecError({ message: "The elements of an array differ in type" })
    }
    element = named
    return encoded
  })
  if (element === undefined) return typed(0, `{${elements.map(() => "NULL").join(",")}}`)
  const oid = PgTypes.arrayOidFor(element)
  if (oid === undefined) throw new PgTypes.CodecError({ message: "The type of an array is not known" })
  return typed(oid, elements)
}

/** A value as a parameter of a statement; what has no type in PostgreSQL throws. */
export const parameter = (value: unknown): PgTypes.Parameter => Array.isArray(value) ? array(value) : scalar(value)

type Read = (bytes: Buffer, offset: number, size: number) => unknown

const dayMillis = 86_400_000
/** 2000-01-01, from which PostgreSQL counts, in days and milliseconds since 1970. */
const epochDays = 10_957
const epochMillis = epochDays * dayMillis

const int8: Read = (bytes, offset) => {
  const value = bytes.readInt32BE(offset) * 0x1_0000_0000 + bytes.readUInt32BE(offset + 4)
  if (!Number.isSafeInteger(value)) throw new PgTypes.CodecError({ message: "int8 outside the safe integers" })
  return value
}

const timestamp: Read = (bytes, offset) => {
  const high = bytes.readInt32BE(offset)
  const low = bytes.readUInt32BE(offset + 4)
  if (high === 0x7fff_ffff || high === -0x8000_0000) {
    throw new PgTypes.CodecError({ message: "An infinite timestamp has no Date" })
  }
  // Within 285 years of the year 2000 the microseconds are a safe integer.
  return Math.abs(high) < 0x20_0000
    ? new Date(Math.trunc((high * 0x1_0000_0000 + low) / 1000) + epochMillis)
    : new Date(Number(bytes.readBigInt64BE(offset) / 1000n) + epochMillis)
}

const date: Read = (bytes, offset) => {
  const days = bytes.readInt32BE(offset)
  if (days === 0x7fff_ffff || days === -0x8000_0000) {
    throw new PgTypes.CodecError({ message: "An infinite date has no Date" })
  }
  return new Date((days + epochDays) * dayMillis)
}

const text: Read = (bytes, offset, size) => bytes.toString("utf8", offset, offset + size)

const uuid: Read = (bytes, offset) => {
  const hex = bytes.toString("hex", offset, offset + 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, -12)}-${hex.slice(-12)}`
}

const readers: ReadonlyMap<number, Read> = new Map<number, Read>([
  [OID.bool, (bytes, offset) => bytes[offset] === 1],
  [OID.int2, (bytes, offset) => bytes.readInt16BE(offset)],
  [OID.int4, (bytes, offset) => bytes.readInt32BE(offset)],
  [OID.int8, int8],
  [OID.float8, (bytes, offset) => bytes.readDoubleBE(offset)],
  [OID.text, text],
  [OID.varchar, text],
  [OID.uuid, uuid],
  [OID.date, date],
  [OID.timestamptz, timestamp],
  [OID.json, (bytes, offset, size) => JSON.parse(bytes.toString("utf8", offset, offset + size))],
  // The first byte is the version of the type's format.
  [OID.jsonb, (bytes, offset, size) => JSON.parse(bytes.toString("utf8", offset + 1, offset + size))]
])

/** Arrays of these are read element by element; the library reads those of the other types. */
const arrays: ReadonlyMap<number, Read> = new Map<number, Read>([
  [OID.int8Array, int8],
  [OID.dateArray, date]
])

/** Dimensions, whether there are nulls, the type, and of the one dimension the length and the first index. */
const arrayHeader = 5 * 4

const arrayOf = (element: Read): Read => (bytes, offset) => {
  const dimensions = bytes.readInt32BE(offset)
  if (dimensions === 0) return []
  if (dimensions !== 1) throw new PgTypes.CodecError({ message: "An array of more than one dimension" })
  const values: Array<unknown> = []
  const count = bytes.readInt32BE(offset + 12)
  let at = offset + arrayHeader
  for (let index = 0; index < count; index++) {
    const size = bytes.readInt32BE(at)
    at += 4
    values.push(size < 0 ? null : element(bytes, at, size))
    at += Math.max(0, size)
  }
  return values
}

/** The reader of a column of the type; a value of a type that neither we nor the library knows is its text. */
const readerOf = (field: PgProtocol.FieldDescription): Read => {
  const known = readers.get(field.dataTypeOid)
  if (known !== undefined) return known
  const element = arrays.get(field.dataTypeOid)
  if (element !== undefined) return arrayOf(element)
  const read = Result.getOrThrow(PgTypes.makeFieldReader([field]))
  return (bytes, offset, size) => read(bytes, offset, size, 0)
}

/** A row by the names of its columns. */
export interface WireRow {
  readonly [column: string]: unknown
}

/** The form of a statement's rows. */
export interface Description {
  readonly read: PgProtocol.FieldReader<unknown>
  readonly row: (values: ReadonlyArray<unknown>) => WireRow
  /** The reason that a value could not be read since the last call; undefined where each could. */
  readonly fault: () => unknown
}

type MakeRow = (values: ReadonlyArray<unknown>) => WireRow

/**
 * Makes rows of these columns. A literal makes an object of fifty members in a fifteenth of the time that they take one
 * by one; where a host lets no text become a function, one by one is how it is.
 */
const rowOf = (names: ReadonlyArray<string>): MakeRow => {
  // In a literal this name is no member.
  if (names.includes("__proto__")) return oneByOne(names)
  const members = names.map((name, index) => `${JSON.stringify(name)}: values[${index}]`)
  try {
    const make: unknown = new Function("values", `return { ${members.join(", ")} }`)
    if (isMakeRow(make)) return make
  } catch {
    // See above.
  }
  return oneByOne(names)
}

const oneByOne = (names: ReadonlyArray<string>): MakeRow => (values) =>
  Object.fromEntries(names.map((name, index) => [name, values[index]]))

const isMakeRow = (value: unknown): value is MakeRow => typeof value === "function"

/**
 * The bytes that were read last as a Buffer, whose reading of numbers and texts is Node's; they are those of many rows.
 */
let whole: Uint8Array | undefined
let buffer: Buffer = Buffer.alloc(0)

/** Compiles the form of a statement's rows. */
export const describe = (fields: ReadonlyArray<PgProtocol.FieldDescription>): Description => {
  const columns = fields.map(readerOf)
  const names = fields.map(({ name }) => name)
  let fault: unknown
  return {
    read: (bytes, offset, size, column) => {
      if (size < 0) return null
      if (bytes !== whole) {
        whole = bytes
        buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      }
      try {
        return columns[column]?.(buffer, offset, size)
      } catch (cause) {
        // A parser that is thrown out of reads nothing more.
        fault ??= cause
        return null
      }
    },
    row: rowOf(names),
    fault: () => {
      const found = fault
      fault = undefined
      return found
    }
  }
}
