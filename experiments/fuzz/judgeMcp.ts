/** What the MCP server may answer: JSON-RPC, the envelope, or nothing to a notification. */
import * as Tools from "../../src/mcp/Tools.ts"
import { operations } from "../../src/operations/index.ts"
import type { Case, Request } from "./case.ts"
import type { Answer } from "./client.ts"
import { codeOf, envelope, named, type Verdict } from "./envelope.ts"
import { wrong } from "./schema.ts"

const outputs = new Map(Tools.all().map(([, tool]) => [tool.name, tool.outputSchema ?? {}]))

/** What is wrong with one message by JSON-RPC 2.0. */
const message = (body: any): ReadonlyArray<string> => {
  if (typeof body !== "object" || body === null || body.jsonrpc !== "2.0") return ["no JSON-RPC message"]
  const { error, id, result, ...others } = body
  return [
    ...((error === undefined) === (result === undefined) ? ["neither a result nor an error, or both"] : []),
    ...(id === null || typeof id === "string" || typeof id === "number" ? [] : ["no id"]),
    ...(Object.keys(others).join() === "jsonrpc" ? [] : ["unknown members in a message"]),
    ...(error === undefined || (Number.isSafeInteger(error.code) && typeof error.message === "string")
      ? []
      : ["an error without code or message"])
  ]
}

/** The name of the tool that a lone message calls. */
const toolOf = ({ body }: Request): string | undefined => {
  try {
    return JSON.parse(Buffer.from(body ?? []).toString()).params.name
  } catch {
    return undefined
  }
}

const content = (result: any): unknown => {
  try {
    return JSON.parse(result.content[0].text)
  } catch {
    return undefined
  }
}

/** The status that a code would have over HTTP, as the type says it. */
const statusOf: Readonly<Record<string, number>> = {
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  rate_limit_error: 429
}

/** The argument that a person types: left out, it is asked for where the client can ask. */
const personalOf = (name: string | undefined) => operations.find(({ id }) => id === name)?.personal

/** What is wrong with what a tool answered. */
const called = (found: Case, request: Request, result: any): ReadonlyArray<string> => {
  const shown: any = content(result)
  if (result.isError === true) {
    if (shown?.error === undefined) return ["a failed tool without the error body"]
    const status = statusOf[shown.error.type] ?? (shown.error.code === "parameter_invalid" ? 400 : undefined)
    return [
      ...(shown.error.type === "api_error" ? [`a tool answers ${shown.error.code}`] : []),
      ...(status === undefined ? [] : envelope(status, shown)),
      ...(shown.error.message === `${personalOf(toolOf(request))}: is required.` ? [] : named(found, shown.error))
    ]
  }
  const schema = outputs.get(toolOf(request) ?? "")
  const fault = schema === undefined ? undefined : wrong(schema, result.structuredContent)
  return [
    ...(fault === undefined ? [] : [`the result is not of its schema: ${fault}`]),
    // A list is told in lines for a reader, anything else as its JSON.
    ...(shown === undefined || JSON.stringify(shown) === JSON.stringify(result.structuredContent)
      ? []
      : ["text and structure differ"]),
    ...(found.fate === "refused" ? ["accepts what has to be refused"] : [])
  ]
}

const messagesOf = (answer: Answer, body: unknown): ReadonlyArray<any> =>
  answer.headers.get("content-type")?.startsWith("text/event-stream") === true
    ? answer.body.toString().split(/\r\n|\r|\n/).filter((line) => line.startsWith("data: ")).map((line) =>
      JSON.parse(line.slice("data: ".length))
    )
    : [body].flat()

/** What is wrong with an answer of the MCP server. */
export const judge = (found: Case, request: Request, answer: Answer, body: any): Verdict => {
  const { headers, status } = answer
  const bare = request.method === "HEAD" || request.method === "OPTIONS"
  if (bare || (status === 202 && answer.body.length === 0)) return { accepted: false, code: undefined, faults: [] }
  const stored = headers.get("cache-control") === "no-store" ? [] : ["no no-store"]
  if (body?.error?.type !== undefined) {
    return {
      accepted: false,
      code: body.error.code,
      faults: [...stored, ...envelope(status, body), ...named({ ...found, blame: [] }, body.error)]
    }
  }
  const messages = messagesOf(answer, body)
  const results = messages.flatMap((each) => each?.result?.content === undefined ? [] : [each.result])
  return {
    accepted: results.some(({ isError }) => isError !== true),
    code: results.map((result) => codeOf((content(result) as any)?.error)).find((code) => code !== undefined),
    faults: [
      ...stored,
      ...messages.flatMap(message),
      ...(messages.length === 1 ? results.flatMap((result) => called(found, request, result)) : [])
    ]
  }
}
