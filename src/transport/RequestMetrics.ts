/** The counts and measures at the edge, over every transport; labels have a bounded number of values. */
import { type Context, Metric } from "effect"

/** The way that a request came in: an operation over HTTP or as a tool, or any other address. */
export type Transport = "rest" | "mcp" | "http"

/** The upper bounds of the latency's buckets, in seconds. */
const boundaries = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Counters that differ only in one label, each created when its value is first seen. */
const family = (name: string, description: string, label: string, fixed: Readonly<Record<string, string>> = {}) => {
  const counters = new Map<string, Metric.Counter<number>>()
  return (value: string, context: Context.Context<never>): void => {
    let counter = counters.get(value)
    if (counter === undefined) {
      counter = Metric.counter(name, { description, incremental: true, attributes: { ...fixed, [label]: value } })
      counters.set(value, counter)
    }
    counter.updateUnsafe(1, context)
  }
}

/** The counters and the latency of one endpoint. */
export class Series {
  readonly #seconds: Metric.Histogram<number>
  readonly #answered: ReturnType<typeof family>

  constructor(operation: string, via: Transport) {
    const attributes = { operation, via }
    this.#seconds = Metric.histogram("console_request_seconds", {
      description: "Time to make an answer, in seconds; it is sent after that",
      attributes,
      boundaries
    })
    this.#answered = family(
      "console_requests_total",
      "Requests by operation or address, transport, and code of the failure or else status",
      "code",
      attributes
    )
  }

  count(code: string, seconds: number, context: Context.Context<never>): void {
    this.#answered(code, context)
    this.#seconds.updateUnsafe(seconds, context)
  }
}

/** The requests whose answers are being made. */
export const inFlight = Metric.gauge("console_requests_in_flight", {
  description: "Requests whose answers are being made"
})

const refused = family(
  "console_rate_refusals_total",
  "Requests refused because of too many: of a credential, from an address with wrong credentials, of wrong passwords",
  "limit"
)

const failedSignIns = family(
  "console_sign_in_failures_total",
  "Requests refused because of what they sign in with",
  "credential"
)

const credentials: ReadonlyMap<string, string> = new Map([
  ["invalid_api_key", "api_key"],
  ["invalid_token", "token"],
  ["password_incorrect", "password"],
  ["invalid_client", "client"],
  ["invalid_grant", "grant"]
])

/** Counts a failure that has a counter of its own. */
export const countFailure = (code: string, known: boolean, context: Context.Context<never>): void => {
  const credential = credentials.get(code)
  if (credential !== undefined) failedSignIns(credential, context)
  else if (code === "rate_limited") refused(known ? "credential" : "address", context)
  else if (code === "too_many_attempts") refused("password", context)
}
