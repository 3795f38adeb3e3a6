/** A listener between a client and PostgreSQL, which hears what the client asks. */
import * as net from "node:net"

/** What was asked since it was last told. */
export interface Heard {
  /** Each statement as often as it ran, on one line, in its order. */
  readonly statements: ReadonlyArray<string>
  /** How often the client sent statements; what it sends at once counts once. */
  readonly sent: number
}

export interface Wire {
  /** The address of the database through this listener. */
  readonly url: string
  readonly take: () => Heard
  readonly close: () => void
}

const oneLine = (sql: string): string =>
  sql.replaceAll(/\s+/g, " ").replaceAll(/ ?([()]) ?/g, "$1").replace(/;$/, "").trim()

/** The text up to its zero byte, and what follows it. */
const textIn = (bytes: Buffer): readonly [text: string, rest: Buffer] => {
  const end = bytes.indexOf(0)
  return [bytes.toString("utf8", 0, end), bytes.subarray(end + 1)]
}

/** Protocol version 3.0, with which the messages that carry their type begin. */
const startUp = 196_608

/** Reads one client's messages; the names of prepared statements are its connection's own. */
const reader = (ran: (sql: string) => void) => {
  const prepared = new Map<string, string>()
  let pending = Buffer.alloc(0)
  let started = false
  const message = (type: string, body: Buffer) => {
    const [first, rest] = textIn(body)
    if (type === "Q") ran(first)
    if (type === "P") prepared.set(first, textIn(rest)[0])
    if (type === "B") ran(prepared.get(textIn(rest)[0]) ?? "")
  }
  return (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    while (pending.length >= (started ? 5 : 8)) {
      const length = pending.readInt32BE(started ? 1 : 0) + (started ? 1 : 0)
      if (pending.length < length) return
      if (started) message(String.fromCharCode(pending[0] ?? 0), pending.subarray(5, length))
      else started = pending.readInt32BE(4) === startUp
      pending = pending.subarray(length)
    }
  }
}

/** Milliseconds that the listener waits for what is sent at once, from when it is first asked what it heard. */
const together = 5

/** Listens in front of the database. */
export const listen = async (databaseUrl: string): Promise<Wire> => {
  const target = new URL(databaseUrl)
  let statements: Array<string> = []
  let sent = 0
  let counted = 0
  let asked = false
  const server = net.createServer((client) => {
    const database = net.connect(Number(target.port), target.hostname)
    const read = reader((sql) => statements.push(oneLine(sql)))
    let held: Array<Buffer> = []
    const forward = () => {
      if (statements.length > counted) sent++
      counted = statements.length
      database.write(Buffer.concat(held))
      held = []
    }
    client.on("data", (chunk) => {
      read(chunk)
      held.push(chunk)
      if (!asked) forward()
      else if (held.length === 1) setTimeout(forward, together)
    })
    client.on("end", () => setTimeout(() => database.end(), together))
    database.pipe(client)
    for (const socket of [client, database]) {
      socket.setNoDelay(true)
      socket.on("error", () => {
        client.destroy()
        database.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const url = new URL(databaseUrl)
  url.port = String(typeof address === "object" && address !== null ? address.port : 0)
  return {
    url: url.href,
    take: () => {
      asked = true
      const heard = { statements, sent }
      statements = []
      sent = 0
      counted = 0
      return heard
    },
    close: () => server.close()
  }
}
