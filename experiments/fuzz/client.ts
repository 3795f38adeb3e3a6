/** A client that writes bytes as they are and reads every answer to them, many connections at once. */
import * as net from "node:net"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
}

/** How long an answer may take. */
const timeout = 20_000
/** How long bytes that are no whole request wait for an answer before nothing more is said to come. */
const pause = 60

const dechunked = (bytes: Buffer): { readonly body: Buffer; readonly end: number } | undefined => {
  const parts: Array<Buffer> = []
  let at = 0
  for (;;) {
    const line = bytes.indexOf("\r\n", at)
    if (line === -1) return undefined
    const size = Number.parseInt(bytes.subarray(at, line).toString("latin1"), 16)
    if (bytes.length < line + size + 4) return undefined
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    at = line + size + 4
    if (size === 0) return { body: Buffer.concat(parts), end: at }
  }
}

/** The first final answer in the bytes; `head` says that it has no body. */
const parse = (bytes: Buffer, head: boolean): { readonly answer: Answer; readonly rest: Buffer } | undefined => {
  const end = bytes.indexOf("\r\n\r\n")
  if (end === -1) return undefined
  const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n")
  const status = Number(first.split(" ")[1])
  const headers = new Headers(lines.map((line): [string, string] => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  }))
  const after = bytes.subarray(end + 4)
  if (status >= 100 && status < 200) return parse(after, head)
  const answered = (body: Buffer, length: number) => ({
    answer: { status, headers, body },
    rest: after.subarray(length)
  })
  if (head || status === 204 || status === 304) return answered(Buffer.alloc(0), 0)
  if (headers.get("transfer-encoding") === "chunked") {
    const found = dechunked(after)
    return found === undefined ? undefined : answered(found.body, found.end)
  }
  const length = Number(headers.get("content-length") ?? 0)
  return after.length < length ? undefined : answered(after.subarray(0, length), length)
}

/** One connection, its answers read in order. */
export class Connection {
  readonly #socket: net.Socket
  #received: Buffer = Buffer.alloc(0)
  #over = false
  #wake: () => void = () => {}
  used = false

  private constructor(socket: net.Socket) {
    this.#socket = socket
    socket.on("data", (data: Buffer) => {
      this.#received = this.#received.length === 0 ? data : Buffer.concat([this.#received, data])
      this.#wake()
    })
    for (const event of ["end", "close", "error"] as const) {
      socket.on(event, () => {
        this.#over = true
        this.#wake()
      })
    }
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true })
      socket.once("error", reject)
      socket.once("connect", () => resolve(new Connection(socket)))
    })
  }

  get isOver(): boolean {
    return this.#over
  }

  write(bytes: Uint8Array): void {
    this.used = true
    this.#socket.write(bytes)
  }

  /** The next answer; undefined when the server has closed, or nothing has come in time. */
  async answer(head = false, time = timeout): Promise<Answer | undefined> {
    const deadline = Date.now() + time
    for (;;) {
      const parsed = parse(this.#received, head)
      if (parsed !== undefined) {
        this.#received = parsed.rest
        return parsed.answer
      }
      const left = deadline - Date.now()
      if (this.#over || left <= 0) return undefined
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  /** Says that nothing more will be written. */
  end(): void {
    this.#socket.end()
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** Sends bytes on a connection of their own, and answers everything that comes until it is closed. */
export const sendRaw = async (port: number, bytes: Uint8Array, incomplete: boolean) => {
  const connection = await Connection.open(port)
  const answers: Array<Answer> = []
  const head = Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "HEAD "
  connection.write(bytes)
  let ended = false
  let closed = true
  for (;;) {
    const answer = await connection.answer(head, incomplete && !ended ? pause : timeout)
    if (answer !== undefined) {
      answers.push(answer)
      continue
    }
    if (connection.isOver) break
    if (ended || !incomplete) {
      closed = false
      break
    }
    ended = true
    connection.end()
  }
  connection.close()
  return { answers, closed }
}

/** Connections that are used again for requests whose framing is sound. */
export class Pool {
  readonly #port: number
  readonly #idle: Array<Connection> = []

  constructor(port: number) {
    this.#port = port
  }

  /** The answer to one request; undefined when none came. */
  async send(bytes: Uint8Array, head: boolean): Promise<Answer | undefined> {
    const connection = this.#take() ?? (await Connection.open(this.#port))
    const again = connection.used
    connection.write(bytes)
    const answer = await connection.answer(head)
    if (answer === undefined) {
      const closed = connection.isOver
      connection.close()
      // The server may close a kept connection at the moment at which it is used again.
      return again && closed ? this.#fresh(bytes, head) : undefined
    }
    if (answer.headers.get("connection") === "close" || connection.isOver) connection.close()
    else this.#idle.push(connection)
    return answer
  }

  async #fresh(bytes: Uint8Array, head: boolean): Promise<Answer | undefined> {
    const connection = await Connection.open(this.#port)
    connection.write(bytes)
    const answer = await connection.answer(head)
    connection.close()
    return answer
  }

  #take(): Connection | undefined {
    for (;;) {
      const connection = this.#idle.pop()
      if (connection?.isOver !== true) return connection
      connection.close()
    }
  }

  close(): void {
    for (const connection of this.#idle) connection.close()
  }
}
