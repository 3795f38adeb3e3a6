/** What an answer may be, whatever was asked: by the document, the specification and the RFCs, not by the service. */
import { document, undocumented } from "../../test/support/http/documented.ts"
import type { Case, Request } from "./case.ts"
import { isRequest } from "./case.ts"
import type { Answer } from "./client.ts"
import { codeOf, envelope, named, type Verdict } from "./envelope.ts"
import * as JudgeMcp from "./judgeMcp.ts"
import * as JudgeOAuth from "./judgeOAuth.ts"

const parsed = ({ body }: Answer): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

interface Header {
  readonly $ref?: string
  readonly required?: boolean
}

interface Response {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, Header>>
}

const components = document.components as unknown as {
  readonly headers: Readonly<Record<string, Header>>
  readonly responses: Readonly<Record<string, Response>>
}

/** What a reference points at, or the thing itself. */
const resolve = <A extends { readonly $ref?: string }>(one: A, all: Readonly<Record<string, A>>): A | undefined =>
  one.$ref === undefined ? one : all[one.$ref.slice(one.$ref.lastIndexOf("/") + 1)]

/** The headers that the document requires of the answer. */
const requiredHeaders = (method: string, path: string, status: number): ReadonlyArray<string> => {
  const template = Object.keys(document.paths).sort((one, other) => one.split("{").length - other.split("{").length)
    .find((each) => new RegExp(`^${each.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path))
  const responses = template === undefined
    ? undefined
    : document.paths[template]?.[method.toLowerCase()]?.responses as Readonly<Record<string, Response>> | undefined
  const response = resolve(responses?.[status] ?? {}, components.responses)
  return Object.entries(response?.headers ?? {})
    .filter(([, header]) => resolve(header, components.headers)?.required === true)
    .map(([name]) => name)
}

/** What holds for the answer to every request. */
const always = (answer: Answer): ReadonlyArray<string> => {
  const { body, headers, status } = answer
  const type = headers.get("content-type") ?? ""
  return [
    ...(status >= 500 ? [`answers ${status}`] : []),
    ...(/^req_[0-9a-hjkmnp-tv-z]{26}$/.test(headers.get("request-id") ?? "") ? [] : ["no Request-Id"]),
    ...(headers.get("x-content-type-options") === "nosniff" ? [] : ["no nosniff"]),
    ...(headers.has("x-injected") ? ["a header of the request's"] : []),
    ...(headers.has("x-powered-by") || headers.has("server") ? ["says what it runs on"] : []),
    ...(type.startsWith("application/json") && body.length > 0 && parsed(answer) === undefined ? ["no JSON"] : []),
    ...(status >= 400 && headers.get("cache-control") !== "no-store" ? ["a refusal without no-store"] : []),
    ...(status === 401 && !headers.has("www-authenticate") ? ["401 without WWW-Authenticate"] : []),
    ...(status === 429 && !/^[1-9]\d*$/.test(headers.get("retry-after") ?? "") ? ["429 without Retry-After"] : [])
  ]
}

const isWhole = (text: string | null) => /^\d+$/.test(text ?? "")

const rest = (found: Case, { method, target }: Request, answer: Answer): Verdict => {
  const { headers, status } = answer
  const body: any = parsed(answer)
  const path = target.split("?", 1)[0] ?? ""
  const bare = method === "HEAD" || method === "OPTIONS"
  const error = body?.error
  const accepted = status < 300
  const limits = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map((name) => headers.get(name))
  return {
    accepted: accepted && !bare && method !== "GET",
    code: codeOf(error),
    faults: [
      ...always(answer),
      ...(headers.has("set-cookie") ? ["a cookie"] : []),
      ...(bare || headers.get("cache-control") === "no-store" ? [] : ["no no-store"]),
      ...(bare ? [] : undocumented(method, target, status, body)),
      ...requiredHeaders(method, path, status).filter((name) => !headers.has(name)).map((name) => `no ${name}`),
      ...(accepted && !bare && !limits.every(isWhole) ? ["no budget"] : []),
      ...(Number(limits[1]) > Number(limits[0]) ? ["a budget over the limit"] : []),
      ...(accepted || bare ? [] : envelope(status, body)),
      ...(accepted && !bare && found.fate === "refused" ? ["accepts what has to be refused"] : []),
      ...named(found, error)
    ]
  }
}

/** What is wrong with one answer to the case. */
export const judge = (found: Case, answer: Answer): Verdict => {
  const { sent, surface } = found
  if (!isRequest(sent)) {
    const body: any = parsed(answer)
    return {
      accepted: answer.status < 300,
      code: body?.error?.code,
      faults: [
        ...always(answer),
        ...(answer.status >= 400 && answer.body.length > 0 ? envelope(answer.status, body) : []),
        ...(answer.status >= 300 && answer.status < 400 ? ["a redirect"] : [])
      ]
    }
  }
  if (surface === "REST") return rest(found, sent, answer)
  const verdict = surface === "MCP"
    ? JudgeMcp.judge(found, sent, answer, parsed(answer))
    : JudgeOAuth.judge(found, sent, answer, parsed(answer))
  return { ...verdict, faults: [...always(answer), ...verdict.faults] }
}
