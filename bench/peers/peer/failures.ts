/** What the peer refuses with: the bodies and headers of the interface. */

interface Details {
  readonly param?: string
  readonly headers?: Readonly<Record<string, string>>
}

export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly param: string | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, message: string, { headers = {}, param }: Details = {}) {
    super(message)
    this.status = status
    this.code = code
    this.param = param
    this.headers = headers
  }
}

const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
  500: "api_error",
  503: "api_error"
}

export const errorBody = ({ code, message, param, status }: Refused) => ({
  error: { type: types[status] ?? "api_error", code, message, ...(param === undefined ? {} : { param }) }
})

export const parameterInvalid = (param: string, message: string) =>
  new Refused(400, "parameter_invalid", `${param}: ${message}.`, { param })

export const invalidKey = () => new Refused(401, "invalid_api_key", "The API key is missing, invalid or revoked.")

export const resourceMissing = (param?: string) =>
  new Refused(404, "resource_missing", "There is no such object.", param === undefined ? {} : { param })

export const rateLimited = (limit: number, seconds: number) =>
  new Refused(429, "rate_limited", `Over ${limit} requests a minute: try again in ${seconds} seconds.`, {
    headers: { "retry-after": String(seconds) }
  })

export const insufficientScope = (scope: string) =>
  new Refused(403, "insufficient_scope", `This operation needs the scope ${scope}.`, {
    headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` }
  })

const away = /^(?:08|53|57P|25P03|25006|ECONN)/

/** Anything that went wrong as a refusal: a database that is away, or what nobody foresaw. */
export const toRefused = (error: unknown): Refused => {
  if (error instanceof Refused) return error
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  return away.test(code) || (error instanceof Error && /timeout/i.test(error.message))
    ? new Refused(503, "service_unavailable", "The service is not available at the moment. Try again.", {
      headers: { "retry-after": "5" }
    })
    : new Refused(500, "internal_error", "Something went wrong on the server.")
}
