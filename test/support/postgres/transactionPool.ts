/**
 * A proxy that lends a session of the server for each transaction, as PgBouncer does with `pool_mode = transaction`: a
 * client that goes on after one is given another session, as long as there is one.
 */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import * as net from "node:net"
import { Duplex } from "node:stream"

/** The parameters of a start that PgBouncer passes on; others are refused. */
const passedOn = new Set(["user", "database", "client_encoding", "application_name"])

const message = (type: string, ...parts: ReadonlyArray<Buffer>): Buffer => {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(5, type)
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
const text = (value: string) => Buffer.from(`${value}\0`)
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** Hands on whole messages; `startup` is the first one, which has no type. */
const messagesOf = (startup: (body: Buffer) => void, each: (type: string, whole: Buffer) => void, started: boolean) => {
  let rest = Buffer.alloc(0)
  let isStarted = started
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const at = isStarted ? 1 : 0
      if (rest.length < at + 4) return
      const length = at + rest.readInt32BE(at)
      if (rest.length < length) return
      const whole = rest.subarray(0, length)
      rest = rest.subarray(length)
      if (isStarted) each(String.fromCharCode(whole[0] ?? 0), whole)
      else {
        isStarted = true
        startup(whole.subarray(4))
      }
    }
  }
}

interface Session {
  readonly socket: Duplex
  client: Client | undefined
}

interface Client {
  readonly socket: net.Socket
  /** Messages that no session has, and how many of the client's Syncs have no answer. */
  waiting: Array<Buffer>
  unanswered: number
  session: Session | undefined
}

const socketOf = (connection: PgConnection.PgConnection): Duplex => {
  const session: unknown = Reflect.get(connection, "session")
  const socket: unknown = typeof session === "object" && session !== null ? Reflect.get(session, "socket") : undefined
  if (!(socket instanceof Duplex)) throw new Error("The library keeps its socket elsewhere")
  return socket
}

/** Starts it in front of a database, with so many sessions; answers its address. */
export const transactionPool = Effect.fnUntraced(function*(database: string, size: number) {
  const free: Array<Session> = []
  const queue: Array<Client> = []
  let lent = 0

  const lend = () => {
    while (free.length > 0 && queue.length > 0) {
      const session = free.shift()!
      const client = queue.shift()!
      session.client = client
      client.session = session
      lent++
      for (const bytes of client.waiting.splice(0)) session.socket.write(bytes)
    }
  }
  const release = (session: Session) => {
    if (session.client !== undefined) session.client.session = undefined
    session.client = undefined
    free.push(session)
    lend()
  }

  for (let place = 0; place < size; place++) {
    const connection = yield* PgConnection.make({ url: Redacted.make(database) })
    const socket = socketOf(connection)
    const session: Session = { socket, client: undefined }
    socket.removeAllListeners("data")
    socket.on(
      "data",
      messagesOf(() => {}, (type, whole) => {
        const { client } = session
        if (client === undefined) return
        client.socket.write(whole)
        if (type !== "Z") return
        client.unanswered--
        if (client.unanswered === 0 && whole[5] === 0x49) release(session)
      }, true)
    )
    free.push(session)
  }

  const sockets = new Set<net.Socket>()
  const server = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    const client: Client = { socket, waiting: [], unanswered: 0, session: undefined }
    const refuse = (reason: string) =>
      socket.end(message("E", text("SFATAL"), text("C08P01"), text(`M${reason}`), Buffer.alloc(1)))
    socket.on("error", () => {}).on("close", () => sockets.delete(socket))
    socket.on(
      "data",
      messagesOf((start) => {
        if (start.readInt32BE(0) !== 196_608) return socket.end()
        const words = start.subarray(4).toString().split("\0")
        const unknown = words.find((word, place) => place % 2 === 0 && word !== "" && !passedOn.has(word))
        if (unknown !== undefined) return refuse(`unsupported startup parameter: ${unknown}`)
        socket.write(Buffer.concat([
          message("R", int32(0)),
          message("S", text("client_encoding"), text("UTF8")),
          message("S", text("server_version"), text("15.0")),
          message("K", int32(1), int32(1)),
          message("Z", Buffer.from("I"))
        ]))
      }, (type, whole) => {
        if (type === "X") return socket.end()
        if (type === "S" || type === "Q") client.unanswered++
        if (client.session !== undefined) return client.session.socket.write(whole)
        if (client.waiting.push(whole) === 1) queue.push(client)
        lend()
      }, false)
    )
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.sync(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      })
  )
  const address = server.address()
  const url = new URL(database)
  url.hostname = "127.0.0.1"
  url.port = String(typeof address === "object" ? address?.port : "")
  return { url: url.href, transactions: () => lent }
})
