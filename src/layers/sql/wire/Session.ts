/**
 * One session of PostgreSQL, on which several statements travel as one: they are written together, answered together,
 * and outside a transaction hold or fail together (PostgreSQL, "Extended Query" and "Pipelining").
 *
 * The library connects and authenticates, and encodes and parses the messages; what is ours is that a cycle, which is
 * what one Sync ends, has more than one statement.
 */
import { type PgConnection, PgProtocol, PgTypes } from "@effect/sql-pg"
import { type Clock, Effect, Result } from "effect"
import type { SqlError } from "effect/sql"
import { Buffer } from "node:buffer"
import { Duplex } from "node:stream"
import * as Failures from "./Failures.ts"
import * as Values from "./Values.ts"

/** A statement with its values; one that is not `named` is planned for these values and forgotten. */
export interface Statement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
  readonly named: boolean
}

/** What the last statement of a cycle answered. */
export interface Answer {
  readonly rows: ReadonlyArray<Values.Row>
  /** The command's tag, such as `SELECT 1`. */
  readonly command: string
}

/** Until when an answer is waited for, on the clock of whoever waits. */
export interface Deadline {
  readonly clock: Clock.Clock
  readonly at: number
  /** Whether a session that is late with the answer is given up at once. */
  readonly final?: boolean
}

/** A statement that the session knows by a name. */
interface Prepared {
  readonly name: string
  readonly key: string
  /** Undefined until the server has described it, null where it answers no rows. */
  description: Values.Description | null | undefined
}

/** How a statement of a cycle was sent: whether the server has yet to learn its name. */
interface Sent {
  readonly prepared: Prepared
  readonly parsed: boolean
}

/** What is answered together. */
class Cycle {
  readonly statements: ReadonlyArray<Statement>
  readonly sent: ReadonlyArray<Sent>
  readonly deadline: Deadline | undefined
  /** Whether it may be sent once more, because its transaction ends with it and nothing of it has happened. */
  repeatable: boolean
  settle: ((outcome: Result.Result<Answer, SqlError.SqlError>) => void) | undefined
  at = 0
  rows: Array<Values.Row> = []
  command = ""
  failure: SqlError.SqlError | undefined
  code: string | undefined

  constructor(
    statements: ReadonlyArray<Statement>,
    sent: ReadonlyArray<Sent>,
    deadline: Deadline | undefined,
    repeatable: boolean,
    settle: (outcome: Result.Result<Answer, SqlError.SqlError>) => void
  ) {
    this.statements = statements
    this.sent = sent
    this.deadline = deadline
    this.repeatable = repeatable
    this.settle = settle
  }
}

const encodeBind = PgProtocol.makeBindEncoder(PgTypes.writeParameter, PgTypes.isTextFormat)
const describePortal = PgProtocol.encodeDescribe({ target: "portal", name: "" })
const execute = PgProtocol.encodeExecute({ portal: "", maxRows: 0 })
const sync = PgProtocol.encodeSync()

/** How many statements a session knows by name; the one that was not used for longest is forgotten first. */
const maxPrepared = 256

/** How long a session may take to answer what nobody waits for any more before it is given up, in milliseconds. */
const grace = 3000

/** How long after it was sent a cancellation may still meet another statement, in milliseconds. */
const lateCancel = 1000

/** What the library's parser knows: the socket that it has connected and authenticated. */
const socketOf = (connection: PgConnection.PgConnection): Duplex => {
  const session: unknown = Reflect.get(connection, "session")
  const socket: unknown = typeof session === "object" && session !== null ? Reflect.get(session, "socket") : undefined
  if (!(socket instanceof Duplex)) throw new Error("This version of @effect/sql-pg keeps its socket elsewhere")
  return socket
}

/** A session that the library has opened, from here on in our hands; its end is still the library's to notice. */
export class Session {
  readonly processId: number
  readonly #socket: Duplex
  readonly #parser = PgProtocol.makeParser<unknown>()
  readonly #prepared = new Map<string, Prepared>()
  /** Cancels what the session is doing; undefined where nothing can. */
  readonly #cancel: (() => void) | undefined
  #names = 0
  /** What has not been written: messages, and the cycles that they are of. */
  #unwritten: Array<Uint8Array> = []
  #flushing = false
  /** What is to be answered, in its order; those before `#head` have been. */
  #owed: Array<Cycle> = []
  #head = 0
  #lost: SqlError.SqlError | undefined
  readonly #onLost: Array<() => void> = []
  /** Since when, on the host's clock, the session has been asked to leave what nobody waits for. */
  #cancelled: number | undefined
  /** When it was last cancelled. */
  #lastCancel = -Infinity

