/** The answers that operations share, as components of the document: what each status carries, and its failures. */
import { Schema } from "effect"
import { errorBody, type FailureClass, failureTypes } from "../domain/Failure.ts"
import { keyPattern, keyText } from "../kernel/Idempotency.ts"
import * as Operation from "../kernel/Operation.ts"

const header = (description: string, type: "string" | "integer" = "string", required = true) => ({
  description,
  required,
  schema: { type }
})

const headers = {
  "Request-Id": header("Names the request; quote it to support."),
  "RateLimit-Limit": header("Requests that the credential may make in any 60 seconds.", "integer"),
  "RateLimit-Remaining": header("Requests that are left now.", "integer"),
  "RateLimit-Reset": header("Seconds until a request leaves the window.", "integer"),
  "Retry-After": header("Seconds to wait.", "integer"),
  "Idempotent-Replayed": header(
    "`true` where the answer was kept from an earlier request with the key.",
    "string",
    false
  ),
  "WWW-Authenticate": header("How to authenticate."),
  "WWW-Authenticate-Scope": header("Names the scope that is missing, where one is.", "string", false)
}

/** Those of contents. */
const contentHeaders = {
  "Content-Disposition": header("Has a name under which the content can be stored."),
  "Accept-Ranges": header("`bytes` where parts of the content can be asked for, `none` where not."),
  "Content-Range": header("The part that is answered, and the size of the whole."),
  ETag: header("Names exactly these bytes, for `If-Range`.", "string", false)
}

type Header = keyof typeof headers | keyof typeof contentHeaders

const rate: ReadonlyArray<Header> = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]

const more: Readonly<Record<string, ReadonlyArray<Header>>> = {
  200: rate,
  401: ["WWW-Authenticate"],
  403: ["WWW-Authenticate-Scope"],
  416: ["Content-Range"],
  429: ["Retry-After"],
  503: ["Retry-After"]
}

const pick = (...names: ReadonlyArray<Header>) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** The parameter of operations that are not idempotent. */
export const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header" as const,
  required: false,
  description:
    `Repeats the request without further effect: for 24 hours the same key and content get the first answer, without its secrets. It is ${keyText}.`,
  schema: { type: "string", pattern: keyPattern.source }
}

/** The parameter of operations that answer a content, or a part of it. */
export const range = {
  name: "Range",
  in: "header" as const,
  required: false,
  description:
    "The part of the content to answer, such as `bytes=0-1048575`; several parts, and what is malformed, are answered with the whole.",
  schema: { type: "string" }
}

/** The answers of an operation whose answer is a content. */
export const contents = ({ mediaType, ranges }: Operation.ContentTerms) => {
  const content = { [mediaType]: { schema: { type: "string", format: "binary" } } }
  const common = { ...headersOf("200"), ...pick("Content-Disposition", "Accept-Ranges", "ETag") }
  return {
    200: { description: "The content, under its own media type.", headers: common, content },
    ...(ranges
      ? {
        206: {
          description: "The part of the content that `Range` asks for.",
          headers: { ...common, ...pick("Content-Range") },
          content
        }
      }
      : {})
  }
}

/** The headers of an answer with the status, which may be a kept one. */
export const headersOf = (status: string, replayable = false) =>
  Object.fromEntries(
    ["Request-Id" as const, ...(replayable ? ["Idempotent-Replayed" as const] : []), ...(more[status] ?? [])].map((
      name
    ) => [
      name.replace("-Scope", ""),
      { $ref: `#/components/headers/${name}` }
    ])
  )

/** The members of an example besides the failure's own sentence, as a request would have them. */
const samples: Readonly<Record<string, object>> = {
  parameter_invalid: { param: "limit", message: "limit: expected a value between 1 and 100." },
  insufficient_scope: {
    scope: "accounts:write",
    message: "This operation needs the scope accounts:write."
  },
  rate_limited: { retry_after: 12, message: "Too many requests. Try again in 12 seconds." },
  too_many_attempts: { retry_after: 60, message: "Too many wrong passwords. Try again in 60 seconds." }
}

/** The body that the failure has. */
const exampleOf = (failure: FailureClass) => {
  const made = Schema.decodeUnknownSync(Schema.toType(failure))(failure.make(samples[failure.identifier] ?? {}))
  return errorBody(made, failure.status)
}

const schemaOf = ({ identifier }: FailureClass) => ({ $ref: `#/components/schemas/${identifier}` })

const byStatus = (failures: ReadonlyArray<FailureClass>): ReadonlyMap<string, ReadonlyArray<FailureClass>> =>
  Map.groupBy(
    failures.toSorted((one, other) => one.identifier < other.identifier ? -1 : 1),
    ({ status }) => String(status)
  )

/** The common name of the failures of one status. */
const nameOf = (failures: ReadonlyArray<FailureClass>): string => failures.map((one) => one.identifier).join(".")

/** The answers of an operation that fails with these, by status. */
export const references = (failures: ReadonlyArray<FailureClass>) =>
  Object.fromEntries(
    [...byStatus(failures)].toSorted(([one], [other]) => Number(one) - Number(other)).map(([status, some]) => [
      status,
      { $ref: `#/components/responses/${nameOf(some)}` }
    ])
  )

const responseOf = (status: string, failures: ReadonlyArray<FailureClass>) => {
  const [only, ...others] = failures.map(schemaOf)
  return {
    description: failures.map((failure) => `\`${failure.identifier}\``).join(", "),
    headers: headersOf(status),
    content: {
      "application/json": {
        schema: others.length === 0 ? only : { anyOf: [only, ...others] },
        examples: Object.fromEntries(
          failures.map((failure) => [failure.identifier, { value: exampleOf(failure) }])
        )
      }
    }
  }
}

/** The schema of the failure's body. */
const bodyOf = ({ identifier, status }: FailureClass) => ({
  type: "object",
  properties: {
    error: {
      type: "object",
      description: "What went wrong.",
      properties: {
        type: { type: "string", enum: [failureTypes[status]], description: "The kind of error." },
        code: { type: "string", enum: [identifier], description: "The reason, for programs." },
        message: { type: "string", description: "The reason, for people." },
        param: { type: "string", description: "The input at fault, where there is one." }
      },
      required: ["type", "code", "message"],
      additionalProperties: false
    }
  },
  required: ["error"],
  additionalProperties: false
})

/** The schemas of all failures of the operations. */
export const schemas = (operations: ReadonlyArray<Operation.Any>) =>
  Object.fromEntries(
    operations.flatMap(({ failures }) => failures.map((failure) => [failure.identifier, bodyOf(failure)] as const))
  )

/** The components that the answers of the operations refer to. */
export const components = (operations: ReadonlyArray<Operation.Any>) => ({
  headers: operations.some(Operation.answersContent) ? { ...headers, ...contentHeaders } : headers,
  responses: Object.fromEntries(
    operations.flatMap(({ failures }) =>
      [...byStatus(failures)].map(([status, some]) => [nameOf(some), responseOf(status, some)] as const)
    ).toSorted(([one], [other]) => one < other ? -1 : 1)
  )
})
