/**
 * One session of PostgreSQL, on which several statements travel as one: they are written together, answered together,
 * and outside a transaction hold or fail together (PostgreSQL, "Extended Query" and "Pipelining").
 *
 * The library connects and authenticates, and encodes and parses the messages; what is ours is that a cycle, which is
 * what one Sync ends, has more than one statement.
 */
import { type PgConnection, PgProtocol } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import type { SqlError } from "effect/sql"
import { Buffer } from "node:buffer"
import { Duplex } from "node:stream"
import * as Values from "./BinaryValues.ts"
import {
  Cycle,
  type Deadline,
  PendingStatement,
  type Sent,
  type Settle,
  type Statement,
  type StatementResult
} from "./Cycle.ts"
import { PreparedStatements } from "./PreparedStatements.ts"
import * as Failures from "./ServerFailures.ts"
import { atEnd } from "./TurnEnd.ts"

const sync = PgProtocol.encodeSync()

/** The time that a session may take to cancel an interrupted statement before it is abandoned, in milliseconds. */
const grace = 3000

/** The time after the server took it that a cancellation may still meet another statement, in milliseconds. */
const lateCancel = 1000

/** The place for statements that are asked for together. */
export interface Placement {
  /** The cycle that they were sent in last. */
  cycle: Cycle | undefined
}

/** The socket that the library has connected and authenticated. */
const socketOf = (connection: PgConnection.PgConnection): Duplex => {
  const session: unknown = Reflect.get(connection, "session")
  const socket: unknown = typeof session === "object" && session !== null ? Reflect.get(session, "socket") : undefined
  if (!(socket instanceof Duplex)) throw new Error("This version of @effect/sql-pg keeps its socket elsewhere")
  return socket
}

/** A session that the library has opened, from here on in our hands; its end is still the library's to notice. */
export class WireSession {
  readonly #socket: Duplex
  readonly #parser = PgProtocol.makeParser<unknown>()
  readonly #prepared: PreparedStatements
  /** Asks the server to cancel what the session is doing, and answers when that was; undefined if the session cannot be cancelled. */
  readonly #cancel: ((asked: () => void) => void) | undefined
  /** Messages that have not been written. */
  #unwritten: Array<Uint8Array> = []
  #flushing = false
  /** The cycles to be answered, in their order. */
  #owed: Array<Cycle> = []
  #status: PgProtocol.TransactionStatus = "I"
  #lost: SqlError.SqlError | undefined
  readonly #onLost: Array<() => void> = []
  #onAnswered: (() => void) | undefined
  /** The time, by the host's clock, at which the cancelling of an interrupted statement was requested. */
  #cancelled: number | undefined
  /** The number of cancellations on their way, and the time that the last of the others arrived. */
  #cancelling = 0
  #lastCancel = -Infinity

