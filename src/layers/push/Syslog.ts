/** Checkpoints as messages of syslog (RFC 5424), over TCP with counted frames (RFC 6587) or over UDP (RFC 5426). */
import { Clock, Effect } from "effect"
import * as dgram from "node:dgram"
import * as net from "node:net"
import * as os from "node:os"
import { NotTaken, type PushTarget } from "../../ports/journal/CheckpointQueue.ts"
import { lines, notTaken } from "./Target.ts"

/** Facility 13, log audit; severity 5, notice. */
const priority = 13 * 8 + 5

const hostname = os.hostname().replaceAll(/[^!-~]/g, "").slice(0, 255) || "-"

const message = (at: number, text: string): string =>
  `<${priority}>1 ${new Date(at).toISOString()} ${hostname} org-security-console ${process.pid} checkpoint - ${text}`

/** Sends, and waits until the other side has read the end: what it closes with an error is sent again. */
const overTcp = (host: string, port: number, messages: ReadonlyArray<string>) =>
  Effect.callback<void, NotTaken>((resume) => {
    const socket = net.connect({ host, port })
    socket.on("error", (cause) => resume(Effect.fail(notTaken(cause))))
    socket.on(
      "close",
      () => resume(socket.writableFinished ? Effect.void : Effect.fail(new NotTaken({ reason: "closed early" })))
    )
    socket.resume()
    socket.end(messages.map((text) => `${Buffer.byteLength(text)} ${text}`).join(""))
    return Effect.sync(() => socket.destroy())
  })

/** Sends one datagram for each; whether they arrive nobody says. */
const overUdp = (host: string, port: number, messages: ReadonlyArray<string>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => dgram.createSocket(net.isIPv6(host) ? "udp6" : "udp4")),
    (socket) =>
      Effect.forEach(messages, (text) =>
        Effect.callback<void, NotTaken>((resume) => {
          socket.once("error", (cause) => resume(Effect.fail(notTaken(cause))))
          socket.send(text, port, host, (cause) => resume(cause === null ? Effect.void : Effect.fail(notTaken(cause))))
        }), { discard: true }),
    (socket) => Effect.sync(() => socket.close())
  )

/** A collector of syslog. */
export const target = (transport: "tcp" | "udp", host: string, port: number): PushTarget => ({
  name: `syslog+${transport}://${net.isIPv6(host) ? `[${host}]` : host}:${port}`,
  send: (checkpoints) =>
    Effect.gen(function*() {
      const at = yield* Clock.currentTimeMillis
      const messages = (yield* lines(checkpoints)).map((text) => message(at, text))
      yield* (transport === "tcp" ? overTcp : overUdp)(host, port, messages)
    })
})
