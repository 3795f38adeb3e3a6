/** The JSON-RPC messages of a request's body, as far as they must be known before anybody answers them. */
import { Effect, Predicate, Schema } from "effect"
import { accepts } from "../transport/AcceptHeader.ts"
import * as Json from "../transport/StrictJson.ts"

/** A body that is no JSON. */
export class Malformed extends Schema.TaggedError<Malformed>()("Malformed", { message: Schema.String }) {}

/** The text as JSON, strictly read: a duplicate member would be ambiguous. */
export const parseText = (text: string): Effect.Effect<unknown, Malformed> =>
  Effect.try({
    try: () => Json.read(text),
    catch: () => new Malformed({ message: "Parse error: this is not JSON." })
  }).pipe(
    Effect.flatMap(({ duplicate, value }) =>
      duplicate === undefined
        ? Effect.succeed(value)
        : Effect.fail(new Malformed({ message: `Parse error: duplicate member ${duplicate}.` }))
    )
  )

/** The body as JSON. */
export const parse = (bytes: ArrayBuffer): Effect.Effect<unknown, Malformed> =>
  Effect.flatMap(
    Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      catch: () => new Malformed({ message: "Parse error: this is not UTF-8." })
    }),
    parseText
  )

/** A message that waits for an answer. */
export interface PendingMessage {
  readonly id: unknown
  /** The name of the tool where the message calls one. */
  readonly tool: unknown
  /** The arguments of the call, as they were written. */
  readonly input: unknown
  /** `_meta`: members of the message besides its arguments. */
  readonly meta: unknown
}

const asking = (message: unknown): ReadonlyArray<PendingMessage> => {
  if (!Predicate.isObject(message) || !Predicate.hasProperty(message, "id")) return []
  const calls = Predicate.hasProperty(message, "method") && message.method === "tools/call"
  const params = Predicate.hasProperty(message, "params") ? message.params : undefined
  return [{
    id: message.id,
    tool: calls && Predicate.hasProperty(params, "name") ? params.name : undefined,
    input: calls && Predicate.hasProperty(params, "arguments") ? params.arguments : undefined,
    meta: calls && Predicate.hasProperty(params, "_meta") ? params._meta : undefined
  }]
}

/** The messages with an id, of a batch or of one. */
export const askingIn = (body: unknown): ReadonlyArray<PendingMessage> =>
  Array.isArray(body) ? body.flatMap(asking) : asking(body)

/** True if the body asks for one list of what there is, and nothing else. */
export const listsAlone = (body: unknown): boolean =>
  Predicate.hasProperty(body, "method") && (body.method === "tools/list" || body.method === "prompts/list")

const isOne = (message: unknown): boolean => {
  if (!Predicate.hasProperty(message, "jsonrpc") || message.jsonrpc !== "2.0") return false
  const id = Predicate.hasProperty(message, "id") ? message.id : undefined
  if (id !== undefined && !Predicate.isString(id) && !Number.isSafeInteger(id)) return false
  if (Predicate.hasProperty(message, "method")) {
    const params = Predicate.hasProperty(message, "params") ? message.params : {}
    return Predicate.isString(message.method) && Predicate.isObject(params)
  }
  return id !== undefined && (Predicate.hasProperty(message, "result") || Predicate.hasProperty(message, "error"))
}

/** True if this is a message of JSON-RPC, or a batch of them. */
export const isMessage = (body: unknown): boolean =>
  Array.isArray(body) ? body.length > 0 && body.every(isOne) : isOne(body)

/** An answer that belongs to no message. */
export const refusal = (code: number, message: string) => ({
  jsonrpc: "2.0" as const,
  error: { code, message },
  id: null
})

/** JSON-RPC's code for a body that cannot be read. */
export const parseError = -32_700
/** JSON-RPC's code for JSON that is no message. */
export const invalidRequest = -32_600

/** True if the client takes an answer as JSON; one that does not say takes anything. */
export const acceptsJson = ({ accept }: Readonly<Record<string, string | undefined>>): boolean =>
  accept === undefined || accept === "" || accepts(accept, ["application/json", "application/*", "*/*"])