  constructor(connection: PgConnection.PgConnection, cancel: ((session: Session) => void) | undefined) {
    const socket = socketOf(connection)
    this.processId = connection.processId
    this.#socket = socket
    this.#cancel = cancel === undefined ? undefined : () => cancel(this)
    socket.removeAllListeners("data")
    socket.on("data", this.#onData)
    socket.once("close", () => this.#end(Failures.lost("The connection is closed")))
    socket.once("error", (error) => this.#end(Failures.lost(error.message)))
    if (socket.destroyed) this.#end(Failures.lost("The connection is closed"))
  }

  /** How many cycles have not been answered. */
  get outstanding(): number {
    return this.#owed.length - this.#head
  }

  /** Whether it answers nothing any more. */
  get isLost(): boolean {
    return this.#lost !== undefined
  }

  /** Whether it still has to leave something that nobody waits for. */
  get isDoubtful(): boolean {
    return this.#cancelled !== undefined
  }

  /** Calls back when it answers nothing any more. */
  onLost(callback: () => void): void {
    if (this.#lost === undefined) this.#onLost.push(callback)
    else callback()
  }

  /** Sends the statements as one, and answers what the last of them answered. */
  run(
    statements: ReadonlyArray<Statement>,
    deadline: Deadline | undefined,
    repeatable: boolean
  ): Effect.Effect<Answer, SqlError.SqlError> {
    return Effect.callback((resume) => {
      const cycle = this.#submit(statements, deadline, repeatable, (outcome) => {
        resume(Result.isSuccess(outcome) ? Effect.succeed(outcome.success) : Effect.fail(outcome.failure))
      })
      if (cycle === undefined) return
      this.flush()
      return Effect.sync(() => this.#abandon(cycle))
    })
  }

  /** Sends the statements with whatever is sent next, and says how that went. */
  post(
    statements: ReadonlyArray<Statement>,
    deadline: Deadline | undefined,
    settle: (outcome: Result.Result<Answer, SqlError.SqlError>) => void
  ): void {
    this.#submit(statements, deadline, false, settle)
  }

  #submit(
    statements: ReadonlyArray<Statement>,
    deadline: Deadline | undefined,
    repeatable: boolean,
    settle: (outcome: Result.Result<Answer, SqlError.SqlError>) => void
  ): Cycle | undefined {
    if (this.#lost !== undefined) {
      settle(Result.fail(this.#lost))
      return undefined
    }
    const messages: Array<Uint8Array> = []
    const sent: Array<Sent> = []
    try {
      for (const statement of statements) sent.push(this.#encode(statement, messages))
    } catch (cause) {
      for (const { parsed, prepared } of sent) if (parsed) this.#prepared.delete(prepared.key)
      settle(Result.fail(Failures.unsendable(cause)))
      return undefined
    }
    messages.push(sync)
    const cycle = new Cycle(statements, sent, deadline, repeatable, settle)
    this.#unwritten.push(...messages)
    this.#owed.push(cycle)
    return cycle
  }

  #encode({ named, text, values }: Statement, messages: Array<Uint8Array>): Sent {
    const parameters = values.map(Values.parameter)
    let types = ""
    for (const { oid } of parameters) types += `${oid},`
    const key = `${types}${text}`
    let prepared = named ? this.#prepared.get(key) : undefined
    const parsed = prepared === undefined
    if (prepared === undefined) {
      prepared = { name: named ? `s${++this.#names}` : "", key, description: undefined }
      messages.push(Result.getOrThrow(PgProtocol.encodeParse({
        name: prepared.name,
        query: text,
        parameterTypes: parameters.map(({ oid }) => oid)
      })))
    }
    messages.push(Result.getOrThrow(encodeBind({ portal: "", statement: prepared.name, parameters })))
    // The rows of one that is on its way in another cycle are not known either.
    if (prepared.description === undefined) messages.push(describePortal)
    messages.push(execute)
    if (parsed && named) this.#know(prepared, messages)
    return { prepared, parsed }
  }

  /** Keeps the statement, and forgets another where there are too many. */
  #know(prepared: Prepared, messages: Array<Uint8Array>): void {
    this.#prepared.set(prepared.key, prepared)
    if (this.#prepared.size <= maxPrepared) return
    for (const [key, { name }] of this.#prepared) {
      this.#prepared.delete(key)
      messages.push(PgProtocol.encodeClose({ target: "statement", name }))
      return
    }
  }

  /** Writes what has been submitted in this turn. */
  flush(): void {
    if (this.#flushing) return
    this.#flushing = true
    queueMicrotask(this.#write)
  }

  readonly #write = () => {
    this.#flushing = false
    const messages = this.#unwritten
    if (messages.length === 0 || this.#lost !== undefined) return
    this.#unwritten = []
    this.#socket.write(Buffer.concat(messages))
  }

  /** Nobody waits for it any more: the server leaves it as soon as it is about it. */
  #abandon(cycle: Cycle): void {
    if (cycle.settle === undefined) return
    cycle.settle = undefined
    if (this.#owed[this.#head] === cycle) this.#leave()
  }

  #leave(): void {
    const now = Date.now()
    this.#cancelled ??= now
    this.#lastCancel = now
    this.#cancel?.()
  }

  /** Ends what is over its time, and the session where it does not answer; called again and again while it is owed. */
  sweep(): void {
    for (let index = this.#head; index < this.#owed.length; index++) {
      const cycle = this.#owed[index]
      if (cycle?.deadline === undefined || cycle.settle === undefined) continue
      if (cycle.deadline.clock.currentTimeMillisUnsafe() < cycle.deadline.at) continue
      const { settle } = cycle
      this.#abandon(cycle)
      settle(Result.fail(Failures.lost("The database did not answer in time")))
      if (cycle.deadline.final === true) return this.destroy()
    }
    if (this.#cancelled !== undefined && Date.now() - this.#cancelled > grace) this.destroy()
  }

  /** Gives the session up. */
  destroy(): void {
    this.#end(Failures.lost("The session was given up"))
    this.#socket.destroy()
  }

  #end(error: SqlError.SqlError): void {
    if (this.#lost !== undefined) return
    this.#lost = error
    const owed = this.#owed.slice(this.#head)
    this.#owed = []
    this.#head = 0
    this.#unwritten = []
    for (const { settle } of owed) settle?.(Result.fail(error))
    for (const callback of this.#onLost) callback()
  }

  readonly #onData = (chunk: Uint8Array) => {
    try {
      this.#parser.pushEach(chunk, this.#onMessage)
    } catch (cause) {
      this.#end(Failures.lost(`The server's answer cannot be read: ${String(cause)}`))
      this.#socket.destroy()
    }
  }

  readonly #onMessage = (message: PgProtocol.BackendMessage<unknown>): void => {
    const cycle = this.#owed[this.#head]
    if (cycle === undefined) {
      // An idle session is told of its end, and of settings that have changed.
      if (message._tag === "ErrorResponse") this.#end(Failures.refused(message.fields))
      return
    }
    const sent = cycle.sent[cycle.at]
    switch (message._tag) {
      case "BindComplete":
        this.#parser.readField = sent?.prepared.description?.read
        return
      case "RowDescription":
        if (sent !== undefined) sent.prepared.description = Values.describe(message.fields)
        this.#parser.readField = sent?.prepared.description?.read
        return
      case "NoData":
        if (sent !== undefined) sent.prepared.description = null
        return
      case "DataRow": {
        const row = sent?.prepared.description?.row
        if (row === undefined) throw new Error("a row of a statement without rows")
        if (cycle.at === cycle.sent.length - 1) cycle.rows.push(row(message.values))
        return
      }
      case "CommandComplete":
        cycle.command = message.commandTag
        this.#check(cycle, sent)
        cycle.at++
        return
      case "EmptyQueryResponse":
        cycle.at++
        return
      case "ErrorResponse":
        cycle.failure ??= Failures.refused(message.fields)
        cycle.code ??= message.fields.code
        return
      case "ReadyForQuery":
        this.#ready(cycle, message.status)
        return
      case "ParseComplete":
      case "CloseComplete":
      case "NoticeResponse":
      case "NotificationResponse":
      case "ParameterStatus":
        return
      default:
        throw new Error(`an unexpected ${message._tag}`)
    }
  }

  #check(cycle: Cycle, sent: Sent | undefined): void {
    const fault = sent?.prepared.description?.fault()
    if (fault !== undefined) cycle.failure ??= Failures.unreadable(fault)
  }

  /** The head is answered whole. */
  #ready(cycle: Cycle, status: PgProtocol.TransactionStatus): void {
    this.#head++
    if (this.#head === this.#owed.length) {
      this.#owed = []
      this.#head = 0
    }
    const wasLeft = this.#cancelled !== undefined && cycle.settle === undefined
    const { failure, settle } = cycle
    if (failure === undefined) {
      settle?.(Result.succeed(cycle))
    } else {
      this.#forget(cycle)
      if (settle !== undefined) {
        if (cycle.repeatable && status === "I" && this.#isNoFault(cycle)) this.#repeat(cycle, settle)
        else settle(Result.fail(failure))
      }
    }
    if (wasLeft) this.#cancelled = undefined
    const next = this.#owed[this.#head]
    if (next !== undefined && next.settle === undefined) this.#leave()
  }

  /** Statements of a cycle that failed are not known: which of them the server has kept is not said. */
  #forget({ code, sent }: Cycle): void {
    const stale = code === "26000" || code === "0A000"
    for (const { parsed, prepared } of sent) {
      if ((!parsed && !stale) || prepared.name === "") continue
      if (this.#prepared.get(prepared.key) !== prepared) continue
      this.#prepared.delete(prepared.key)
      this.#unwritten.push(PgProtocol.encodeClose({ target: "statement", name: prepared.name }))
    }
  }

  /** A plan that the schema has outlived, and a cancellation that was meant for another, are no fault of the statement. */
  #isNoFault({ code, sent }: Cycle): boolean {
    return code === "26000" || (code === "0A000" && sent.some(({ parsed }) => !parsed)) ||
      (code === "57014" && Date.now() - this.#lastCancel < lateCancel)
  }

  #repeat({ deadline, statements }: Cycle, settle: (outcome: Result.Result<Answer, SqlError.SqlError>) => void): void {
    if (this.#submit(statements, deadline, false, settle) !== undefined) this.flush()
  }
}
