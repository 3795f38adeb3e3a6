/** Messages to the process that has a slot. */
import { Clock, Duration, Effect, Metric } from "effect"
import type { SqlClient } from "effect/sql"
import * as http from "node:http"
import type { Slot } from "../../domain/accounts/Slot.ts"
import * as Tenant from "../postgres/Tenant.ts"
import { shardOf } from "./Leases.ts"
import { largestMessage } from "./Listener.ts"
import type { Seals } from "./Sealed.ts"

/** A process as the rows of leases name it. */
export interface Peer {
  readonly name: string
  readonly host: string
  readonly port: number
}

/**
 * The end of a message: its answer; `not_taken` where the other process certainly has not acted on it; `unknown` where
 * it may have.
 */
export type Delivery = { readonly _tag: "Answered"; readonly value: unknown } | {
  readonly _tag: "NotTaken" | "Unknown"
}

/** A process that takes no message within this time is frozen, or away. */
export const takenWithin = Duration.seconds(3)
/** An answer to a message that was taken comes within this time. */
const answeredWithin = Duration.seconds(25)

const ownerOfSlot = `
  select address from cluster_locks
  where shard_id = $1 and acquired_at > clock_timestamp() at time zone 'UTC' - $2 * interval '1 millisecond'`

const forwarded = Metric.histogram("console_forwarded_seconds", {
  description: "Times of operations that ran in another process, in seconds",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25]
})

/** The process of an address such as `10.0.0.7/0197…:8090`. */
const parsePeer = (address: string): Peer | null => {
  const [, host, name, port] = /^(.*)\/([^/:]+):(\d+)$/.exec(address) ?? []
  return host === undefined || name === undefined ? null : { host, name, port: Number(port) }
}

/** The process that has the slot by now; null where none has. */
export const findOwner = (sql: SqlClient.SqlClient, lease: Duration.Duration) => (slot: Slot) =>
  Effect.map(
    Tenant.ask<{ address: string }>(sql, ownerOfSlot, [shardOf(slot).toString(), Duration.toMillis(lease)]),
    ([row]) => row === undefined ? null : parsePeer(row.address)
  )

/** Connections are kept for a shorter time than the other side keeps them. */
const agent = new http.Agent({ keepAlive: true, timeout: 30_000, maxSockets: 64 })

const bytesOf = async (response: http.IncomingMessage): Promise<Buffer> => {
  const parts: Array<Buffer> = []
  let size = 0
  for await (const part of response) {
    size += part.length
    if (size > 8 * largestMessage) throw new Error("The answer is too large")
    parts.push(part)
  }
  return Buffer.concat(parts)
}

const post = ({ host, port }: Peer, bytes: Buffer, nonce: string, seals: Seals) =>
  Effect.callback<Delivery>((resume) => {
    let isSent = false
    let isTaken = false
    const request = http.request({
      agent,
      host,
      port,
      method: "POST",
      path: "/",
      headers: { "content-type": "application/octet-stream", "content-length": bytes.length }
    })
    const end = (delivery: Delivery) => {
      clearTimeout(timer)
      resume(Effect.succeed(delivery))
    }
    const lost = () => end({ _tag: isSent ? "Unknown" : "NotTaken" })
    const timer = setTimeout(() => {
      if (!isTaken) request.destroy()
    }, Duration.toMillis(takenWithin))
    request.on("socket", (socket) => {
      const send = () => {
        isSent = true
        request.end(bytes)
      }
      if (socket.connecting) socket.once("connect", send)
      else send()
    })
    request.on("error", lost)
    request.on("response", (response) => {
      isTaken = true
      if (response.statusCode !== 200) {
        response.resume()
        return end({ _tag: "NotTaken" })
      }
      bytesOf(response).then((sealed) => {
        const opened = seals.openAnswer(sealed, nonce)
        end(opened === undefined ? { _tag: "Unknown" } : { _tag: "Answered", value: opened.value })
      }, lost)
    })
    return Effect.sync(() => {
      clearTimeout(timer)
      request.destroy()
    })
  })

/** Sends a message once; a process that refuses it has not acted on it. */
export const send = Effect.fnUntraced(function*(seals: Seals, peer: Peer, value: unknown) {
  if (JSON.stringify(value).length > largestMessage / 2) return { _tag: "NotTaken" } satisfies Delivery
  const { bytes, nonce } = seals.sealRequest(value, peer.name, yield* Clock.currentTimeMillis)
  const started = performance.now()
  const delivery = yield* Effect.timeoutOrElse(post(peer, bytes, nonce, seals), {
    duration: answeredWithin,
    orElse: () => Effect.succeed<Delivery>({ _tag: "Unknown" })
  })
  const outcome = delivery._tag
  yield* Metric.update(Metric.withAttributes(forwarded, { outcome }), (performance.now() - started) / 1000)
  return delivery
})
