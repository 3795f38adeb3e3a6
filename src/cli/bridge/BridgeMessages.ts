/** Messages of a client to the bridge: some are answered on this machine, all others by the service. */
import { Effect, Option, Predicate, Schema } from "effect"
import { BridgeRequired } from "../../domain/Failure.ts"
import { answersSealed } from "../../kernel/Operation.ts"
import * as DirectCalls from "../../mcp/DirectCalls.ts"
import * as PersonalInput from "../../mcp/PersonalInput.ts"
import type * as Stdio from "../../mcp/Stdio.ts"
import { operations } from "../../operations/index.ts"
import { tools } from "./BridgedTools.ts"
import { member } from "./BridgeService.ts"

/** Calls a tool of this machine; undefined where it is none. */
export type CallHere = (name: string, input: unknown) => Effect.Effect<DirectCalls.ToolAnswer> | undefined

const fromJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/**
 * Tools that are for the bridge and say nothing to a model, and those for which the service would need the archive
 * password: it refuses them to a connection whose user opens the archive.
 */
const hidden = new Set<unknown>(
  operations.filter((operation) =>
    answersSealed(operation) || operation.failures.includes(BridgeRequired) && !tools.has(operation.id)
  ).map(({ id }) => id)
)

const json = (value: unknown): Stdio.McpAnswer => ({
  status: 200,
  contentType: "application/json",
  text: JSON.stringify(value)
})

/** The answer of a tool in the revision of its call. */
const resultOf = (message: unknown, id: string | number, called: DirectCalls.ToolAnswer): Stdio.McpAnswer => {
  const text = DirectCalls.message(id, called)
  const isNewer = member(member(member(message, "params"), "_meta"), PersonalInput.revision) !== undefined
  if (!isNewer) return { status: 200, contentType: "application/json", text }
  const parsed = Option.getOrUndefined(fromJson(text))
  const result = member(parsed, "result")
  return json(
    Predicate.isObject(parsed) && Predicate.isObject(result)
      ? { ...parsed, result: { ...result, resultType: "complete" } }
      : parsed
  )
}

/** The list of tools without those that the bridge alone uses. */
const listed = (answer: Stdio.McpAnswer): Stdio.McpAnswer => {
  const parsed = Option.getOrUndefined(fromJson(answer.text))
  const result = member(parsed, "result")
  const tools = member(result, "tools")
  return Predicate.isObject(parsed) && Predicate.isObject(result) && Array.isArray(tools)
    ? json({ ...parsed, result: { ...result, tools: tools.filter((tool) => !hidden.has(member(tool, "name"))) } })
    : answer
}

/** The message without the archive password that a client may send along: it stays on this machine. */
const withoutPassword = (message: unknown): unknown => {
  const params = member(message, "params")
  const meta = member(params, "_meta")
  if (!Predicate.isObject(message) || !Predicate.isObject(params) || !Predicate.isObject(meta)) return message
  const kept = Object.entries(meta).filter(([name]) => name !== "archive_password")
  return { ...message, params: { ...params, _meta: Object.fromEntries(kept) } }
}

/** Answers messages here where a tool of this machine is called, and asks the service for the others. */
export const bridged = (ask: Stdio.Ask, callHere: CallHere): Stdio.Ask => {
  const one: (
    headers: Readonly<Record<string, string>>,
    message: unknown
  ) => ReturnType<Stdio.Ask> = Effect.fnUntraced(function*(headers, message) {
    const id = member(message, "id")
    const params = member(message, "params")
    const name = member(params, "name")
    const called = member(message, "method") === "tools/call" && typeof name === "string" && DirectCalls.isId(id)
      ? callHere(name, member(params, "arguments") ?? {})
      : undefined
    if (called !== undefined && DirectCalls.isId(id)) return resultOf(message, id, yield* called)
    const answer = yield* ask(headers, JSON.stringify(withoutPassword(message)))
    return member(message, "method") === "tools/list" ? listed(answer) : answer
  })
  return Effect.fnUntraced(function*(headers, body) {
    const message = Option.getOrUndefined(fromJson(body))
    if (!Array.isArray(message)) return yield* one(headers, message)
    const answers = yield* Effect.forEach(message, (each) => one(headers, each), { concurrency: 4 })
    const values = answers.flatMap(({ text }) => text === "" ? [] : [Option.getOrUndefined(fromJson(text))])
    return json(values.flat())
  })
}
