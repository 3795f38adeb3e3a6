/** The service as the worker asks it: operations by their name, with the cookie of the console's session. */
import { Effect, Schema } from "effect"
import { RemoteRefusal } from "../../ports/archive/SealedArchive.ts"
import type { Fault, FaultCode } from "../ViewerCalls.ts"

/** The address of the data, and the token of this page. */
export interface Service {
  readonly address: string
  readonly token: string
  readonly organizationId: string
  /** The service takes no further request for so many seconds. */
  readonly waiting: (seconds: number) => void
}

const codes: Readonly<Record<string, FaultCode>> = {
  invalid_token: "session_ended",
  role_forbidden: "not_allowed",
  no_archive_key: "no_key",
  archive_closed: "closed",
  rate_limited: "slow_down",
  resource_missing: "gone",
  wrong_password: "wrong_password"
}

const Refusal = Schema.Struct({ error: Schema.Struct({ code: Schema.String, message: Schema.String }) })

const unreachable = () =>
  new RemoteRefusal({ code: "service_unavailable", message: "The service cannot be reached. Try again." })

/** A refusal of an answer that the worker cannot read. */
export const otherForm = () =>
  new RemoteRefusal({ code: "service_unavailable", message: "The service is of another version. Load the page again." })

type Input = Readonly<Record<string, unknown>>

const queryOf = (input: Input): string => {
  const members = new URLSearchParams()
  for (const [name, value] of Object.entries(input)) if (value !== undefined) members.set(name, String(value))
  return members.size === 0 ? "" : `?${members}`
}

/** The operations that the worker asks for, as the page's data serves them: changes are posted. */
const operations = {
  list_accounts: ["GET", "/archive/accounts"],
  get_archive_keys: ["GET", "/archive/keys"],
  list_sealed_pages: ["POST", "/archive/sealed/accounts/:account_id/pages"],
  list_sealed_blocks: ["POST", "/archive/sealed/blocks"],
  list_sealed_files: ["POST", "/archive/sealed/files"],
  list_archive_rules: ["GET", "/archive/rules"],
  create_archive_rule: ["POST", "/archive/rules"],
  update_archive_rule: ["POST", "/archive/rules/:rule_id"]
} as const
export type OperationName = keyof typeof operations

const common = { cache: "no-store", credentials: "same-origin", redirect: "error" } as const

const request = (address: string, options: RequestInit): Promise<Response> =>
  // @effect-diagnostics-next-line globalFetch:off -- a client of Effect's would double the worker's size
  fetch(address, { ...common, ...options })

const requestOf = (service: Service, operation: OperationName, input: Input): Promise<Response> => {
  const [method, path] = operations[operation]
  const inPath = new Set([...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name))
  const address = service.address +
    path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input[name])))
  const members = Object.fromEntries(Object.entries(input).filter(([name]) => !inPath.has(name)))
  return method === "GET"
    ? request(`${address}${queryOf(members)}`, {})
    : request(address, {
      method,
      headers: { "content-type": "application/json", "x-token": service.token },
      body: JSON.stringify(members)
    })
}

const readRefusal = Schema.decodeUnknownEffect(Refusal)

/** Times that a request waits for the service to take further ones, and the seconds of such a wait. */
const waits = 5
const longestWait = 61

/** The seconds until the service takes further requests. */
const secondsLeft = (response: Response): number => {
  const seconds = Number(response.headers.get("retry-after") ?? "")
  return seconds >= 1 ? Math.min(seconds, longestWait) : 1
}

/** The answer, as soon as the service takes the request; a wait is said. */
const answered = Effect.fnUntraced(function*(service: Service, send: () => Promise<Response>) {
  for (let left = waits;; left--) {
    const response = yield* Effect.tryPromise({ try: send, catch: unreachable })
    if (response.status !== 429 || left === 0) return response
    const seconds = secondsLeft(response)
    service.waiting(seconds)
    yield* Effect.sleep(seconds * 1000)
  }
})

const jsonOf = (response: Response) =>
  Effect.tryPromise({ try: (): Promise<unknown> => response.json(), catch: unreachable })

const refusalOf = (response: Response) =>
  Effect.flatMap(jsonOf(response), (body) =>
    Effect.flatMap(
      Effect.mapError(readRefusal(body), unreachable),
      ({ error }) => Effect.fail(new RemoteRefusal(error))
    ))

/** Asks for an operation; a refusal fails with its message. */
export const ask = Effect.fnUntraced(function*(
  service: Service,
  operation: OperationName,
  input: Input
) {
  const response = yield* answered(service, () => requestOf(service, operation, input))
  return yield* response.ok ? jsonOf(response) : refusalOf(response)
})

/** The content of a file as it is stored, from a byte on. */
export const download = Effect.fnUntraced(function*(service: Service, fileId: string, from: number | null) {
  const address = `${service.address}/archive/sealed/files/${encodeURIComponent(fileId)}`
  const headers: Record<string, string> = from === null ? {} : { range: `bytes=${from}-` }
  const response = yield* answered(service, () => request(address, { headers }))
  if (!response.ok) return yield* refusalOf(response)
  if (response.body === null || response.status !== (from === null ? 200 : 206)) return yield* unreachable()
  return response.body
})

/** The refusal as the page is sent it. */
export const faultOf = ({ code, message }: RemoteRefusal): Fault => ({ code: codes[code] ?? "other", message })
