/** The process that asks: told over IPC what to ask of whom, it answers how many requests were answered how fast. */
import autocannon from "autocannon"
import type { Fixture } from "./fixture.ts"
import { requestsOf, type WorkloadName } from "./workloads.ts"

export interface Order {
  readonly workload: WorkloadName
  readonly address: string
  readonly connections: number
  readonly warmUpSeconds: number
  readonly seconds: number
  /** Differs between any two orders. */
  readonly slot: number
  /** Asks of the first organization alone. */
  readonly alone?: boolean
}

/** What was answered between `begun` and `ended`. */
export interface Answered {
  readonly requests: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  /** Answers that were not of success, and connections that broke. */
  readonly failures: number
  readonly bytes: number
}

export type Message = { readonly fixture: Fixture } | Order
export type Said = "ready" | "begun" | { readonly ended: Answered }

const say = (said: Said) => process.send?.(said)

const run = (fixture: Fixture, order: Order, duration: number, slot: number): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const { address: url, alone, connections, workload } = order
    const times: Array<number> = []
    let next = 0
    const setupClient = (client: autocannon.Client) =>
      client.setRequests(requestsOf(workload, fixture, next++, connections, slot, alone))
    const started = process.hrtime.bigint()
    const instance = autocannon({ url, connections, duration, setupClient }, (error, result) => {
      if (error !== null && error !== undefined) return reject(error)
      const seconds = Number(process.hrtime.bigint() - started) / 1e9
      times.sort((a, b) => a - b)
      const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
      resolve({
        requests: times.length,
        seconds,
        p50: at(0.5),
        p99: at(0.99),
        failures: result.non2xx + result.errors + result.timeouts,
        bytes: times.length === 0 ? 0 : Math.round(result.throughput.total / times.length)
      })
    })
    instance.on("response", (_client, _status, _bytes, time) => times.push(time))
  })

/** A warm-up is made again, so often at most, until this many requests were answered: a busy machine is slow to warm. */
const enough = 1000
const warmUps = 4

let fixture: Fixture = { organizations: [] }

process.on("message", async (message: Message) => {
  if ("fixture" in message) {
    fixture = message.fixture
    say("ready")
    return
  }
  let warm = 0
  let failures = 0
  for (let part = 0; part < warmUps && (part === 0 || warm < enough); part++) {
    const answered = await run(fixture, message, message.warmUpSeconds, message.slot * (warmUps + 1) + part)
    warm += answered.requests
    failures += answered.failures
  }
  say("begun")
  const answered = await run(fixture, message, message.seconds, message.slot * (warmUps + 1) + warmUps)
  say({ ended: { ...answered, failures: answered.failures + failures } })
})
