/** What an answer may be, whatever was asked: by the document, the specification and the RFCs, not by the service. */
import { document, undocumented } from "../../test/support/documented.ts"
import type { Case, Request } from "./case.ts"
import { isRequest } from "./case.ts"
import type { Answer } from "./client.ts"
import * as JudgeMcp from "./judgeMcp.ts"
import * as JudgeOAuth from "./judgeOAuth.ts"

export interface Verdict {
  readonly faults: ReadonlyArray<string>
  /** Whether anything was done for the request. */
  readonly accepted: boolean
  /** The service's code of a refusal, where it has one. */
  readonly code: string | undefined
}

/** The type of every status (specification, section 7). */
const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  408: "invalid_request_error",
  409: "invalid_request_error",
  429: "rate_limit_error",
  431: "invalid_request_error"
}

/** The one status of the codes that section 7 names. */
const statuses: Readonly<Record<string, ReadonlyArray<number>>> = {
  parameter_invalid: [400, 408, 431],
  invalid_api_key: [401],
  invalid_token: [401],
  insufficient_scope: [403],
  role_forbidden: [403],
  superadmin_required: [403],
  organization_closed: [403],
  resource_missing: [404],
  mail_preferences_unavailable: [409],
  no_session: [409],
  not_active: [409],
  not_paused: [409],
  rate_limited: [429]
}

const parsed = ({ body }: Answer): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

/** The error body of section 7, its members and how they belong together. */
export const envelope = (status: number, body: any): ReadonlyArray<string> => {
  const error = body?.error
  if (typeof error !== "object" || error === null) return [`${status} without the error body`]
  const { code, message, param, type, ...others } = error
  return [
    ...(Object.keys(body).length === 1 ? [] : ["members beside error"]),
    ...(Object.keys(others).length === 0 ? [] : ["unknown members in error"]),
    ...(type === types[status] ? [] : [`${status} of type ${type}`]),
    ...(typeof code === "string" && /^[a-z_]+$/.test(code) ? [] : ["no code"]),
    ...(statuses[code]?.includes(status) === false ? [`${code} with ${status}`] : []),
    ...(typeof message === "string" && message !== "" ? [] : ["no message"]),
    ...("param" in error && (typeof param !== "string" || param === "") ? ["an empty param"] : [])
  ]
}

/** Whether a refusal for a parameter names the one that is wrong. */
export const named = ({ blame, fate }: Case, error: any): ReadonlyArray<string> => {
  if (error?.code !== "parameter_invalid") return []
  // That an id names nothing is no matter of form.
  if (/: there is no such [a-z]+\.$/.test(error.message)) return []
  if (fate === "well-formed") return [`what the document allows is refused: ${error.message}`]
  if (error.param === undefined) return ["parameter_invalid names no parameter"]
  return blame === undefined || blame.length === 0 || blame.includes(error.param)
    ? []
    : [`parameter_invalid names another parameter: ${JSON.stringify(error.param)}`]
}

interface Responses {
  readonly [status: string]: { readonly headers?: Readonly<Record<string, { readonly required?: boolean }>> }
}

/** The headers that the document requires of the answer. */
const requiredHeaders = (method: string, path: string, status: number): ReadonlyArray<string> => {
  const template = Object.keys(document.paths).sort((one, other) => one.split("{").length - other.split("{").length)
    .find((each) => new RegExp(`^${each.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path))
  const responses = template === undefined
    ? undefined
    : document.paths[template]?.[method.toLowerCase()]?.responses as Responses | undefined
  return Object.entries(responses?.[status]?.headers ?? {}).filter(([, { required }]) => required === true)
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
    code: error?.code,
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
