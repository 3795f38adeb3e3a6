/** A way to a PostgreSQL server that can be cut exactly at a COMMIT. */
import { Effect } from "effect"
import * as net from "node:net"

/**
 * Where the next COMMIT is cut: before it reaches the server, after the server has answered it, or on its way, so that
 * the session stays open with the COMMIT held back until it is let go.
 */
export type Cut = "before" | "after" | "held"

export interface Cuttable {
  /** The address of the database by this way. */
  readonly url: string
  /** Cuts at the next COMMIT; `away` says whether later connections are refused. */
  readonly arm: (cut: Cut, options?: { readonly away?: boolean }) => void
  /** Ends when the COMMIT has been cut. */
  readonly done: Effect.Effect<void>
  /** Lets a COMMIT go that is held back. */
  readonly letGo: () => void
  /** Lets connections through again. */
  readonly mend: () => void
}

const text = (message: Buffer, from: number): string => message.toString("latin1", from, message.indexOf(0, from))

/** The messages of a client, one by one: the first ones have no type. */
const reader = (each: (message: Buffer) => void) => {
  let rest = Buffer.alloc(0)
  let started = false
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const at = started ? 1 : 0
      if (rest.length < at + 4) return
      const length = at + rest.readUInt32BE(at)
      if (rest.length < length) return
      const message = rest.subarray(0, length)
      rest = rest.subarray(length)
      started ||= message.readUInt32BE(4) === 196_608
      each(message)
    }
  }
}

/** The server's answer to a COMMIT. */
const committed = Buffer.from("C\0\0\0\u000bCOMMIT\0", "latin1")

/** Opens a way to the database, which is gone when the scope closes. */
export const cuttable = Effect.fnUntraced(function*(database: string) {
  const target = new URL(database)
  const sockets = new Set<net.Socket>()
  let armed: Cut | undefined
  let away = false
  let letGo = () => {}
  let cutDone = () => {}
  const done = new Promise<void>((resolve) => {
    cutDone = resolve
  })
  const server = net.createServer({ noDelay: true }, (near) => {
    if (away) return near.destroy()
    const far = net.connect({ port: Number(target.port), host: target.hostname, noDelay: true })
    const commits = new Set<string>()
    let held: Array<Buffer> | undefined
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on("error", () => {})
    }
    near.on("close", () => held === undefined && far.destroy())
    far.on("close", () => near.destroy())
    near.on(
      "data",
      reader((message) => {
        if (held !== undefined) return held.push(message)
        const type = String.fromCharCode(message[0] ?? 0)
        const name = type === "P" || type === "Q" ? text(message, 5) : ""
        const query = type === "P" ? text(message, 6 + name.length) : name
        if (type === "P" && query === "COMMIT") commits.add(name)
        const isCommit = query === "COMMIT" ||
          type === "B" && commits.has(text(message, 6 + text(message, 5).length))
        if (!isCommit || armed === undefined || armed === "after") return far.write(message)
        const cut = armed
        armed = undefined
        if (cut === "before") far.destroy()
        else {
          const waiting = [message]
          held = waiting
          letGo = () => waiting.splice(0).forEach((each) => far.write(each))
          // What belongs to the COMMIT comes in the same breath.
          setImmediate(() => near.destroy())
        }
        return cutDone()
      })
    )
    far.on("data", (chunk) => {
      if (armed === "after" && chunk.includes(committed)) {
        armed = undefined
        near.destroy()
        return cutDone()
      }
      return near.write(chunk)
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.promise(() => {
        for (const socket of sockets) socket.destroy()
        return new Promise<void>((resolve) => server.close(() => resolve()))
      })
  )
  const address = server.address()
  const url = new URL(database)
  url.hostname = "127.0.0.1"
  url.port = String(address !== null && typeof address === "object" ? address.port : 0)
  const way: Cuttable = {
    url: url.href,
    arm: (cut, options) => {
      armed = cut
      if (options?.away === true) void done.then(() => (away = true))
    },
    done: Effect.promise(() => done),
    letGo: () => letGo(),
    mend: () => {
      away = false
    }
  }
  return way
})
