/** A session's prepared statements, and the messages that create them. */
import { PgProtocol, PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import * as Values from "./BinaryValues.ts"
import type { Prepared, Sent, Statement } from "./Cycle.ts"

const encodeBind = PgProtocol.makeBindEncoder(PgTypes.writeParameter, PgTypes.isTextFormat)
const describePortal = PgProtocol.encodeDescribe({ target: "portal", name: "" })
const execute = PgProtocol.encodeExecute({ portal: "", maxRows: 0 })

const close = ({ name }: Prepared): Uint8Array => PgProtocol.encodeClose({ target: "statement", name })

/** The number of statements that a session knows by name; the one that was not used for longest is forgotten first. */
const maxPrepared = 256

export class PreparedStatements {
  /** False where the server's session is another one in each transaction, so that it remembers no name. */
  readonly #isNaming: boolean
  /** By text, which need not be read to be found, and then by the types of the parameters. */
  readonly #known = new Map<string, Map<string, Prepared>>()
  #size = 0
  #names = 0
  #uses = 0

  constructor(isNaming: boolean) {
    this.#isNaming = isNaming
  }

  /**
   * Adds the messages of the statement, with its text where the server has yet to learn it; throws where it cannot be
   * sent.
   */
  encode(statement: Statement, messages: Array<Uint8Array>): Sent {
    const { text, values } = statement
    const named = statement.named && this.#isNaming
    const parameters = values.map(Values.parameter)
    let types = ""
    for (const { oid } of parameters) types += `${oid},`
    const known = named ? this.#known.get(text)?.get(types) : undefined
    const prepared = known ?? { name: named ? `s${++this.#names}` : "", text, types, used: 0, description: undefined }
    prepared.used = ++this.#uses
    const bind = Result.getOrThrow(encodeBind({ portal: "", statement: prepared.name, parameters }))
    if (known === undefined) {
      // It would end the text there, and the server the session.
      if (text.includes("\0")) throw new Error("The text of a statement has a NUL")
      messages.push(Result.getOrThrow(PgProtocol.encodeParse({
        name: prepared.name,
        query: text,
        parameterTypes: parameters.map(({ oid }) => oid)
      })))
      if (named) this.#keep(prepared)
    }
    messages.push(bind)
    // The rows of a statement that another cycle has sent are not known either.
    if (prepared.description === undefined) messages.push(describePortal)
    messages.push(execute)
    return { prepared, parsed: known === undefined }
  }

  /** Names that unsent messages would have taught are not known. */
  unlearn(sent: ReadonlyArray<Sent>): void {
    for (const { parsed, prepared } of sent) if (parsed && prepared.name !== "") this.#drop(prepared)
  }

  /** Has the server forget those that are too many. */
  evict(messages: Array<Uint8Array>): void {
    while (this.#size > maxPrepared) {
      let oldest: Prepared | undefined
      for (const alike of this.#known.values()) {
        for (const prepared of alike.values()) {
          if (oldest === undefined || prepared.used < oldest.used) oldest = prepared
        }
      }
      if (oldest === undefined) return
      this.#drop(oldest)
      messages.push(close(oldest))
    }
  }

  /** Statements that a failed cycle has prepared are forgotten, because it is not known which of them the server has kept. */
  forget(sent: ReadonlyArray<Sent>, code: string | undefined, messages: Array<Uint8Array>): void {
    const stale = code === "26000" || code === "0A000"
    for (const { parsed, prepared } of sent) {
      prepared.description?.fault()
      if ((!parsed && !stale) || this.#known.get(prepared.text)?.get(prepared.types) !== prepared) continue
      this.#drop(prepared)
      messages.push(close(prepared))
    }
  }

  #keep(prepared: Prepared): void {
    const alike = this.#known.get(prepared.text)
    if (alike === undefined) this.#known.set(prepared.text, new Map([[prepared.types, prepared]]))
    else alike.set(prepared.types, prepared)
    this.#size++
  }

  #drop({ text, types }: Prepared): void {
    const alike = this.#known.get(text)
    if (alike?.delete(types) !== true) return
    this.#size--
    if (alike.size === 0) this.#known.delete(text)
  }
}
