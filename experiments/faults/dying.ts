/**
 * Loaded before the service as `dying.ts?after=n`: once it is told to by SIGUSR2, it dies with the n-th message it
 * sends.
 */
import * as net from "node:net"

let left = Number(new URL(import.meta.url).searchParams.get("after"))
let armed = false

process.on("SIGUSR2", () => void (armed = true))

const write = net.Socket.prototype.write

/** Messages over the network alone: what is printed is none. */
const counted = function(this: net.Socket, ...args: Parameters<typeof write>): boolean {
  const sent = Reflect.apply(write, this, args)
  if (armed && this.remotePort !== undefined && --left <= 0) process.kill(process.pid, "SIGKILL")
  return sent
}

Object.assign(net.Socket.prototype, { write: counted })
