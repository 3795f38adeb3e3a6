/** The requests of one connection: served one after another, and read no further ahead than a few of them. */
import { Latch } from "effect"
import type * as http from "node:http"
import type { Duplex } from "node:stream"

/** How many requests of a connection may be unanswered before no more are read from it. */
export const maxOutstanding = 16

/**
 * Behind how many bytes the next end of a head ends what is parsed at a time, so that not all requests of what has been
 * read begin at once; a body, in which no head ends, is parsed whole.
 */
const pieceSize = 512
const headEnd = "\r\n\r\n"

const pieceOf = (bytes: Buffer): Buffer => {
  const end = bytes.indexOf(headEnd, pieceSize - headEnd.length, "latin1")
  return end === -1 ? bytes : bytes.subarray(0, end + headEnd.length)
}

/** What a connection still owes, and what of it has not been parsed. */
export class Pipeline {
  /** The responses that are owed, in the order of their requests; each latch opens when one is done with. */
  readonly owed = new Map<http.ServerResponse, Latch.Latch>()
  readonly #predecessors = new WeakMap<http.ServerResponse, Latch.Latch>()
  readonly #socket: Duplex
  readonly #parse: (piece: Uint8Array) => void
  #last: Latch.Latch | undefined
  #unparsed: Buffer = Buffer.alloc(0)
  #holding = false
  #stopped = false

  /** Takes the place between the socket and the parser that Node has put behind it. */
  constructor(socket: Duplex) {
    const listeners = socket.listeners("data")
    this.#socket = socket
    this.#parse = (piece) => {
      for (const listener of listeners) Reflect.apply(listener, socket, [piece])
    }
    socket.removeAllListeners("data")
    socket.on("data", (chunk: Buffer) => {
      this.#unparsed = this.#unparsed.length === 0 ? chunk : Buffer.concat([this.#unparsed, chunk])
      this.#advance()
    })
    // Whoever reads a request's body resumes the socket, and it may be too early for more requests.
    socket.on("resume", () => this.#advance())
    socket.once("close", () => {
      for (const done of this.owed.values()) done.openUnsafe()
    })
  }

  /** Parses what has been read until enough requests are outstanding, or Node wants no more for now. */
  #advance(): void {
    while (!this.#stopped && !this.#socket.isPaused()) {
      if (this.owed.size >= maxOutstanding) {
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

  /** Adds a request that has arrived. */
  add(response: http.ServerResponse): void {
    if (this.#last !== undefined) this.#predecessors.set(response, this.#last)
    const done = Latch.makeUnsafe()
    this.#last = done
    this.owed.set(response, done)
    response.once("close", () => {
      this.owed.delete(response)
      done.openUnsafe()
      if (this.#holding && this.owed.size < maxOutstanding) {
        this.#holding = false
        this.#socket.resume()
      }
    })
  }

  /** What opens when the request before this one has been answered; undefined for the first. */
  before(response: http.ServerResponse): Latch.Latch | undefined {
    return this.#predecessors.get(response)
  }

  /** Parses nothing more; whatever else arrives is read and dropped. */
  stop(): void {
    this.#stopped = true
    this.#unparsed = Buffer.alloc(0)
    this.#socket.removeAllListeners("data").on("data", () => {}).resume()
  }
}
