/**
 * What the authorization server and the pages may answer: the errors of their RFCs, markup, and redirects that stay.
 */
import type { Case, Request } from "./case.ts"
import type { Answer } from "./client.ts"
import { envelope, type Verdict } from "./envelope.ts"
import { registered } from "./stage.ts"

/** RFC 6749 (5.2), 7591 (3.2.2), 8707 (2) and 7009 (2.2.1); the last is for what is not the client's fault. */
const errors: ReadonlySet<unknown> = new Set([
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
  "invalid_redirect_uri",
  "invalid_client_metadata",
  "invalid_target",
  "unsupported_token_type",
  "rate_limited"
])

const json = (answer: Answer, body: any): ReadonlyArray<string> => {
  const { headers, status } = answer
  if (status < 300) return headers.get("cache-control") === "no-store" ? [] : ["no no-store"]
  if (status === 404) return envelope(status, body)
  const { error, error_description: description, ...others } = body ?? {}
  return [
    ...([400, 401, 429].includes(status) ? [] : [`answers ${status}`]),
    ...(errors.has(error) ? [] : [`no error of the RFCs: ${JSON.stringify(error)}`]),
    ...(status === 401 && error !== "invalid_client" ? ["401 without invalid_client"] : []),
    ...(typeof description === "string" && /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(description)
      ? []
      : ["an error_description of other characters than RFC 6749 allows"]),
    ...(Object.keys(others).length === 0 ? [] : ["unknown members in an error"]),
    ...(headers.get("pragma") === "no-cache" ? [] : ["no Pragma"])
  ]
}

/** Where an answer may send a browser: within the site, or to an address that was registered. */
const redirect = ({ headers, status }: Answer): ReadonlyArray<string> => {
  const location = headers.get("location") ?? ""
  return [
    ...(status === 303 || status === 302 ? [] : [`redirects with ${status}`]),
    ...(/^\/(?:console|oauth)(?:\/[\x21-\x7e]*)?$/.test(location) || location.startsWith(registered)
      ? []
      : [`redirects to ${location}`])
  ]
}

const page = (answer: Answer): ReadonlyArray<string> => {
  const { headers } = answer
  const policy = headers.get("content-security-policy") ?? ""
  const text = answer.body.toString()
  return [
    ...(policy.includes("default-src 'none'") && policy.includes("frame-ancestors 'none'")
      ? []
      : ["a page without its policy"]),
    ...(text.includes("<script") ? ["a script in a page"] : []),
    ...(/[<"'](?:img|svg|iframe)\b/i.test(text) ? ["markup of the request's in a page"] : [])
  ]
}

/** What is wrong with an answer of the authorization server or of a page. */
export const judge = (found: Case, { method, target }: Request, answer: Answer, body: any): Verdict => {
  const { headers, status } = answer
  const type = headers.get("content-type") ?? ""
  const path = target.split("?", 1)[0] ?? ""
  const endpoint = /^\/oauth\/(?:token|register|revoke)$/.test(path)
  const accepted = status < 300 && method === "POST"
  const faults = method === "HEAD" || method === "OPTIONS"
    ? []
    : status >= 300 && status < 400
    ? redirect(answer)
    : endpoint
    ? json(answer, body)
    : type.startsWith("text/html")
    ? page(answer)
    : status >= 400
    ? path === "/readyz" ? [] : envelope(status, body)
    : []
  return {
    accepted: accepted || (status >= 300 && status < 400 && method === "POST"),
    code: typeof body?.error === "string" ? body.error : body?.error?.code,
    faults: [...faults, ...(status < 300 && found.fate === "refused" ? ["accepts what has to be refused"] : [])]
  }
}
