/** The error body of the specification, and whether it names what is wrong. */
import type { Case } from "./case.ts"

/** What the judge says of one answer. */
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

/** The service's code of a refusal; the messenger's own refusal of a parameter is told from the service's. */
export const codeOf = (error: any): string | undefined =>
  String(error?.message).startsWith("The messenger refuses") ? "messenger_refused" : error?.code

/** Whether a refusal for a parameter names the one that is wrong. */
export const named = ({ blame, fate }: Case, error: any): ReadonlyArray<string> => {
  if (error?.code !== "parameter_invalid") return []
  // That an id names nothing is no matter of form.
  if (/: there is no such [a-z]+[.,]/.test(error.message)) return []
  if (fate === "well-formed") return [`what the document allows is refused: ${error.message}`]
  if (error.param === undefined) return ["parameter_invalid names no parameter"]
  return blame === undefined || blame.length === 0 || blame.includes(error.param)
    ? []
    : [`parameter_invalid names another parameter: ${JSON.stringify(error.param)}`]
}
