/** A server of PostgreSQL's protocol that answers each statement with its parameter, and breaks where the test wants it. */
import { Buffer } from "node:buffer"
import { Duplex } from "node:stream"

/** What happens before the message of that number: status messages are sent, or the stream is broken. */
export interface Event {
  readonly at: number
  readonly what: "statusMessages" | "garbage" | "ready" | "copy" | "fatal" | "closed" | "endless"
}

const text = (value: string): Buffer => Buffer.from(`${value}\0`)

const numbers = (size: 2 | 4, ...values: ReadonlyArray<number>): Buffer => {
  const bytes = Buffer.alloc(size * values.length)
  values.forEach((value, index) => bytes.writeIntBE(value, index * size, size))
  return bytes
}

const message = (type: string, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), numbers(4, 4 + body.length), body])
}

const error = (code: string, severity = "ERROR"): Buffer =>
  message("E", text(`S${severity}`), text(`V${severity}`), text(`C${code}`), text("Mno"), Buffer.alloc(1))

const ready = message("Z", Buffer.from("I"))
const welcome = Buffer.concat([message("R", numbers(4, 0)), message("K", numbers(4, 7, 7)), ready])
const description = message(
  "T",
  numbers(2, 1),
  text("answer"),
  numbers(4, 0),
  numbers(2, 0),
  numbers(4, 25),
  numbers(2, -1),
  numbers(4, -1),
  numbers(2, 1)
)

const events: Record<Event["what"], Buffer> = {
  statusMessages: Buffer.concat([
    message("N", text("SNOTICE"), text("C00000"), text("Mnews"), Buffer.alloc(1)),
    message("S", text("TimeZone"), text("UTC")),
    message("A", numbers(4, 7), text("channel"), text("payload"))
  ]),
  garbage: Buffer.from("Z\0\0\0\u0002"),
  ready,
  copy: message("G", Buffer.alloc(1), numbers(2, 0)),
  fatal: error("57P01", "FATAL"),
  closed: Buffer.alloc(0),
  endless: Buffer.from("D\x7f\xff\xff\xff", "latin1")
}

const codes: Record<string, string> = { parse: "42601", bind: "22P02", execute: "22012" }

export class ScriptedServer extends Duplex {
  /** The texts that it knows by name. */
  readonly statements = new Map<string, string>()
  /** The names of those whose plan the schema has outlived. */
  readonly outlived = new Set<string>()
  /** All texts that it has received. */
  readonly parsed: Array<string> = []
  /** What it executed, up to each Sync. */
  readonly cycles: Array<ReadonlyArray<string>> = []
  broken = false
  readonly #sizes: ReadonlyArray<number>
  readonly #events: ReadonlyArray<Event>
  #rest = Buffer.alloc(0)
  #started = false
  #skipping = false
  #executed: Array<string> = []
  #bound: { readonly text: string; readonly value: Uint8Array } = { text: "", value: Buffer.alloc(0) }
  #sent = 0
  #pieces = 0
  #answer: Array<Buffer> = []

  /** Its answers are cut into pieces of these sizes, again and again. */
  constructor(sizes: ReadonlyArray<number>, events: ReadonlyArray<Event>) {
    super()
    this.#sizes = sizes
    this.#events = events
  }

  override _read() {}

  override _write(chunk: Buffer, _encoding: string, callback: () => void) {
    this.#rest = Buffer.concat([this.#rest, chunk])
    for (;;) {
      const at = this.#started ? 1 : 0
      if (this.#rest.length < at + 4) break
      const length = at + this.#rest.readUInt32BE(at)
      if (this.#rest.length < length) break
      const given = this.#rest.subarray(0, length)
      this.#rest = this.#rest.subarray(length)
      if (this.#started) this.#take(String.fromCharCode(given[0] ?? 0), given.subarray(5))
      else this.push(welcome)
      this.#started = true
    }
    this.#deliver()
    callback()
  }

  #take(type: string, body: Buffer): void {
    if (type === "S") {
      this.#skipping = false
      this.cycles.push(this.#executed)
      this.#executed = []
      return this.#say(ready)
    }
    if (this.#skipping) return
    const first = body.toString("utf8", 0, body.indexOf(0))
    const rest = body.subarray(first.length + 1)
    switch (type) {
      case "P": {
        const query = rest.toString("utf8", 0, rest.indexOf(0))
        this.parsed.push(query)
        if (this.#refuses(query, "parse")) return
        this.statements.set(first, query)
        return this.#say(message("1"))
      }
      case "B": {
        const name = rest.toString("utf8", 0, rest.indexOf(0))
        const query = this.statements.get(name)
        if (query === undefined) return this.#refuse("26000")
        if (this.outlived.has(name)) return this.#refuse("0A000")
        if (this.#refuses(query, "bind")) return
        // One format for all and one parameter, or neither.
        const parameter = rest.subarray(name.length + 1 + 6)
        const length = parameter.length < 8 ? 0 : parameter.readInt32BE(0)
        this.#bound = { text: query, value: parameter.subarray(4, 4 + length) }
        return this.#say(message("2"))
      }
      case "D":
        return this.#say(description)
      case "E":
        this.#executed.push(this.#bound.text)
        if (this.#refuses(this.#bound.text, "execute")) return
        this.#say(message("D", numbers(2, 1), numbers(4, this.#bound.value.length), this.#bound.value))
        return this.#say(message("C", text("SELECT 1")))
      case "C":
        this.statements.delete(body.toString("utf8", 1, body.length - 1))
        return this.#say(message("3"))
    }
  }

  #refuses(query: string, step: string): boolean {
    if (!query.startsWith(`bad ${step}`)) return false
    this.#refuse(codes[step] ?? "")
    return true
  }

  #refuse(code: string): void {
    this.#skipping = true
    this.#say(error(code))
  }

  #say(answer: Buffer): void {
    for (const { at, what } of this.#events) {
      if (at !== this.#sent || this.broken) continue
      this.#answer.push(events[what])
      this.broken = what !== "statusMessages"
    }
    this.#sent++
    if (!this.broken) this.#answer.push(answer)
  }

  #deliver(): void {
    let answer = Buffer.concat(this.#answer)
    this.#answer = []
    while (answer.length > 0) {
      const size = this.#sizes[this.#pieces++ % this.#sizes.length] ?? 1
      this.push(answer.subarray(0, size))
      answer = answer.subarray(size)
    }
    // What reads well for a while is silent after that, until it ends.
    if (this.broken && this.#events.some(({ what }) => what === "closed" || what === "ready")) {
      setImmediate(() => this.destroy())
    }
  }
}
