/** A mail server on loopback that does what a test says. */
import { Effect } from "effect"
import * as net from "node:net"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"

export interface Received {
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly text: string
}

/** An answer by which the server refuses. */
export const refusal = (responseCode: number): Error => Object.assign(new Error("Refused"), { responseCode })

/** A header of a message, unfolded. */
export const header = ({ text }: Received, name: string): ReadonlyArray<string> =>
  text.split("\r\n\r\n")[0]?.replaceAll(/\r\n[ \t]+/g, " ").split("\r\n").flatMap((line) =>
    line.toLowerCase().startsWith(`${name.toLowerCase()}: `) ? [line.slice(name.length + 2)] : []
  ) ?? []

/** Serves until the scope closes; the messages that it took stand in `received`. */
export const start = Effect.fnUntraced(function*(options: SMTPServerOptions = {}) {
  const received: Array<Received> = []
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    closeTimeout: 0,
    logger: false,
    onData: (stream, { envelope }, done) => {
      const parts: Array<Buffer> = []
      stream.on("data", (part: Buffer) => parts.push(part))
      stream.on("end", () => {
        received.push({
          from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(parts).toString("utf8")
        })
        done()
      })
    },
    ...options
  })
  server.on("error", () => {})
  const sockets = new Set<net.Socket>()
  server.server.on("connection", (socket: net.Socket) => sockets.add(socket))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () => Effect.callback<void>((resume) => server.close(() => resume(Effect.void)))
  )
  const address = server.server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { received, cut, url: `smtp://127.0.0.1:${port}` }
})

/** A server that is given each connection as it comes. */
export const raw = Effect.fnUntraced(function*(connected: (socket: net.Socket) => void) {
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket.on("error", () => {}))
    connected(socket)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resume(Effect.void))
      })
  )
  const address = server.address()
  return `smtp://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
})
