/**
 * The MCP server over standard input and output: each line is a message, and is asked as the body of a request to
 * `/mcp`, of a service elsewhere or of a handler in this process. Credential, budget and tools are thus the same both
 * ways.
 */
import { type Cause, Effect, FiberMap, Option, Predicate, Queue, Result, Schema, Stdio, Stream } from "effect"
import { ServiceUnavailable } from "../domain/Failure.ts"
import { answer } from "../transport/Answer.ts"
import * as Messages from "./Messages.ts"
import * as PersonalInput from "./PersonalInput.ts"
import { StdioQuestions } from "./StdioQuestions.ts"

/** An answer of `/mcp`. */
export interface McpAnswer {
  readonly status: number
  readonly contentType: string
  readonly text: string
}

/** Nobody answers at the address. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", { message: Schema.String }) {}

/** Asks `/mcp` with the credential; interrupting it gives the call up there too. */
export type Ask = (headers: Readonly<Record<string, string>>, body: string) => Effect.Effect<McpAnswer, Unreachable>

const member = (value: unknown, name: string): unknown => Predicate.hasProperty(value, name) ? value[name] : undefined

const paramsOf = (message: unknown) => member(message, "params")

/** The revision that a message of the newer ones names itself. */
const claimed = (message: unknown): string | undefined => {
  const version = member(member(paramsOf(message), "_meta"), PersonalInput.revision)
  return typeof version === "string" ? version : undefined
}

/** Text as a header may carry it, by the protocol's own convention. */
const headerText = (text: string): string =>
  /^[\x21-\x7e]+$/.test(text) && !text.startsWith("=?")
    ? text
    : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`

/** The headers of every request. */
export const plainHeaders = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json"
}

const headersOf = (message: unknown, negotiated: string | undefined): Readonly<Record<string, string>> => {
  const version = claimed(message)
  const method = member(message, "method")
  const name = member(paramsOf(message), "name")
  return {
    ...plainHeaders,
    ...(version !== undefined
      ? {
        "mcp-protocol-version": version,
        ...(typeof method === "string" ? { "mcp-method": headerText(method) } : {}),
        ...(typeof name === "string" ? { "mcp-name": headerText(name) } : {})
      }
      : negotiated === undefined
      ? {}
      : { "mcp-protocol-version": negotiated })
  }
}

const unavailable = answer(new ServiceUnavailable({})).body

const fromJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** The messages of an answer, whether it came as one body or as a stream of events. */
const messagesIn = ({ contentType, text }: McpAnswer): ReadonlyArray<unknown> => {
  const texts = contentType.startsWith("text/event-stream")
    ? text.split(/\r?\n\r?\n/).map((event) =>
      event.split(/\r?\n/).flatMap((line) => /^data: ?(.*)$/s.exec(line)?.[1] ?? []).join("\n")
    )
    : [text]
  return texts.filter((text) => text !== "").flatMap((text): ReadonlyArray<unknown> => {
    const value = Option.getOrElse(fromJson(text), () => unavailable)
    return Array.isArray(value) ? value : [value]
  })
}

/** The service's own refusal as the answer to a message: a tool's result where it calls one. */
const refused = (message: unknown, failure: unknown) => {
  const answered = { jsonrpc: "2.0", id: member(message, "id") }
  if (member(message, "method") !== "tools/call") {
    const text = member(member(failure, "error"), "message")
    return { ...answered, error: { code: -32_000, message: String(text), data: failure } }
  }
  return {
    ...answered,
    result: {
      ...(claimed(message) === undefined ? {} : { resultType: "complete" }),
      content: [{ type: "text", text: JSON.stringify(failure) }],
      isError: true
    }
  }
}

/** Serves until the input ends and every request is answered. */
export const serve = Effect.fnUntraced(function*(ask: Ask) {
  const stdio = yield* Stdio.Stdio
  const output = yield* Queue.unbounded<string, Cause.Done>()
  const running = yield* FiberMap.make<unknown, void, never>()
  const questions = new StdioQuestions()
  let negotiated: string | undefined

  const write = (message: unknown) => Queue.offer(output, `${JSON.stringify(message)}\n`)

  const answersTo = Effect.fnUntraced(function*(message: unknown, line: string) {
    const answered = yield* Effect.result(ask(headersOf(message, negotiated), line))
    return Result.isSuccess(answered)
      ? messagesIn(answered.success)
      : [answer(new ServiceUnavailable({ message: answered.failure.message })).body]
  })

  const forward = Effect.fnUntraced(function*(message: unknown, line: string) {
    const asked = Array.isArray(message) ? message.filter((one) => Predicate.hasProperty(one, "id")) : [message]
    const messages = yield* questions.isFor(message)
      ? questions.converse(message, (one) => answersTo(one, JSON.stringify(one)), write)
      : answersTo(message, line)
    for (const one of messages) {
      if (!Predicate.hasProperty(one, "jsonrpc")) {
        yield* Effect.forEach(asked, (question) => write(refused(question, one)), { discard: true })
        continue
      }
      const version = member(member(one, "result"), "protocolVersion")
      if (member(message, "method") === "initialize" && typeof version === "string") negotiated = version
      yield* write(member(one, "id") === null ? { ...one, id: member(message, "id") ?? null } : one)
    }
  })

  const receive = Effect.fnUntraced(function*(line: string) {
    const parsed = yield* Effect.result(Messages.parseText(line))
    if (Result.isFailure(parsed)) {
      return yield* write(Messages.refusal(Messages.parseError, parsed.failure.message))
    }
    const message = parsed.success
    if (!Messages.isMessage(message)) {
      return yield* write(Messages.refusal(Messages.invalidRequest, "Invalid Request: this is no JSON-RPC message."))
    }
    if (member(message, "method") === "notifications/cancelled") {
      return yield* FiberMap.remove(running, member(paramsOf(message), "requestId"))
    }
    if (questions.take(message)) return
    questions.opened(message)
    const awaited = Messages.askingIn(message)
    if (awaited.length === 0) return
    const id = Array.isArray(message) ? Symbol() : awaited[0]?.id
    yield* FiberMap.run(running, FiberMap.hasUnsafe(running, id) ? Symbol() : id, forward(message, line))
  })

  const writing = Stream.run(Stream.fromQueue(output), stdio.stdout())
  const reading = stdio.stdin.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filter((line) => line.trim() !== ""),
    Stream.runForEach(receive),
    Effect.andThen(FiberMap.awaitEmpty(running)),
    Effect.andThen(Queue.end(output))
  )
  yield* Effect.all([writing, reading], { concurrency: "unbounded", discard: true })
}, Effect.scoped)
