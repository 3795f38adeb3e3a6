/** How the peer reads what it is sent: strictly, and with refusals that name the parameter at fault. */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv"
import type { FastifyInstance } from "fastify"
import * as Json from "../../../src/transport/StrictJson.ts"
import { parameterInvalid, type Refused } from "./failures.ts"

const uuid = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/

const makeAjv = (coerceTypes: boolean) =>
  new Ajv({ coerceTypes, useDefaults: true, allowUnionTypes: true, formats: { uuid } })

const strict = makeAjv(false)
const coercing = makeAjv(true)

/** The refusal for the first thing that the schema does not allow. */
export const refuse = ({ instancePath, keyword, params }: ErrorObject | undefined = emptyError): Refused => {
  if (keyword === "additionalProperties") return parameterInvalid(params["additionalProperty"], "is not known here")
  if (keyword === "required") return parameterInvalid(params["missingProperty"], "is required")
  const param = instancePath.split("/")[1] ?? "body"
  return parameterInvalid(param, keyword === "type" ? "has the wrong type" : "has a value that is not allowed")
}

const emptyError: ErrorObject = { instancePath: "", keyword: "type", params: {}, schemaPath: "" }

/** A check of a tool's arguments. */
export const compile = (schema: object): ValidateFunction => strict.compile(schema)

const readJson = (bytes: Buffer): unknown => {
  if (bytes.length === 0) return {}
  let read: Json.ReadJson
  try {
    read = Json.read(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  } catch {
    throw parameterInvalid("body", "is not JSON")
  }
  if (read.duplicate !== undefined) throw parameterInvalid(read.duplicate, "duplicate member")
  return read.value
}

/** Sets up how bodies are parsed, and how every part of a request is checked. */
export const readStrictly = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (_: unknown, body: Buffer) => readJson(body)
  )
  app.setValidatorCompiler(({ httpPart, schema }) => {
    const ajv = httpPart === "body" ? strict : coercing
    return ajv.compile(schema as object)
  })
}
