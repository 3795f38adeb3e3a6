/** A relay in front of a server that keeps every byte which passes it, in both directions. */
import { Effect } from "effect"
import * as net from "node:net"

export interface Relay {
  readonly port: number
  /** Everything so far, as text. */
  readonly text: () => string
}

/** Relays to the port of this machine until the scope closes. */
export const make = (to: number) =>
  Effect.gen(function*() {
    const kept: Array<Buffer> = []
    const sockets = new Set<net.Socket>()
    const keep = (bytes: Buffer) => {
      kept.push(bytes)
    }
    const server = yield* Effect.acquireRelease(
      Effect.callback<net.Server>((resume) => {
        const made = net.createServer((near) => {
          const far = net.connect(to, "127.0.0.1")
          for (const [one, other] of [[near, far], [far, near]] as const) {
            sockets.add(one)
            one.on("data", keep).on("error", () => other.destroy()).on("close", () => other.destroy())
            one.pipe(other)
          }
        }).listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
      }),
      (server) =>
        Effect.sync(() => {
          for (const socket of sockets) socket.destroy()
          server.close()
        })
    )
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    return { port, text: () => Buffer.concat(kept).toString("utf8") } satisfies Relay
  })
