/** A way to the database, or to any other server, that can fall silent. */
import * as net from "node:net"

export interface SilentWay {
  /** The address by this way. */
  readonly url: string
  /** Nothing goes through any more, and nobody is told. */
  readonly freeze: () => void
  readonly thaw: () => void
  readonly close: () => void
}

export const openWay = async (address: string): Promise<SilentWay> => {
  const target = new URL(address)
  const sockets = new Set<net.Socket>()
  let frozen = false
  const server = net.createServer({ noDelay: true }, (near) => {
    const far = net.connect({ port: Number(target.port), host: target.hostname, noDelay: true })
    for (const [from, to] of [[near, far], [far, near]] as const) {
      sockets.add(from)
      if (frozen) from.pause()
      from.on("data", (chunk) => void to.write(chunk)).on("error", () => {}).on("close", () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const bound = server.address()
  const url = new URL(address)
  url.hostname = "127.0.0.1"
  url.port = String(typeof bound === "object" ? bound?.port : "")
  const turn = (next: boolean) => {
    frozen = next
    for (const socket of sockets) socket[frozen ? "pause" : "resume"]()
  }
  return {
    url: url.href,
    freeze: () => turn(true),
    thaw: () => turn(false),
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}
