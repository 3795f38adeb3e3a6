/** Values that a JSON schema allows, and a judge of others that knows nothing of the service. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import * as fc from "fast-check"
import { document, type JsonSchema, resolve } from "../../test/support/http/documented.ts"
import { textOfLength } from "./texts.ts"

const ajv = new Ajv2020({ strict: false }).addSchema(document, "document")
  .addFormat("uuid", /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i)
  .addFormat("date-time", {
    validate: (text: string) => {
      const found = /^(\d{4})-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]\d\d:[0-5]\d)$/i.exec(
        text
      )
      return found !== null &&
        Number(found[3]) <= new Date(Date.UTC(Number(found[1]), Number(found[2]), 0)).getUTCDate() &&
        new Date(text).getUTCFullYear() >= 1 && new Date(text).getUTCFullYear() <= 9999
    }
  })
  .addFormat("date", {
    validate: (text: string) =>
      /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) &&
      new Date(text).toISOString().startsWith(text) && !text.startsWith("0000")
  })
  .addFormat("password", true)

const compiled = new WeakMap<object, ValidateFunction>()

const absolute = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(absolute)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(
      Object.entries(value).map((
        [name, member]
      ) => [name, name === "$ref" ? `document${String(member)}` : absolute(member)])
    )
    : value

/** What is wrong with the value by the schema; undefined when nothing is. */
export const wrong = (schema: object, value: unknown): string | undefined => {
  const validate = compiled.get(schema) ?? ajv.compile(absolute(schema) as object)
  compiled.set(schema, validate)
  return validate(value) === true ? undefined : ajv.errorsText(validate.errors)
}

/**
 * Whether the value is nothing but what its schema says: not every schema says what numbers and texts a service keeps.
 */
const isPlain = (value: unknown): boolean => {
  switch (typeof value) {
    case "string":
      return value.isWellFormed() && !/\p{Cc}/u.test(value) && !/^@|^\s*$/.test(value)
    case "number":
      return Math.abs(value) <= Number.MAX_SAFE_INTEGER
    default:
      return typeof value === "object" && value !== null
        ? Object.entries(value).every((entry) => entry.every(isPlain))
        : true
  }
}

/** What has to become of a member's JSON text by its schema. */
export const judge = (schema: object, json: string): "refused" | "well-formed" | "either" => {
  try {
    const value: unknown = JSON.parse(json)
    return wrong(schema, value) !== undefined ? "refused" : isPlain(value) ? "well-formed" : "either"
  } catch {
    return "refused"
  }
}

/** An id of nothing. */
const nothing = "0190a0a0-0000-7000-8000-000000000000"

/** JSON text that the schema allows; `ids` answers what an id of that name may be. */
export const valid = (
  schema: JsonSchema,
  name: string,
  ids: (name: string) => ReadonlyArray<string>
): fc.Arbitrary<string> => {
  const { anyOf, enum: values, format, items, maximum, maxLength, minimum, pattern, type, ...rest } = resolve(
    schema
  ) as JsonSchema & { readonly maxLength?: number; readonly pattern?: string }
  const known = ids(name).map((id) => JSON.stringify(id))
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((one) => valid(one, name, ids)))
  if (values !== undefined) return fc.constantFrom(...values).map((value) => JSON.stringify(value))
  switch (type) {
    case "boolean":
      return fc.constantFrom("true", "false")
    case "integer":
      return fc.integer({ min: minimum ?? 0, max: Math.min(maximum ?? 1e6, 2 ** 31 - 1) }).map(String)
    case "array":
      return fc.array(valid(items ?? {}, name, ids), { minLength: 1, maxLength: 3 }).map((all) => `[${all.join(",")}]`)
    case "null":
      return fc.constant("null")
    case "object": {
      const { properties = {}, required = [] } = rest
      const members = Object.entries(properties).map(([member, property]) => {
        const drawn = valid(property, member, ids).map((value) => `${JSON.stringify(member)}:${value}`)
        return required.includes(member) ? drawn : fc.option(drawn, { nil: undefined })
      })
      return fc.tuple(...members).map((all) => `{${all.filter((member) => member !== undefined).join(",")}}`)
    }
    default:
      if (format === "uuid") return fc.constantFrom(...known, JSON.stringify(nothing))
      if (known.length > 0) return fc.constantFrom(...known, JSON.stringify(pattern === undefined ? "nothing" : "404"))
      if (format === "date-time") {
        return fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((at) => JSON.stringify(at))
      }
      if (format === "date") {
        // The last day is not before the first one.
        const from = name === "until" ? 2e12 : 0
        return fc.date({ min: new Date(from), max: new Date(from + 2e12), noInvalidDate: true })
          .map((at) => JSON.stringify(at.toISOString().slice(0, 10)))
      }
      // Its rule is more than its pattern: the country exists, and the number is as long as its numbers are.
      if (name === "phone_number") {
        return fc.integer({ min: 0, max: 9999 }).map((last) => `"+1202555${String(last).padStart(4, "0")}"`)
      }
      if (pattern !== undefined) {
        return fc.stringMatching(new RegExp(pattern, "u")).filter(({ length }) => length <= (maxLength ?? Infinity))
          .map((value) => JSON.stringify(value))
      }
      return fc.string({ minLength: 1, maxLength: Math.min(maxLength ?? 20, 20), unit: "grapheme-ascii" }).map(
        (value) => JSON.stringify(/^@|^\s*$/.test(value) ? "text" : value)
      )
  }
}

/** Moments that a calendar has, has not, or writes in another way. */
const moments = [
  "0000-01-01T00:00:00Z",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
  "+275760-09-13T00:00:00.000Z",
  "-000001-01-01T00:00:00Z",
  "2026-02-29T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-01-01T24:00:00Z",
  "2016-12-31T23:59:60Z",
  "2026-01-01",
  "2026",
  "20260101T000000Z",
  "2026-01-01T00:00:00",
  "2026-01-01 00:00:00Z",
  "2026-01-01T00:00:00.123456789Z",
  "2026-01-01T00:00:00+14:00",
  "2026-01-01T00:00:00+99:99",
  "Thu, 01 Jan 1970 00:00:00 GMT",
  "1.5",
  "now"
]

/** JSON text at the bounds that the schema names, and one past them. */
export const boundary = (schema: JsonSchema): fc.Arbitrary<string> | undefined => {
  const { anyOf, format, maximum, maxLength, minimum, type } = resolve(schema) as JsonSchema & {
    readonly maxLength?: number
  }
  if (anyOf !== undefined) return anyOf.map(boundary).find((found) => found !== undefined)
  if (format === "date-time") return fc.constantFrom(...moments).map((moment) => JSON.stringify(moment))
  if (type === "integer" && minimum !== undefined && maximum !== undefined) {
    return fc.constantFrom(minimum - 1, minimum, maximum, maximum + 1).map(String)
  }
  if (type === "string" && maxLength !== undefined) {
    return fc.constantFrom(maxLength - 1, maxLength, maxLength + 1).chain(textOfLength).map((text) =>
      JSON.stringify(text)
    )
  }
  return undefined
}
