/** Requests to the MCP server through the whole HTTP edge, without a socket. */
import { Effect, Predicate, Redacted } from "effect"
import * as App from "../../src/http/App.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import * as Handler from "../../src/mcp/Handler.ts"
import * as Tools from "../../src/mcp/Tools.ts"
import { ServedOperations } from "../../src/operations/index.ts"
import { served } from "../added/index.ts"
import { passwordHeader } from "../support/archive/archivePassword.ts"
import * as World from "../support/world.ts"

/** The tools of the operations that the tests serve. */
export const tools = Effect.runSync(Effect.provideService(Tools.served, ServedOperations, served))

const revision = "2026-07-28"

/** An answer, with the JSON-RPC messages in it. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: any
  readonly messages: ReadonlyArray<any>
}

export interface Asking {
  readonly key?: Redacted.Redacted | string
  readonly method?: string
  readonly path?: string
  readonly host?: string
  readonly headers?: Record<string, string>
  readonly body?: unknown
  /** The raw body, instead of `body`. */
  readonly raw?: string
  readonly options?: Handler.Options
  /** Gives the request up. */
  readonly signal?: AbortSignal
}

/** The service with the MCP server mounted, as a web handler. */
export const webHandler = Effect.fnUntraced(function*(options: Handler.Options = {}) {
  const handler = yield* Handler.make(options)
  return yield* Effect.provideService(World.webHandler, App.Mounts, [{ path: Handler.path, handler }])
})

const handlerHere = World.oncePerContext(webHandler())

/** Where what a person gives is taken as an argument. */
export const personal: Handler.Options = { personalArguments: true }

const personalHere = World.oncePerContext(webHandler(personal))

const handlerWith = (options: Handler.Options | undefined) =>
  options === undefined ? handlerHere : options === personal ? personalHere : webHandler(options)

const secret = (key: Redacted.Redacted | string) => typeof key === "string" ? key : Redacted.value(key)

/** The messages of a body, whether it is one or a stream of events. */
const messagesIn = (text: string): ReadonlyArray<any> =>
  text.startsWith("event:")
    ? text.split("\n").filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6)))
    : text === ""
    ? []
    : [JSON.parse(text)].flat()

/** Sends a request to `/mcp`. */
export const send = Effect.fnUntraced(function*(asking: Asking) {
  const web = (yield* World.Prepared) ??
    (yield* handlerWith(asking.options))
  const host = asking.host ?? new URL(World.baseUrl).host
  const content = asking.raw ?? (asking.body === undefined ? undefined : JSON.stringify(asking.body))
  const method = asking.method ?? "POST"
  // The constructor refuses TRACE, which a client may send all the same.
  const smuggled = method === "TRACE"
  const request = new Request(`http://${host}${asking.path ?? "/mcp"}`, {
    method: smuggled ? "GET" : method,
    headers: {
      host,
      accept: "application/json, text/event-stream",
      ...(content === undefined ? {} : { "content-type": "application/json" }),
      ...(asking.key === undefined ? {} : { authorization: `Bearer ${secret(asking.key)}` }),
      ...asking.headers
    },
    ...(content === undefined ? {} : { body: content }),
    ...(asking.signal === undefined ? {} : { signal: asking.signal })
  })
  if (smuggled) Object.defineProperty(request, "method", { value: method })
  const response = yield* Effect.promise(() => web(request))
  const text = yield* Effect.promise(() => response.text())
  const messages = messagesIn(text)
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: messages[0],
    messages
  } satisfies Answer
})

/** A message of the newest revision. */
export const message = (method: string, params: Record<string, unknown> = {}, id: number | string = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  params: {
    ...params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": revision,
      "io.modelcontextprotocol/clientCapabilities": {},
      ...(Predicate.isObject(params["_meta"]) ? params["_meta"] : {})
    }
  }
})

/** Asks one thing in the newest revision. */
export const ask = (method: string, params: Record<string, unknown>, asking: Asking) =>
  send({
    ...asking,
    body: message(method, params),
    headers: {
      "mcp-protocol-version": revision,
      "mcp-method": method,
      ...(typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {}),
      ...asking.headers
    }
  })

/** A message of the revisions before. */
export const legacy = (method: string, params: Record<string, unknown> = {}, id: number | string = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})

/** Calls a tool. */
export const call = (name: string, args: unknown, asking: Asking) =>
  ask("tools/call", { name, arguments: args }, { ...asking, headers: { ...passwordHeader(), ...asking.headers } })

/** The names of the tools that are listed. */
export const list = (asking: Asking) =>
  Effect.map(
    ask("tools/list", {}, asking),
    ({ body }): ReadonlyArray<string> => body.result.tools.map(({ name }: { readonly name: string }) => name)
  )

/** True if the text is the answer, or, for a list, has its notice and each of its items; edits have no id but a time. */
const saysTheSame = (text: string, answer: any): boolean =>
  text === JSON.stringify(answer) ||
  ((answer.content_notice === undefined || text.startsWith(`${answer.content_notice}\n`)) &&
    [...answer.data ?? [], ...answer.connections ?? [], ...answer.api_keys ?? []]
      .every((item: { readonly id?: string; readonly seen_at?: string }) =>
        text.includes(item.id ?? item.seen_at ?? JSON.stringify(item))
      ))

/** What a client sends that can ask its person. */
export const eliciting = { _meta: { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } } }

/** What a call tells: the body that REST would have, and how it came. */
export const resultOf = ({ body, status }: Answer) => {
  if (body.jsonrpc === undefined || body.error !== undefined) return { status, body, how: "refused" }
  const { content, isError, structuredContent } = body.result
  const text = isError === true ? JSON.parse(content[0].text) : undefined
  return isError === true
    ? { status, body: text, how: structuredContent === undefined ? "failed" : "failed with structured content" }
    : { status, body: structuredContent, how: saysTheSame(content[0].text, structuredContent) ? "done" : "unequal" }
}

/** True if the operation changes nothing: a search has its words in a body, so that no address holds them. */
export const changesNothing = ({ id, method }: Operation.Any): boolean =>
  method === "GET" ||
  /^(?:preview_archive_rule|search_messages|list_sealed_(?:blocks|files|pages)|verify_archive)$/.test(id)
