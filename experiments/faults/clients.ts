/** Clients that change things over HTTP, each one request after the other, and remember what they were told. */
import type { Attempt, Kind, Outcome } from "./ledger.ts"
import { pause, type Stage } from "./stage.ts"

/** How long a client waits for an answer. */
const timeout = 30_000

let turn = 0

/** The next key: each carries 120 requests a minute. */
export const nextKey = ({ keys }: Stage): string => keys[turn++ % keys.length] ?? ""

export interface Answer {
  /** 0 where there was none. */
  readonly status: number
  readonly request: string | null
  readonly milliseconds: number
  readonly body: any
  readonly retryAfter: string | null
}

/** Sends a request; a connection that is cut or refused is an answer of its own. */
export const send = async (
  address: string,
  key: string,
  method: string,
  path: string,
  body?: unknown
): Promise<Answer> => {
  const started = performance.now()
  const since = () => performance.now() - started
  try {
    const response = await fetch(new URL(path, address), {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeout)
    })
    return {
      status: response.status,
      request: response.headers.get("request-id"),
      body: await response.json(),
      retryAfter: response.headers.get("retry-after"),
      milliseconds: since()
    }
  } catch {
    return { status: 0, request: null, body: undefined, retryAfter: null, milliseconds: since() }
  }
}

const outcomeOf = (status: number): Outcome =>
  status >= 200 && status < 300 ? "acknowledged" : status >= 400 && status < 500 ? "refused" : "unknown"

export const labelOf = (account: string) => `/v1/accounts/${account}/role-label`
export const profileOf = (account: string) => `/v1/accounts/${account}/messenger-profile`

const requests: Readonly<Record<Kind, (account: string, text: string) => readonly [string, string, unknown]>> = {
  label: (account, text) => ["PUT", labelOf(account), { role_label: text }],
  about: (account, text) => ["PATCH", profileOf(account), { about: text }],
  key: (_, text) => ["POST", "/v1/api-keys", { label: text, scopes: ["org:read"] }]
}

/** Makes one write, and says what came of it. */
export const write = async (
  stage: Stage,
  address: string,
  kind: Kind,
  account: string,
  text: string
): Promise<Attempt> => {
  const [method, path, body] = requests[kind](account, text)
  const { milliseconds, request, status } = await send(address, nextKey(stage), method, path, body)
  return { kind, account, text, outcome: outcomeOf(status), status, request, milliseconds }
}

/** Of ten writes seven are labels, two are changes on the messenger, and one makes a key. */
const kindOf = (number: number): Kind => number % 10 === 9 ? "key" : number % 5 === 3 ? "about" : "label"

export interface Clients {
  /** Everything so far, in the order of the answers. */
  readonly attempts: ReadonlyArray<Attempt>
  /** Resolves when so many writes more were acknowledged. */
  readonly more: (count: number) => Promise<void>
  /** Lets the requests in flight finish, and resolves when all have. */
  readonly stop: () => Promise<void>
}

/**
 * Starts clients; the client of a place has accounts of its own, `accounts` and those with a session in turn.
 *
 * `address` is asked before each request; after an answer that is no success a client waits for a moment.
 */
export const start = (
  stage: Stage,
  options: {
    readonly name: string
    readonly accounts: ReadonlyArray<string>
    readonly address: (place: number) => string
    readonly attempts: Array<Attempt>
    readonly kind?: (number: number) => Kind
  }
): Clients => {
  const { accounts, attempts, name } = options
  const state = { running: true }
  const client = async (place: number, account: string) => {
    for (let number = 0; state.running; number++) {
      const kind = (options.kind ?? kindOf)(number)
      const target = kind === "about" ? stage.live[place % stage.live.length] ?? "" : account
      const attempt = await write(stage, options.address(place), kind, target, `${name}/${place}/${number}`)
      attempts.push(attempt)
      if (attempt.outcome !== "acknowledged") await pause(20)
    }
  }
  const all = Promise.all(accounts.map((account, place) => client(place, account)))
  const acknowledged = () => attempts.filter(({ outcome }) => outcome === "acknowledged").length
  return {
    attempts,
    more: async (count) => {
      const goal = acknowledged() + count
      for (const end = Date.now() + 60_000; acknowledged() < goal;) {
        if (Date.now() > end) throw new Error(`The service does not acknowledge: ${attempts.at(-1)?.status}`)
        await pause(5)
      }
    },
    stop: async () => {
      state.running = false
      await all
    }
  }
}

/** Resolves with the milliseconds until the service answers a read with 200. */
export const recovered = async (stage: Stage, address: string): Promise<number> => {
  const started = performance.now()
  while ((await send(address, nextKey(stage), "GET", "/v1/organization")).status !== 200) {
    if (performance.now() - started > 60_000) throw new Error("The service does not recover")
    await pause(20)
  }
  return performance.now() - started
}
