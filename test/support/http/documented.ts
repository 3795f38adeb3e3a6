/** Answers against the OpenAPI document that the service serves: the document is the judge, not the declarations. */
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Documents from "../../../src/http/OpenApiDocument.ts"
import { served as operations } from "../../added/index.ts"

/** A JSON schema as the document writes them. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | JsonSchema
  readonly items?: JsonSchema
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
}

interface Response {
  readonly $ref?: string
  readonly content?: { readonly [type: string]: { readonly schema: JsonSchema } }
}

interface Responses {
  readonly [status: string]: Response
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string; readonly responses: Responses }>>>
  >
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, Response>>
  }
}

/** The document as a client reads it. */
export const document: Document = JSON.parse(JSON.stringify(Documents.make(operations)))

/** The schema itself, or the component that it points at. */
export const resolve = (schema: JsonSchema): JsonSchema => {
  if (schema.$ref === undefined) return schema
  const found = document.components.schemas[schema.$ref.replace("#/components/schemas/", "")]
  if (found === undefined) throw new Error(`The document lacks ${schema.$ref}`)
  return found
}

const judged = new Set([
  "$ref",
  "additionalProperties",
  "anyOf",
  "description",
  "enum",
  "format",
  "items",
  "maximum",
  "minimum",
  "pattern",
  "properties",
  "required",
  "type"
])

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  uuid: (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text),
  "date-time": (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && !Number.isNaN(Date.parse(text))
}

const typeOf = (value: unknown) => value === null ? "null" : Array.isArray(value) ? "array" : typeof value

const isType = (type: string, value: unknown) =>
  type === "integer" ? Number.isSafeInteger(value) : typeOf(value) === type

const known = new WeakSet<JsonSchema>()

/** Refuses a schema with a keyword that nobody judges. */
const check = (schema: JsonSchema): void => {
  if (known.has(schema)) return
  const unknown = Object.keys(schema).filter((keyword) => !judged.has(keyword))
  if (unknown.length > 0) throw new Error(`Nobody judges ${unknown.join(", ")}`)
  known.add(schema)
}

const compiled = new Map<string, RegExp>()

const compile = (pattern: string): RegExp => {
  const found = compiled.get(pattern) ?? new RegExp(pattern, "u")
  compiled.set(pattern, found)
  return found
}

/** What is wrong with the value by the schema, each with the place in the value. */
export const violations = (schema: JsonSchema, value: unknown, at = ""): ReadonlyArray<string> => {
  check(schema)
  if (schema.$ref !== undefined) return violations(resolve(schema), value, at)
  const found: Array<string> = []
  if (schema.anyOf !== undefined && !schema.anyOf.some((one) => violations(one, value, at).length === 0)) {
    found.push(`${at} fits none of its schemas: ${JSON.stringify(value)}`)
  }
  if (schema.type !== undefined && !isType(schema.type, value)) {
    return [...found, `${at} is ${typeOf(value)}, not ${schema.type}`]
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) found.push(`${at} is ${JSON.stringify(value)}`)
  if (typeof value === "string" && schema.format !== undefined) {
    const format = formats[schema.format]
    if (format === undefined) throw new Error(`Nobody judges the format ${schema.format}`)
    if (!format(value)) found.push(`${at} is no ${schema.format}: ${value}`)
  }
  if (typeof value === "string" && schema.pattern !== undefined && !compile(schema.pattern).test(value)) {
    found.push(`${at} does not match ${schema.pattern}: ${value}`)
  }
  if (typeof value === "number") {
    if (schema.minimum !== undefined && value < schema.minimum) found.push(`${at} is under ${schema.minimum}`)
    if (schema.maximum !== undefined && value > schema.maximum) found.push(`${at} is over ${schema.maximum}`)
  }
  if (Array.isArray(value) && schema.items !== undefined) {
    for (const [index, item] of value.entries()) found.push(...violations(schema.items, item, `${at}[${index}]`))
  } else if (typeof value === "object" && value !== null) {
    const { additionalProperties = true, properties = {}, required = [] } = schema
    for (const name of required) if (!Object.hasOwn(value, name)) found.push(`${at}.${name} is missing`)
    for (const [name, member] of Object.entries(value)) {
      const known = properties[name]
      if (known !== undefined) found.push(...violations(known, member, `${at}.${name}`))
      else if (additionalProperties === false) found.push(`${at}.${name} is not in the document`)
      else if (additionalProperties !== true) found.push(...violations(additionalProperties, member, `${at}.${name}`))
    }
  }
  return found
}

const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, "document")

/** What ajv says of the value, which knows the whole of JSON Schema. */
const disallowed = (pointer: string, value: unknown): ReadonlyArray<string> => {
  const id = `document#${pointer}`
  const validate = ajv.getSchema(id)
  if (validate === undefined) throw new Error(`The document has no schema at ${pointer}`)
  return validate(value) === true ? [] : [ajv.errorsText(validate.errors)]
}

const patterns = Object.entries(document.paths).toSorted(([one], [other]) =>
  // A path that is written out goes before one with a parameter in its place.
  one.split("{").length - other.split("{").length
).map(([template, methods]) => ({
  pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  pointer: `/paths/${encodeURIComponent(template.replaceAll("/", "~1"))}`,
  methods
}))

/** What is wrong with the answer to a request, by the document; nothing where no operation answers there. */
export const undocumented = (method: string, path: string, status: number, body: unknown): ReadonlyArray<string> => {
  const bare = path.split("?", 1)[0] ?? ""
  const found = patterns.find(({ pattern }) => pattern.test(bare))
  const operation = found?.methods[method.toLowerCase()]
  if (found === undefined || operation === undefined) return []
  const response = operation.responses[status]
  // A host that nobody serves answers 404 at every path.
  if (response === undefined) return status === 404 ? [] : [`${operation.operationId} does not document ${status}`]
  const shared = response.$ref?.replace("#/components/responses/", "")
  const schema = (shared === undefined ? response : document.components.responses[shared])
    ?.content?.["application/json"]?.schema
  if (schema === undefined) return []
  const place = shared === undefined
    ? `${found.pointer}/${method.toLowerCase()}/responses/${status}`
    : `/components/responses/${shared}`
  const pointer = `${place}/content/application~1json/schema`
  return [...violations(schema, body, operation.operationId), ...disallowed(pointer, body)]
}
