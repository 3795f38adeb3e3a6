/** The requests of one connection: served one after another, and read no further ahead than a few of them. */
import { Effect, Latch } from "effect"
import type * as http from "node:http"
import type { Duplex } from "node:stream"
import { type AnswerLimits, Backlog } from "./Backlog.ts"

/** The number of requests of a connection that may be unanswered before no more are read from it. */
export const maxOutstanding = 16

/**
 * The number of bytes after which the next end of a head ends what is parsed at a time, so that not all requests of
 * what has been read begin together; a body, in which no head ends, is parsed whole.
 */
const pieceSize = 512
const headEnd = "\r\n\r\n"

const pieceOf = (bytes: Buffer): Buffer => {
  const end = bytes.indexOf(headEnd, pieceSize - headEnd.length, "latin1")
  return end === -1 ? bytes : bytes.subarray(0, end + headEnd.length)
}

/** A response that is owed, and the latch that opens when it is finished, if something waits for that. */
interface OwedResponse {
  readonly response: http.ServerResponse
  done: Latch.Latch | undefined
}

/** The requests that a connection still owes an answer, and the bytes that have not been parsed. */
export class Pipeline {
  /**
   * In the order of their requests. A Map or a Set leads from what it held before to what it holds now, so that one
   * whose members change with each request keeps answered ones in memory until a full collection.
   */
  readonly #owed: Array<OwedResponse> = []
  readonly #socket: Duplex
  readonly #backlog: Backlog
  readonly #parse: (piece: Uint8Array) => void
  #unparsed: Buffer = Buffer.alloc(0)
  #holding = false
  #stopped = false

  /** Takes the place between the socket and the parser that Node has put behind it. */
  constructor(socket: Duplex) {
    const listeners = socket.listeners("data")
    this.#socket = socket
    this.#backlog = new Backlog(socket)
    this.#parse = (piece) => {
      for (const listener of listeners) Reflect.apply(listener, socket, [piece])
    }
    socket.removeAllListeners("data")
    socket.on("data", (chunk: Buffer) => {
      this.#unparsed = this.#unparsed.length === 0 ? chunk : Buffer.concat([this.#unparsed, chunk])
      this.#advance()
    })
    // Reading a request's body resumes the socket, and it may be too early for more requests.
    socket.on("resume", () => this.#advance())
    socket.once("close", () => {
      for (const { done } of this.#owed) done?.openUnsafe()
    })
  }

  /** Parses what has been read until enough requests are outstanding, or Node wants no more for now. */
  #advance(): void {
    while (!this.#stopped && !this.#socket.isPaused()) {
      if (this.#owed.length >= maxOutstanding) {
        this.#holding = true
        this.#socket.pause()
      } else if (this.#unparsed.length === 0) {
        return
      } else {
        const piece = pieceOf(this.#unparsed)
        this.#unparsed = this.#unparsed.subarray(piece.length)
        this.#parse(piece)
      }
    }
  }

  /** The responses that are owed now, in the order of their requests. */
  get owed(): ReadonlyArray<http.ServerResponse> {
    return this.#owed.map(({ response }) => response)
  }

  #indexOf(response: http.ServerResponse): number {
    return this.#owed.findIndex((owed) => owed.response === response)
  }

  /** Adds a request that has arrived. */
  add(response: http.ServerResponse): void {
    this.#owed.push({ response, done: undefined })
  }

  /** Takes a response off that is done with. */
  remove(response: http.ServerResponse): void {
    const index = this.#indexOf(response)
    const [removed] = index === -1 ? [] : this.#owed.splice(index, 1)
    removed?.done?.openUnsafe()
    if (this.#holding && this.#owed.length < maxOutstanding) {
      this.#holding = false
      this.#socket.resume()
    }
  }

  /** The response to the request before this one, where it is still owed. */
  before(response: http.ServerResponse): http.ServerResponse | undefined {
    return this.#owed[this.#indexOf(response) - 1]?.response
  }

  /** Waits until the response is done with, if it is still owed. */
  whenDone(response: http.ServerResponse): Effect.Effect<void> {
    const owed = this.#owed[this.#indexOf(response)]
    if (owed === undefined) return Effect.void
    owed.done ??= Latch.makeUnsafe()
    return owed.done.await
  }

  /** True once its client has had its time to take the answer that is being written. */
  isExhausted(limits: AnswerLimits): boolean {
    return this.#backlog.isExhausted(this.#owed[0]?.response, limits)
  }

  /** Parses nothing more; whatever else arrives is read and dropped. */
  stop(): void {
    this.#stopped = true
    this.#unparsed = Buffer.alloc(0)
    this.#socket.removeAllListeners("data").on("data", () => {}).resume()
  }
}
