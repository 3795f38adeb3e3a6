/** A client that writes bytes to a socket and reads answers from it, for what no HTTP client can be made to send. */
import { Effect, type Scope } from "effect"
import * as net from "node:net"

/** One answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: any
}

/** An open connection, its answers read in order. */
export interface Connection {
  write(data: string | Uint8Array): void
  /** The next final answer; `head` says that it answers HEAD and has no body. Fails when the server closes before. */
  answer(head?: boolean): Effect.Effect<WireAnswer>
  /** Waits for these characters to arrive, and takes everything up to their end. */
  until(text: string): Effect.Effect<string>
  /** Ends when the server has closed the connection; answers what was left unread. */
  readonly closed: Effect.Effect<string>
  /** Ends when nothing is left of the connection; whether the server has reset it. */
  readonly gone: Effect.Effect<"closed" | "reset">
  /** Reads about so many more bytes and then none; without a limit, everything is read. */
  limit(bytes: number): void
  /** The bytes that have been read, taken or not. */
  received(): number
  /** True once the server has closed or reset the connection; without reading, only a reset is noticed. */
  isOver(): boolean
  /** Says that nothing more will be written. */
  end(): void
  /** Goes away without a word. */
  readonly abort: () => void
}

const parse = (text: string, head: boolean): { readonly answer: WireAnswer; readonly rest: string } | undefined => {
  const end = text.indexOf("\r\n\r\n")
  if (end === -1) return undefined
  const [first = "", ...lines] = text.slice(0, end).split("\r\n")
  const headers = new Headers(lines.map((line): [string, string] => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  }))
  const length = head || first.startsWith("HTTP/1.1 204") ? 0 : Number(headers.get("content-length") ?? 0)
  const start = end + 4
  if (text.length < start + length) return undefined
  const content = text.slice(start, start + length)
  return {
    answer: {
      status: Number(first.split(" ")[1]),
      headers,
      text: content,
      body: content.startsWith("{") ? JSON.parse(content) : undefined
    },
    rest: text.slice(start + length)
  }
}

/** Opens a connection that is gone when the scope closes. */
export const connect = (port: number, localAddress = "127.0.0.1"): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.gen(function*() {
    const socket = yield* Effect.acquireRelease(
      Effect.callback<net.Socket>((resume) => {
        const socket = net.connect({ port, host: "127.0.0.1", localAddress, allowHalfOpen: true })
        socket.once("connect", () => resume(Effect.succeed(socket)))
        socket.once("error", (error) => resume(Effect.die(error)))
      }),
      (socket) => Effect.sync(() => socket.destroy())
    )
    let received = ""
    let bytes = 0
    let allowed = Infinity
    let over = false
    let gone: "closed" | "reset" | undefined
    const waiting = new Set<() => void>()
    const wake = () => {
      for (const check of waiting) check()
    }
    // One character for each byte, so that lengths count bytes.
    socket.setEncoding("latin1").on("data", (data) => {
      received += data
      bytes += data.length
      if (bytes >= allowed) socket.pause()
      wake()
    })
    for (const event of ["end", "close", "error"] as const) {
      socket.on(event, () => {
        over = true
        wake()
      })
    }
    socket.on("close", (failed) => {
      gone = failed ? "reset" : "closed"
      wake()
    })
    const isGone = () => gone
    const take = <A>(what: string, attempt: () => A | undefined) =>
      Effect.callback<A>((resume) => {
        const check = () => {
          const taken = attempt()
          if (taken === undefined && (!over || attempt === isGone)) return
          waiting.delete(check)
          resume(
            taken === undefined
              ? Effect.die(new Error(`The connection ended before ${what}: ${JSON.stringify(received.slice(0, 1000))}`))
              : Effect.succeed(taken)
          )
        }
        waiting.add(check)
        check()
        return Effect.sync(() => waiting.delete(check))
      })
    return {
      write: (data) => {
        socket.write(data)
      },
      answer: (head = false) =>
        take("an answer", () => {
          const parsed = parse(received, head)
          if (parsed === undefined) return undefined
          received = parsed.rest
          return parsed.answer
        }),
      until: (text) =>
        take(text, () => {
          const at = received.indexOf(text)
          if (at === -1) return undefined
          const taken = received.slice(0, at + text.length)
          received = received.slice(at + text.length)
          return taken
        }),
      closed: take("its end", () => over ? received : undefined),
      gone: take("its end", isGone),
      limit: (most) => {
        allowed = bytes + most
        if (most === 0) socket.pause()
        else socket.resume()
      },
      received: () => bytes,
      isOver: () => over,
      end: () => {
        socket.end()
      },
      abort: () => {
        socket.destroy()
      }
    }
  })

/** A request in bytes: the host that tests serve, the lines given, and the body with its length. */
export const request = (line: string, headers: ReadonlyArray<string> = [], body?: string) =>
  [
    `${line} HTTP/1.1`,
    "Host: localhost",
    ...headers,
    ...(body === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`]),
    "",
    body ?? ""
  ].join("\r\n")
