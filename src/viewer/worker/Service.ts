/** The service as the worker asks it: operations by their name, with the cookie of the console's session. */
import { Effect, Schema } from "effect"
import { RemoteRefusal } from "../../ports/archive/SealedArchive.ts"
import type { Fault, FaultCode } from "../ViewerCalls.ts"

/** The address of the data, and the token of this page. */
export interface Service {
  readonly address: string
  readonly token: string
  readonly organizationId: string
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

type Input = Readonly<Record<string, unknown>>

const queryOf = (input: Input): string => {
  const members = new URLSearchParams()
  for (const [name, value] of Object.entries(input)) if (value !== undefined) members.set(name, String(value))
  return members.size === 0 ? "" : `?${members}`
}

/** The operations that the worker asks for, as the API declares them. */
const operations = {
  list_accounts: ["GET", "/archive/accounts"],
  get_archive_keys: ["GET", "/archive/keys"],
  list_sealed_pages: ["POST", "/archive/sealed/accounts/:account_id/pages"],
  list_sealed_blocks: ["POST", "/archive/sealed/blocks"],
  list_sealed_files: ["POST", "/archive/sealed/files"],
  create_archive_rule: ["POST", "/archive/rules"]
} as const
export type OperationName = keyof typeof operations

const requestOf = (service: Service, operation: OperationName, input: Input) => {
  const [method, path] = operations[operation]
  const inPath = new Set([...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name))
  const address = service.address +
    path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input[name])))
  const members = Object.fromEntries(Object.entries(input).filter(([name]) => !inPath.has(name)))
  const common = { method, cache: "no-store", credentials: "same-origin", redirect: "error" } as const
  return method === "GET"
    ? fetch(`${address}${queryOf(members)}`, common)
    : fetch(address, {
      ...common,
      headers: { "content-type": "application/json", "x-token": service.token },
      body: JSON.stringify(members)
    })
}

const readRefusal = Schema.decodeUnknownEffect(Refusal)

/** Asks for an operation; a refusal fails with its message. */
export const ask = Effect.fnUntraced(function*(
  service: Service,
  operation: OperationName,
  input: Input
) {
  const { body, ok } = yield* Effect.tryPromise({
    try: async () => {
      const response = await requestOf(service, operation, input)
      const body: unknown = await response.json()
      return { body, ok: response.ok }
    },
    catch: unreachable
  })
  if (ok) return body
  const { error } = yield* Effect.mapError(readRefusal(body), unreachable)
  return yield* new RemoteRefusal(error)
})

/** The refusal as the page is sent it. */
export const faultOf = ({ code, message }: RemoteRefusal): Fault => ({ code: codes[code] ?? "other", message })
