/** Ports for processes that others have to know before they start. */
import * as net from "node:net"

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = net.createServer()
    server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
  })

/** Free ports of loopback that no outgoing connection is given. */
export const freePorts = async (count: number): Promise<ReadonlyArray<number>> => {
  const found: Array<number> = []
  for (let port = 20_000 + Math.floor(Math.random() * 10_000); found.length < count; port++) {
    if (await isFree(port)) found.push(port)
  }
  return found
}
