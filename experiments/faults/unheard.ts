/**
 * Loaded before the service as `unheard.ts?ports=8101,8102`: SIGHUP has what its process sends to these ports, or
 * answers at them, lost on the way, until the next SIGHUP.
 */
import * as net from "node:net"

const ports = new Set(new URL(import.meta.url).searchParams.get("ports")?.split(",").map(Number))

let unheard = false

process.on("SIGHUP", () => void (unheard = !unheard))

const write = net.Socket.prototype.write

const sent = function(this: net.Socket, ...args: Parameters<typeof write>): boolean {
  const lost = unheard && (ports.has(this.remotePort ?? 0) || ports.has(this.localPort ?? 0))
  return lost || Reflect.apply(write, this, args)
}

Object.assign(net.Socket.prototype, { write: sent })
