/**
 * The calls of a tool that most requests are, read without the SDK, which makes a server, its schemas and two web
 * objects for each: whatever is not such a call in every detail is left to it, and every fault with that.
 */
import { Predicate } from "effect"
import type { ErrorAnswer } from "../transport/Answer.ts"
import * as Messages from "./Messages.ts"

/** A call that needs no work of the SDK. */
export interface Call {
  readonly id: string | number
  readonly name: string
  readonly input: object
  readonly meta: unknown
}

/** The earlier revisions whose calls are answered alike, as their clients name them; the first ones name none. */
const revisions: ReadonlySet<string | undefined> = new Set([undefined, "2025-03-26", "2025-06-18", "2025-11-25"])

const members: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"])
const parameters: ReadonlySet<string> = new Set(["name", "arguments", "_meta"])

const within = (value: object, names: ReadonlySet<string>): boolean =>
  Object.keys(value).every((name) => names.has(name))

/** True if it is what an answer can be for. */
export const isId = (value: unknown): value is string | number =>
  typeof value === "string" || Number.isSafeInteger(value)

/** The members of a call's `_meta` that are for the service. */
const carried: ReadonlySet<string> = new Set(["archive_password", "idempotency_key"])

/** True if the request's metadata needs nothing from the SDK. */
const isPlainMeta = (meta: unknown): boolean =>
  meta === undefined ||
  Predicate.isObject(meta) &&
    Object.entries(meta).every(([name, value]) => carried.has(name) || name === "progressToken" && isId(value))

const jsonType = /^application\/json(?:;\s*charset=utf-8)?$/i

/** The request's single tool call; undefined for any other request. */
export const read = (headers: Readonly<Record<string, string | undefined>>, body: unknown): Call | undefined => {
  if (
    !jsonType.test(headers["content-type"] ?? "") || !Messages.acceptsJson(headers) ||
    !revisions.has(headers["mcp-protocol-version"]) || headers["mcp-method"] !== undefined ||
    headers["mcp-name"] !== undefined
  ) {
    return undefined
  }
  if (!Predicate.isObject(body) || !within(body, members)) return undefined
  const { id, jsonrpc, method, params }: Readonly<Record<string, unknown>> = body
  if (jsonrpc !== "2.0" || method !== "tools/call" || !isId(id)) return undefined
  if (!Predicate.isObject(params) || !within(params, parameters)) return undefined
  const { _meta: meta, arguments: input = {}, name }: Readonly<Record<string, unknown>> = params
  return typeof name === "string" && Predicate.isObject(input) && isPlainMeta(meta)
    ? { id, name, input, meta }
    : undefined
}

/** Bytes within an answer, in base64. */
export interface EmbeddedResource {
  readonly uri: string
  readonly mimeType: string
  readonly blob: string
}

/** A tool's answer: a text, and the JSON of the answer; without it the text is a failure. */
export interface ToolAnswer {
  readonly text: string
  readonly structured: string | undefined
  /** The bytes that the answer describes. */
  readonly resource?: EmbeddedResource | undefined
  /** The member that a failure is about. */
  readonly about?: string | undefined
}

/** A failure as a result. */
export const failed = ({ body }: ErrorAnswer): ToolAnswer => ({
  text: JSON.stringify(body),
  structured: undefined,
  about: body.error.param
})

/** The message that answers the call, as the SDK writes it. */
export const message = (id: string | number, { resource, structured, text }: ToolAnswer): string =>
  `{"result":{"content":[{"type":"text","text":${JSON.stringify(text)}}${
    resource === undefined ? "" : `,{"type":"resource","resource":${JSON.stringify(resource)}}`
  }],${structured === undefined ? "\"isError\":true" : `"structuredContent":${structured}`}},"jsonrpc":"2.0","id":${
    JSON.stringify(id)
  }}`
