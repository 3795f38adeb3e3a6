/** The schemas of the interface's own document, as Fastify takes them. */
import * as fs from "node:fs"

type Json = Readonly<Record<string, unknown>>

const document = JSON.parse(fs.readFileSync(new URL("../../../openapi.json", import.meta.url), "utf8"))

const isNull = (value: unknown) =>
  typeof value === "object" && value !== null && "type" in value && value.type === "null"

/**
 * A schema of the document as one that is added by its name: references are by that name, what may be null says so in
 * the way that is serialised without trying both, and an object of any members keeps them.
 */
const adopt = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(adopt)
  if (typeof value !== "object" || value === null) return value
  const { anyOf, ...schema } = value as Json
  if (Array.isArray(anyOf) && anyOf.length === 2 && isNull(anyOf[1])) {
    return { ...schema, ...(adopt(anyOf[0]) as Json), nullable: true }
  }
  if (schema["type"] === "object" && schema["properties"] === undefined) {
    return { ...schema, additionalProperties: true }
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === "$ref" ? String(member).replace("#/components/schemas/", "").concat("#") : adopt(member)
    ])
  )
}

/** Every component, by its name. */
export const components: ReadonlyArray<Json> = Object.entries(document.components.schemas).map(
  ([$id, schema]) => ({ ...(adopt(schema) as Json), $id })
)

export const answers = {
  organization: { $ref: "organization#" },
  list: { $ref: "account_list#" },
  account: { $ref: "account_detail#" },
  changed: { $ref: "changed_account#" },
  failure: {
    type: "object",
    properties: {
      error: {
        type: "object",
        properties: {
          type: { type: "string" },
          code: { type: "string" },
          message: { type: "string" },
          param: { type: "string" }
        }
      }
    }
  }
}

const limit = { type: "integer", minimum: 1, maximum: 100, default: 50 }
const uuid = { type: "string", format: "uuid" }
const roleLabel = { type: ["string", "null"], maxLength: 60 }
const status = document.components.schemas.account_status

const object = (properties: Json, required: ReadonlyArray<string> = []) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false
})

export const inputs = {
  nothing: object({}),
  page: object({ limit, status, department_id: uuid, starting_after: uuid }),
  account: object({ account_id: uuid }, ["account_id"]),
  label: object({ role_label: roleLabel }, ["role_label"]),
  labelOfAccount: object({ account_id: uuid, role_label: roleLabel }, ["account_id", "role_label"])
}
