/** What a request was answered, over whichever transport, in a form that can be compared. */
import { Effect } from "effect"
import * as Mcp from "../../mcp/support.ts"
import * as Random from "../random.ts"
import { type Credential, opaque, type Via } from "./stage.ts"

/** Whether it was done, its body, and what its headers say. */
export interface Answered {
  readonly done: boolean
  readonly status: number
  readonly body: unknown
  readonly headers: ReadonlyArray<string | null>
}

const headersOf = ({ headers }: { readonly headers: Headers }) =>
  ["ratelimit-remaining", "ratelimit-reset", "retry-after", "www-authenticate", "cache-control"]
    .map((name) => headers.get(name))

/** Sends a request of an operation. */
export const answerOf = Effect.fnUntraced(function*(
  request: Random.Request,
  via: Via,
  { secret }: Credential,
  readOnly = false
) {
  if (via === "rest") {
    const answer = yield* Random.send(request, secret)
    return {
      done: answer.status < 300,
      status: answer.status,
      body: answer.body,
      headers: headersOf(answer)
    } satisfies Answered
  }
  const answer = yield* Mcp.call(request.operation.id, request.input, {
    key: secret,
    headers: readOnly ? { "x-mcp-readonly": "true" } : {}
  })
  const { body, how } = Mcp.resultOf(answer)
  return { done: how === "done", status: answer.status, body, headers: headersOf(answer) } satisfies Answered
})

/** Writes what was not known at the beginning by the order in which it first stands there. */
export const makeNaming = (known: ReadonlySet<string>) => {
  const names = new Map<string, string>()
  return (text: string): string =>
    text.replaceAll(opaque, (found) => {
      if (known.has(found)) return found
      const name = names.get(found) ?? `#${names.size + 1}`
      names.set(found, name)
      return name
    })
}

const unnamed = new Set([
  "content_notice",
  "has_more",
  "last_sequence",
  "head_hash",
  "hash",
  "prev_hash",
  "accounts",
  "searched"
])

/** Differs by what was asked with, and not by what is shown. */
const ofCredential = new Set(["credential", "via", "request_id", "last_used_at", "last_active_at"])

/**
 * Everything that an answer shows, piece by piece: of which object, under which name, and what.
 *
 * Of the objects in `own`, which differ on purpose, only that they are there; what is new has no name that could be
 * compared.
 */
export const pieces = (body: unknown, known: ReadonlySet<string>, own: ReadonlySet<string>): ReadonlySet<string> => {
  const found = new Set<string>()
  const nameless = (text: string) => text.replaceAll(opaque, (id) => known.has(id) ? id : "#")
  const walk = (value: unknown, path: string): void => {
    if (value === null || value === undefined) return
    if (Array.isArray(value)) {
      for (const item of value) walk(item, path)
    } else if (typeof value === "object") {
      const id = "id" in value && typeof value.id === "string" ? value.id : undefined
      const under = id === undefined ? path : `${path}(${nameless(id)})`
      found.add(under)
      if (id !== undefined && own.has(id)) return
      for (const [name, member] of Object.entries(value)) {
        if (!unnamed.has(name) && !ofCredential.has(name)) walk(member, `${under}.${name}`)
      }
    } else {
      found.add(`${path}=${nameless(String(value))}`)
    }
  }
  walk(body, "")
  return found
}
