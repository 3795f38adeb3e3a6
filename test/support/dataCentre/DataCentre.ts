/**
 * A data centre on loopback: it speaks the messenger's protocol, and hands each request to what answers it.
 *
 * Its keys live as long as it does: a client that comes back with one is known. One client at a time may use a key, and others may read with it.
 */
import { Long } from "@mtcute/core"
import * as net from "node:net"
import { type Answerer, Centre, type Key, type Span } from "./Centre.ts"
import { Connection } from "./Connection.ts"
import { type Fault, Refusal } from "./Faults.ts"
import { type Word, write } from "./Words.ts"

export type { Answer, Answerer, Key, Span } from "./Centre.ts"
export { Refusal }

export interface DataCentre {
  readonly port: number
  readonly publicKey: string
  /** What is to happen; what has happened as often as it was to is gone. */
  readonly faults: Array<Fault>
  /** The keys that are known. */
  readonly keys: ReadonlyMap<string, Key>
  /** Tells all sessions of the key something that they did not ask for. */
  readonly push: (key: Key, update: Word) => void
  /** Does not know the key any more: for good, or until it is remembered. */
  readonly forget: (key: Key) => void
  readonly remember: (key: Key) => void
  /** Cuts the connections of a key, or all. */
  readonly cut: (key?: Key) => void
  readonly connections: (key: Key) => number
  /** How many packets have come under the key, and how many connections there have been at all. */
  readonly packets: (key: Key) => number
  readonly accepted: () => number
  /** The number of keys that a connection uses now. */
  readonly open: () => number
  /** The times in which connections used their keys. */
  readonly spans: ReadonlyArray<Span>
  /** Takes no connections for a while, and cuts those that there are. */
  readonly down: () => Promise<void>
  readonly up: () => Promise<void>
  /** Makes a key that was agreed on elsewhere known. */
  readonly know: (secret: Buffer) => Key
  readonly close: () => Promise<void>
}

/** Starts a data centre on a free port of loopback. */
export const start = async (answerer: Answerer): Promise<DataCentre> => {
  const centre = new Centre(answerer)
  const of = (key?: Key) => [...centre.connections].filter(({ session }) => key === undefined || session?.key === key)
  const listen = (port: number) => {
    const server = net.createServer({ noDelay: true }, (socket) => {
      centre.accepted += 1
      centre.connections.add(new Connection(socket, centre))
    })
    return new Promise<net.Server>((resolve, reject) =>
      server.once("error", reject).listen({ port, host: "127.0.0.1", backlog: 4096 }, () => resolve(server))
    )
  }
  const shut = (server: net.Server) =>
    new Promise<void>((closed) => {
      server.close(() => closed())
      for (const connection of of()) connection.cut()
    })
  let server = await listen(0)
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    port,
    publicKey: centre.identity.publicKey,
    faults: centre.faults,
    keys: centre.keys,
    push: (key, update) => {
      for (const connection of of(key)) {
        if (!connection.isReading) connection.send(connection.session!, write(update), "push", true)
      }
    },
    forget: ({ id }) => centre.forgotten.add(id),
    remember: ({ id }) => centre.forgotten.delete(id),
    cut: (key) => {
      for (const connection of of(key)) connection.cut()
    },
    connections: (key) => of(key).length,
    packets: ({ id }) => centre.packets.get(id) ?? 0,
    accepted: () => centre.accepted,
    open: () => new Set([...centre.connections].flatMap(({ session }) => session?.key ?? [])).size,
    spans: centre.spans,
    know: (secret) => centre.add({ key: secret, salt: Long.fromNumber(1) }),
    down: () => shut(server),
    up: async () => void (server = await listen(port)),
    close: () => shut(server)
  }
}
