/** The keys of a data centre, the connections that use them, and its answers to what is asked with them. */
import type { Long } from "@mtcute/core"
import * as Cipher from "./Cipher.ts"
import type { Connection } from "./Connection.ts"
import { type Fault, Refusal } from "./Faults.ts"
import * as Handshake from "./Handshake.ts"
import { type Word, write, writeAnswer } from "./Words.ts"

/** A client's key, and who asks with it; whoever answers keeps what belongs to it in `of`. */
export interface Key {
  readonly id: string
  readonly secret: Buffer
  readonly salt: Long
  /** When it was agreed on, as `performance.now()` says. */
  readonly made: number
  readonly of: { [member: string]: any }
}

export type Answer = Word | ReadonlyArray<Word> | boolean

/** Who answers; a `Refusal` is told as one, and whatever else is thrown as an error of the platform. */
export interface Answerer {
  readonly answer: (key: Key, request: Word) => Promise<Answer>
  /** The last connection of the key is gone. */
  readonly gone: (key: Key) => void
}

/** The time that a connection used a key: from its first packet until it was gone, by the host's clock. */
export interface Span {
  readonly key: Key
  readonly from: number
  until: number
}

export class Centre {
  readonly identity = Handshake.makeIdentity()
  readonly keys = new Map<string, Key>()
  readonly forgotten = new Set<string>()
  readonly faults: Array<Fault> = []
  readonly connections = new Set<Connection>()
  readonly packets = new Map<string, number>()
  /** The connection that has used a key last, and those that another one has followed. */
  readonly latest = new Map<string, Connection>()
  readonly followed = new WeakSet<Connection>()
  readonly spans: Array<Span> = []
  readonly #open = new Map<Connection, Span>()
  accepted = 0
  readonly #answerer: Answerer

  constructor(answerer: Answerer) {
    this.#answerer = answerer
  }

  add({ key, salt }: Handshake.Agreed): Key {
    const id = Cipher.sha1(key).subarray(-8).toString("hex")
    const made = { id, secret: key, salt, made: performance.now(), of: {} }
    this.keys.set(id, made)
    return made
  }

  /** A key is dead once a connection goes on that another one has followed: the platform takes it as stolen. */
  used(connection: Connection, key: Key): void {
    const latest = this.latest.get(key.id)
    if (latest === connection) return
    if (this.followed.has(connection)) key.of["duplicated"] = true
    if (latest !== undefined) this.followed.add(latest)
    this.latest.set(key.id, connection)
    const span = { key, from: Date.now(), until: Infinity }
    this.#open.set(connection, span)
    this.spans.push(span)
  }

  gone(connection: Connection): void {
    this.connections.delete(connection)
    const span = this.#open.get(connection)
    if (span !== undefined) span.until = Date.now()
    this.#open.delete(connection)
    const key = connection.session?.key
    if (key !== undefined && ![...this.connections].some(({ session }) => session?.key === key)) {
      this.#answerer.gone(key)
    }
  }

  async answer(
    key: Key,
    request: Word,
    instead: Refusal | { readonly answers: Word } | undefined
  ): Promise<Uint8Array> {
    try {
      if (instead instanceof Refusal) throw instead
      if (instead !== undefined) return write(instead.answers)
      if (key.of["duplicated"] === true) throw new Refusal(406, "AUTH_KEY_DUPLICATED")
      return writeAnswer(await this.#answerer.answer(key, request))
    } catch (error) {
      const [errorCode, errorMessage] = error instanceof Refusal ? [error.code, error.message] : [500, "INTERNAL"]
      return write({ _: "mt_rpc_error", errorCode, errorMessage })
    }
  }
}
