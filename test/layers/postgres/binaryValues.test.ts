import { PgTypes } from "@effect/sql-pg"
import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { Buffer } from "node:buffer"
import * as Values from "../../../src/layers/postgres/protocol/BinaryValues.ts"
import { tried } from "../../support/drawn.ts"
import { forEachDatabase } from "../../support/postgres/database.ts"

const { OID } = PgTypes

const text = fc.string({ unit: "binary" }).filter((value) => !value.includes("\u0000"))
const instant = fc.date({
  min: new Date("0001-01-01T00:00:00.000Z"),
  max: new Date("9999-12-31T23:59:59.999Z"),
  noInvalidDate: true
})
const day = instant.map((at) => new Date(Math.floor(at.getTime() / 86_400_000) * 86_400_000))
const int4 = fc.integer()
const int8 = fc.maxSafeInteger()
const maybe = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { freq: 8 })

/** The types of the schema's columns, and what they hold. */
const kinds = {
  bool: fc.boolean(),
  int2: fc.integer({ min: -32_768, max: 32_767 }),
  int4,
  int8: fc.oneof(int8, fc.constantFrom(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)),
  float8: fc.double({ noNaN: true }).map((value) => Object.is(value, -0) ? 0 : value),
  text,
  uuid: fc.uuid(),
  date: day,
  // A parameter before 1685 or after 2255 is some microseconds beside its instant, which such a column rounds off.
  "timestamptz(3)": instant,
  "text[]": fc.array(maybe(text), { maxLength: 4 }),
  "uuid[]": fc.array(fc.uuid(), { maxLength: 4 }),
  "int8[]": fc.array(int8.filter((value) => Math.abs(value) > 2 ** 31), { maxLength: 4 }),
  "date[]": fc.array(fc.option(day), { maxLength: 4 }),
  "timestamptz(3)[]": fc.array(instant, { maxLength: 4 })
}

const columns = Object.keys(kinds).map((kind, index) => `$${index + 1}::${kind} as "${kind}"`).join(", ")
const jsonAt = Object.keys(kinds).length + 1

forEachDatabase((_, database) => {
  layer(database)((it) => {
    it.effect("every value of a type of the schema comes back as it was given", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const given = fc.sample(fc.record({ ...kinds, jsonb: fc.jsonValue() }), tried(100))
        yield* Effect.forEach(given, ({ jsonb, ...row }) =>
          Effect.gen(function*() {
            // PostgreSQL's numbers have no negative zero, and its texts no NUL.
            const json = JSON.stringify(jsonb).replaceAll("\\u0000", "").replaceAll("-0", "0")
            const rows = yield* sql.unsafe(`select ${columns}, $${jsonAt}::jsonb as jsonb`, [
              ...Object.values(row),
              json
            ])
            expect(rows).toEqual([{ ...row, jsonb: JSON.parse(json) }])
          }))
      }))

    it.effect("null comes back as null, whatever its type", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql.unsafe(`select ${columns}`, Object.keys(kinds).map(() => null))
        expect(rows).toEqual([Object.fromEntries(Object.keys(kinds).map((kind) => [kind, null]))])
      }))
  })
})

describe("the reading of a column", () => {
  const field = (dataTypeOid: number) => ({
    name: "it",
    tableOid: 0,
    columnAttributeNumber: 0,
    dataTypeOid,
    dataTypeSize: -1,
    typeModifier: -1,
    format: 1
  })
  it("is the library's for the same bytes, except that an int8 is a number", () =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.constantFrom(OID.timestamptz, OID.int8).chain((oid) =>
            // Microseconds of the years 1 to 9999, or any safe integer.
            fc.bigInt({ min: -(2n ** 53n) + 1n, max: 2n ** 53n - 1n }).map((value) => {
              const bytes = Buffer.alloc(8)
              bytes.writeBigInt64BE(oid === OID.timestamptz ? value * 28n : value)
              return { oid, bytes }
            })
          ),
          int4.map((value) => ({ oid: OID.int4, bytes: Buffer.from(Int32Array.of(value).buffer) })),
          text.map((value) => ({ oid: OID.text, bytes: Buffer.from(value) })),
          fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => ({
            oid: OID.uuid,
            bytes: Buffer.from(bytes)
          })),
          fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => ({ oid: OID.float8, bytes: Buffer.from(bytes) }))
        ),
        ({ bytes, oid }) => {
          const ours = Values.describe([field(oid)])
          const theirs = Result.getOrThrow(PgTypes.makeFieldReader([field(oid)]))(bytes, 0, bytes.length, 0)
          expect(ours.read(bytes, 0, bytes.length, 0)).toEqual(typeof theirs === "bigint" ? Number(theirs) : theirs)
          expect(ours.fault()).toBeUndefined()
        }
      ),
      tried(2000)
    ))

  it("of a value without a counterpart is a fault of its rows, said once", () => {
    const infinite = Buffer.from("7fffffffffffffff", "hex")
    for (const oid of [OID.timestamptz, OID.int8, OID.date]) {
      const { fault, read } = Values.describe([field(oid)])
      expect(read(infinite, 0, oid === OID.date ? 4 : 8, 0)).toBeNull()
      expect(fault()).toBeInstanceOf(PgTypes.CodecError)
      expect(fault()).toBeUndefined()
    }
  })
})