  constructor(
    connection: PgConnection.PgConnection,
    cancel: ((asked: () => void) => void) | undefined,
    isNaming = true
  ) {
    this.#prepared = new PreparedStatements(isNaming)
    const socket = socketOf(connection)
    this.#socket = socket
    this.#cancel = cancel
    socket.removeAllListeners("data")
    socket.on("data", this.#onData)
    socket.once("close", () => this.#end(Failures.lost("The connection is closed")))
    socket.once("error", (error) => this.#end(Failures.lost(error.message)))
    if (socket.destroyed) this.#end(Failures.lost("The connection is closed"))
  }

  /** The number of cycles that have not been answered. */
  get outstanding(): number {
    return this.#owed.length
  }

  /** True if it answers nothing any more. */
  get isLost(): boolean {
    return this.#lost !== undefined
  }

  /** True if the session still runs an interrupted statement. */
  get isDoubtful(): boolean {
    return this.#cancelled !== undefined
  }

  /** True if a transaction was open, or failed and not rolled back, at the last answer. */
  get isInTransaction(): boolean {
    return this.#status !== "I"
  }

  /**
   * True if the session may be used again: no answer is outstanding, and no cancelling can affect the next statement.
   */
  get isFree(): boolean {
    return this.#lost === undefined && this.outstanding === 0 && this.#status === "I" && this.#cancelling === 0
  }

  /** Calls back when it answers nothing any more. */
  onLost(callback: () => void): void {
    if (this.#lost === undefined) this.#onLost.push(callback)
    else callback()
  }

  /** Ends when it owes nothing. */
  get answered(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      if (this.outstanding === 0) return resume(Effect.void)
      this.#onAnswered = () => resume(Effect.void)
      this.flush()
    })
  }

  /**
   * Sends the statements as one, and answers what the last of them answered. That one alone is sent where the place's
   * last cycle has all the others, and waits to be written.
   */
  run(
    statements: ReadonlyArray<Statement>,
    deadline: Deadline | undefined,
    repeatable: boolean,
    place?: Placement
  ): Effect.Effect<StatementResult, SqlError.SqlError> {
    return Effect.callback((resume) => {
      const settle: Settle = (outcome) =>
        resume(Result.isSuccess(outcome) ? Effect.succeed(outcome.success) : Effect.fail(outcome.failure))
      const last = statements.at(-1)
      const open = place?.cycle
      if (open !== undefined && last !== undefined && this.#isOpen(open)) {
        const asked = this.#join(open, last, settle)
        return Effect.sync(() => this.#abandon(open, asked))
      }
      return this.#send(new Cycle(statements, deadline, repeatable, settle), place)
    })
  }

  /** Sends the statements as one, and answers what each of the last `asked` answered. */
  runAll(
    statements: ReadonlyArray<Statement>,
    asked: number,
    deadline: Deadline | undefined,
    place: Placement
  ): Effect.Effect<ReadonlyArray<StatementResult>, SqlError.SqlError> {
    return Effect.callback((resume) => {
      const settle: Settle = (outcome) =>
        resume(Result.isSuccess(outcome) ? Effect.succeed(own) : Effect.fail(outcome.failure))
      const cycle = new Cycle(statements, deadline, true, settle, asked)
      const own = cycle.asked.slice()
      return this.#send(cycle, place)
    })
  }

  /** Sends a new cycle; what it answers gives it up. */
  #send(cycle: Cycle, place: Placement | undefined): Effect.Effect<void> {
    // Others may join it later.
    const own = cycle.asked.slice()
    if (place !== undefined) place.cycle = cycle
    this.#submit(cycle)
    this.flush()
    return Effect.sync(() => this.#abandon(cycle, ...own))
  }

  /** True if it is the last that is owed, with its Sync the last of what is to be written. */
  #isOpen(cycle: Cycle): boolean {
    return this.#owed.at(-1) === cycle && this.#unwritten.at(-1) === sync && cycle.isAwaited && !cycle.isRepeated
  }

  #join(cycle: Cycle, statement: Statement, settle: Settle): PendingStatement {
    const asked = new PendingStatement(settle)
    const messages = this.#unwritten
    messages.pop()
    const before = messages.length
    try {
      cycle.sent.push(this.#prepared.encode(statement, messages))
      cycle.statements.push(statement)
      cycle.asked.push(asked)
    } catch (cause) {
      messages.length = before
      settle(Result.fail(Failures.unsendable(cause)))
    }
    messages.push(sync)
    return asked
  }

  #submit(cycle: Cycle): void {
    if (this.#lost !== undefined) return cycle.fail(this.#lost)
    const messages = this.#unwritten
    const before = messages.length
    const sent: Array<Sent> = []
    try {
      // A repeated cycle relies on nothing that another cycle has to teach the server.
      for (const statement of cycle.statements) {
        sent.push(this.#prepared.encode(cycle.isRepeated ? { ...statement, named: false } : statement, messages))
      }
    } catch (cause) {
      messages.length = before
      this.#prepared.unlearn(sent)
      return cycle.fail(Failures.unsendable(cause))
    }
    messages.push(sync)
    cycle.sent = sent
    this.#owed.push(cycle)
    // After the Sync, where no failure makes the server skip it.
    this.#prepared.evict(messages)
  }

  /** Writes what is submitted in this turn of the event loop, by whatever requests it has read. */
  flush(): void {
    if (this.#flushing) return
    this.#flushing = true
    atEnd("written", this.#write)
  }

  readonly #write = () => {
    this.#flushing = false
    const messages = this.#unwritten
    if (messages.length === 0 || this.#lost !== undefined) return
    this.#unwritten = []
    this.#socket.write(Buffer.concat(messages))
  }

  /** Nobody waits for it any more: the server leaves it as soon as it is about it. */
  #abandon(cycle: Cycle, ...left: ReadonlyArray<PendingStatement | undefined>): void {
    if (!cycle.isAwaited) return
    for (const asked of left) if (asked !== undefined) asked.settle = undefined
    if (!cycle.isAwaited && this.#owed[0] === cycle) this.#leave()
  }

  #leave(): void {
    this.#cancelled ??= Date.now()
    if (this.#cancel === undefined) return
    this.#cancelling++
    this.#cancel(() => {
      this.#cancelling--
      this.#lastCancel = Date.now()
    })
  }

  /** Ends what is over its time, and the session where it does not answer; called again and again while it is owed. */
  sweep(): void {
    for (const cycle of this.#owed) {
      if (cycle.deadline === undefined || !cycle.isAwaited) continue
      if (cycle.deadline.clock.currentTimeMillisUnsafe() < cycle.deadline.at) continue
      const waiting = cycle.asked.map(({ settle }) => settle)
      this.#abandon(cycle, ...cycle.asked)
      for (const settle of waiting) settle?.(Result.fail(Failures.lost("The database did not answer in time")))
      if (cycle.deadline.final === true) return this.destroy()
    }
    if (this.#cancelled !== undefined && Date.now() - this.#cancelled > grace) this.destroy()
  }

  /** Gives the session up. */
  destroy(): void {
    this.#lose(Failures.lost("The session was given up"))
  }

  #lose(error: SqlError.SqlError): void {
    this.#end(error)
    this.#socket.destroy()
  }

  #end(error: SqlError.SqlError): void {
    if (this.#lost !== undefined) return
    this.#lost = error
    const owed = this.#owed
    this.#owed = []
    this.#unwritten = []
    for (const cycle of owed) cycle.fail(error)
    for (const callback of this.#onLost) callback()
    this.#onAnswered?.()
  }

  readonly #onData = (chunk: Uint8Array) => {
    try {
      this.#parser.pushEach(chunk, this.#onMessage)
    } catch (cause) {
      this.#lose(Failures.lost(`The server's answer cannot be read: ${String(cause)}`))
    }
  }

  readonly #onMessage = (message: PgProtocol.BackendMessage<unknown>): void => {
    if (this.#lost !== undefined) return
    const cycle = this.#owed[0]
    const sent = cycle?.sent[cycle.at]
    switch (message._tag) {
      case "ParseComplete":
      case "CloseComplete":
      case "NoticeResponse":
      case "NotificationResponse":
      case "ParameterStatus":
        return
      case "ErrorResponse":
        // An idle session gets the reason of its end.
        if (cycle === undefined || isFatal(message.fields)) return this.#lose(Failures.refused(message.fields))
        cycle.failure ??= Failures.refused(message.fields)
        cycle.code ??= message.fields.code
        return
      case "ReadyForQuery":
        if (cycle === undefined || (cycle.failure === undefined && sent !== undefined)) break
        return this.#ready(cycle, message.status)
    }
    if (cycle === undefined || sent === undefined) throw new Error(`an unexpected ${message._tag}`)
    const { prepared } = sent
    switch (message._tag) {
      case "BindComplete":
        this.#parser.readField = prepared.description?.read
        return
      case "RowDescription":
        prepared.description = Values.describe(message.fields)
        this.#parser.readField = prepared.description.read
        return
      case "NoData":
        prepared.description = null
        return
      case "DataRow": {
        const row = prepared.description?.row
        if (row === undefined) throw new Error("a row of a statement without rows")
        cycle.answering?.rows.push(row(message.values))
        return
      }
      case "CommandComplete": {
        const { answering } = cycle
        if (answering !== undefined) answering.command = message.commandTag
        const fault = prepared.description?.fault()
        if (fault !== undefined) cycle.failure ??= Failures.unreadable(fault)
        cycle.at++
        return
      }
      case "EmptyQueryResponse":
        cycle.at++
        return
      default:
        throw new Error(`an unexpected ${message._tag}`)
    }
  }

  /** The head is answered whole. */
  #ready(cycle: Cycle, status: PgProtocol.TransactionStatus): void {
    this.#status = status
    // An answer belongs to its request alone: a session that always owes something would keep them all.
    this.#owed.shift()
    const isAwaited = cycle.isAwaited
    if (!isAwaited) this.#cancelled = undefined
    const { failure } = cycle
    if (failure === undefined) {
      for (const asked of cycle.asked) asked.settle?.(Result.succeed(asked))
    } else {
      this.#prepared.forget(cycle.sent, cycle.code, this.#unwritten)
      if (cycle.repeatable && isAwaited && status === "I" && this.#isNoFault(cycle)) {
        cycle.repeat()
        this.#submit(cycle)
        this.flush()
      } else {
        cycle.fail(failure)
      }
    }
    const next = this.#owed[0]
    if (next === undefined) this.#onAnswered?.()
    else if (!next.isAwaited) this.#leave()
  }

  /**
   * A plan that the schema has outlived, and a cancellation that was meant for another, are no fault of the statement.
   */
  #isNoFault({ code, sent }: Cycle): boolean {
    return code === "26000" || (code === "0A000" && sent.some(({ parsed }) => !parsed)) ||
      (code === "57014" && (this.#cancelling > 0 || Date.now() - this.#lastCancel < lateCancel))
  }
}

/** True if the server ends the session with it. */
const isFatal = ({ severity, severityUnlocalized = severity }: PgProtocol.ErrorFields): boolean =>
  severityUnlocalized === "FATAL" || severityUnlocalized === "PANIC"
