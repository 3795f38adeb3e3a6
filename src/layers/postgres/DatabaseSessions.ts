/** The sessions that a client's statements run on: one of their own, or one that others use too. */
import type { PgConnection } from "@effect/sql-pg"
import { Clock, Effect, type Queue, type Scope, Stream } from "effect"
import { type SqlConnection, SqlError } from "effect/sql"
import type { Deadline, Statement, StatementResult } from "./protocol/Cycle.ts"
import * as Failures from "./protocol/ServerFailures.ts"
import type { Placement, WireSession } from "./protocol/ServerSession.ts"
import type { Slot } from "./protocol/SharedSession.ts"

/** Sessions are kept and abandoned by the host's clock, whatever time the service goes by. */
export const hostClock = Clock.Clock.defaultValue()

/** The time that BEGIN, COMMIT, ROLLBACK and savepoints may take, in milliseconds; no interruption reaches them. */
const controlTime = 5000
const isControl = /^(?:BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/

const controlled = (): Deadline => ({
  clock: hostClock,
  at: hostClock.currentTimeMillisUnsafe() + controlTime,
  final: true
})

const statementOf = (text: string, values: ReadonlyArray<unknown>, named = true): Statement => ({ text, values, named })

const aborted = () => {
  const message = "COMMIT rolled back an aborted transaction"
  return new SqlError.SqlError({
    reason: new SqlError.UnknownError({ cause: new Error(message), message, operation: "commit" })
  })
}

/** The connection as statements need it, whatever it is made of. */
abstract class Link implements SqlConnection.Connection {
  abstract query(statement: Statement): Effect.Effect<StatementResult, SqlError.SqlError>

  execute(sql: string, params: ReadonlyArray<unknown>): ReturnType<SqlConnection.Connection["execute"]> {
    return Effect.map(this.query(statementOf(sql, params)), ({ rows }) => rows)
  }

  executeUnprepared(sql: string, params: ReadonlyArray<unknown>) {
    return Effect.map(this.query(statementOf(sql, params, false)), ({ rows }) => rows)
  }

  executeRaw(sql: string, params: ReadonlyArray<unknown>) {
    return this.query(statementOf(sql, params))
  }

  executeValues(sql: string, params: ReadonlyArray<unknown>) {
    return Effect.map(this.execute(sql, params), (rows) => rows.map((row) => Object.values(row)))
  }

  executeValuesUnprepared(sql: string, params: ReadonlyArray<unknown>) {
    return Effect.map(this.executeUnprepared(sql, params), (rows) => rows.map((row) => Object.values(row)))
  }

  /** The rows are collected before the first of them is handed on. */
  executeStream(sql: string, params: ReadonlyArray<unknown>) {
    return Stream.fromIterableEffect(this.execute(sql, params))
  }
}

/** A session of one's own: for one borrower, until it is given back. */
export class Own extends Link {
  readonly #session: WireSession
  /** The statements that begin the organization's transaction, until they are sent. */
  #beginning: ReadonlyArray<Statement> = []
  /** The statements that travel with the next one that is waited for. */
  #posted: Array<Statement> = []
  #failure: SqlError.SqlError | undefined
  #deadline: Deadline | undefined
  /** The organization whose transaction is open. */
  organizationId: string | undefined

  constructor(session: WireSession) {
    super()
    this.#session = session
  }

  /** Begins a transaction of the organization, with the first statement that is sent. */
  begin(organizationId: string, settings: Statement, deadline: Deadline | undefined): void {
    this.organizationId = organizationId
    this.#beginning = [statementOf("BEGIN", []), settings]
    this.#deadline = deadline
  }

  query(statement: Statement): Effect.Effect<StatementResult, SqlError.SqlError> {
    if (this.#failure !== undefined) return Effect.fail(this.#failure)
    const control = isControl.test(statement.text)
    // If several fail together, the first that was posted may be at fault, and nothing more may be sent behind it.
    const isLast = control || this.#posted.length > 0
    const answered = this.#run(statement, control ? controlled() : this.#deadline)
    if (this.organizationId === undefined && !control) return answered
    return Effect.onInterrupt(
      Effect.mapError(answered, (error) => this.#failed(error, isLast)),
      () =>
        Effect.sync(() => {
          this.#failure ??= Failures.lost("A statement of the transaction was given up")
        })
    )
  }

  /**
   * The first failure is reported. Without a transaction, because its beginning has failed, nothing may be sent that
   * was meant to be inside it.
   */
  #failed(error: SqlError.SqlError, isLast: boolean): SqlError.SqlError {
    if (this.#failure === undefined && (isLast || !this.#session.isInTransaction)) this.#failure = error
    return this.#failure ?? error
  }

  get #isBegun(): boolean {
    return this.#beginning.length === 0
  }

  /** Has the statement travel with the next one that is waited for, which fails with it, or with the COMMIT. */
  post(statement: Statement): void {
    this.#posted.push(statement)
  }

  #run(statement: Statement, deadline: Deadline | undefined): Effect.Effect<StatementResult, SqlError.SqlError> {
    const statements = [...this.#beginning, ...this.#posted, statement]
    this.#beginning = []
    this.#posted = []
    return this.#session.run(statements, deadline, false)
  }

  /**
   * Commits, where anything was asked.
   *
   * PostgreSQL answers the COMMIT of an aborted transaction with success and the tag `ROLLBACK`. What failed here alone
   * has not aborted it there.
   */
  get commit(): Effect.Effect<void, SqlError.SqlError> {
    return Effect.suspend(() => {
      if (!this.#isBegun && this.#posted.length === 0) return Effect.void
      if (this.#failure !== undefined) return Effect.andThen(this.rollback, Effect.fail(this.#failure))
      return Effect.matchEffect(this.#run(statementOf("COMMIT", []), controlled()), {
        onFailure: (error) => Effect.andThen(this.rollback, Effect.fail(error)),
        onSuccess: ({ command }) => command === "ROLLBACK" ? Effect.fail(aborted()) : Effect.void
      })
    })
  }

  /** Rolls back, where anything was sent. */
  get rollback(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#posted = []
      return this.#isBegun && !this.#session.isLost
        ? Effect.ignore(this.#run(statementOf("ROLLBACK", []), controlled()))
        : Effect.void
    })
  }
}

/** The placement of statements that keep to one session, as long as it answers. */
interface KeptPlacement extends Placement {
  slot: Slot | undefined
}

/** Statements that are each a transaction of their own, on a session that others use too. */
export class SharedLink extends Link {
  readonly #access: Access
  readonly #before: (named: boolean) => ReadonlyArray<Statement>
  readonly #deadline: Deadline | undefined
  /** The organization whose rows they see; null where there is none. */
  readonly organizationId: string | null
  /** Those that are asked for at once travel together. */
  readonly #place: KeptPlacement = { slot: undefined, cycle: undefined }

  constructor(
    access: Access,
    organizationId: string | null,
    before: (named: boolean) => ReadonlyArray<Statement>,
    deadline: Deadline | undefined
  ) {
    super()
    this.#access = access
    this.organizationId = organizationId
    this.#before = before
    this.#deadline = deadline
  }

  query(statement: Statement): Effect.Effect<StatementResult, SqlError.SqlError> {
    const { named } = statement
    // One that is planned for its values does not go where another has settled how plans are made.
    const place = this.organizationId === null || !named ? undefined : this.#place
    const statements = [...this.#before(named), statement]
    return this.#access.use((session) => session.run(statements, this.#deadline, true, place), place)
  }

  /** Runs the statements as one message; none of them needs what another answers. */
  executeAll(
    asked: ReadonlyArray<readonly [text: string, values: ReadonlyArray<unknown>]>
  ): Effect.Effect<ReadonlyArray<ReadonlyArray<object>>, SqlError.SqlError> {
    const statements = [...this.#before(true), ...asked.map(([text, values]) => statementOf(text, values))]
    const answered = this.#access.use(
      (session) => session.runAll(statements, asked.length, this.#deadline, this.#place),
      this.#place
    )
    return Effect.map(answered, (results) => results.map(({ rows }) => rows))
  }
}

/** Notifications, until the session is lost. */
export type NotificationQueue = Queue.Dequeue<PgConnection.Notification, SqlError.SqlError>

/** The use of a client's sessions. */
export interface Access {
  /** True if statements share sessions; where they do not, each waits for its turn. */
  readonly shares: boolean
  /** Runs on a session that others use too. */
  use<A>(
    run: (session: WireSession) => Effect.Effect<A, SqlError.SqlError>,
    kept?: KeptPlacement
  ): Effect.Effect<A, SqlError.SqlError>
  /** Opens a session that hears what is notified on a channel; undefined where no other session can be. */
  readonly listen: ((channel: string) => Effect.Effect<NotificationQueue, SqlError.SqlError, Scope.Scope>) | undefined
  /** A session of one's own. */
  readonly lend: Effect.Effect<Own, SqlError.SqlError, Scope.Scope>
  /** Calls back once the deadline is over, unless what it answers was called before. */
  watch(deadline: Deadline, late: () => void): () => void
}
