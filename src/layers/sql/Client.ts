/** The one `SqlClient` over sessions of PostgreSQL, whether a server or the embedded database answers them. */
import { PgClient, PgConnection, PgPool } from "@effect/sql-pg"
import { Clock, Context, Effect, type Queue, type Scope, Stream } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import type { SqlConnection } from "effect/sql"
import * as PoolUsage from "./PoolUsage.ts"
import { type Deadline, type Statement, type StatementResult } from "./wire/Cycle.ts"
import * as Failures from "./wire/Failures.ts"
import { type Placement, WireSession } from "./wire/Session.ts"
import { Shared, type Slot } from "./wire/Shared.ts"

/** How long BEGIN, COMMIT, ROLLBACK and savepoints may take, in milliseconds; no interruption reaches them. */
const controlTime = 5000
const isControl = /^(?:BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/

/** How often it is looked for what is over its time, in milliseconds, while anything is owed. */
const sweepInterval = 250

/** Sessions are kept and given up by the host's clock, whatever time the service goes by. */
const hostClock = Clock.Clock.defaultValue()
const onHostClock = Effect.provideService(Clock.Clock, hostClock)

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

/** What statements need of a connection, whatever it is made of. */
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
  /** What begins the organization's transaction, until it is sent. */
  #beginning: ReadonlyArray<Statement> = []
  /** What travels with the next statement that is waited for. */
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
    // Of what fails together the first that was posted may be at fault, and nothing more may be sent behind it.
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

/** Where statements keep to one session, as long as it answers. */
interface Kept extends Placement {
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
  readonly #place: Kept = { slot: undefined, cycle: undefined }

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
    return this.#access.flush([...this.#before(named), statement], this.#deadline, place)
  }
}

/** What is notified, until the session is lost. */
export type Heard = Queue.Dequeue<PgConnection.Notification, SqlError.SqlError>

/** The ways to a client's sessions. */
export interface Access {
  /** Whether statements share sessions; where they do not, each waits for its turn. */
  readonly shares: boolean
  /** Runs the statements as one transaction, and answers what the last of them answered. */
  flush(
    statements: ReadonlyArray<Statement>,
    deadline: Deadline | undefined,
    kept?: Kept
  ): Effect.Effect<StatementResult, SqlError.SqlError>
  /** Opens a session that hears what is notified on a channel; undefined where no other session can be. */
  readonly listen: ((channel: string) => Effect.Effect<Heard, SqlError.SqlError, Scope.Scope>) | undefined
  /** A session of one's own. */
  readonly lend: Effect.Effect<Own, SqlError.SqlError, Scope.Scope>
  /** Calls back once the deadline is over, unless what it answers was called before. */
  watch(deadline: Deadline, late: () => void): () => void
}

/** Who is to be called once a deadline is over. */
interface Watch extends Deadline {
  readonly late: () => void
  /** Where in the list it is. */
  place: number
}

/** The deadlines that are watched, in no order: a Set would keep what it held before until a full collection. */
class Watches {
  readonly #all: Array<Watch> = []

  add({ at, clock }: Deadline, late: () => void): Watch {
    const watch = { at, clock, late, place: this.#all.length }
    this.#all.push(watch)
    return watch
  }

  /** Answers whether it was still watched. */
  remove(watch: Watch): boolean {
    if (this.#all[watch.place] !== watch) return false
    const last = this.#all.pop()
    if (last !== undefined && last !== watch) {
      this.#all[watch.place] = last
      last.place = watch.place
    }
    return true
  }

  look(): void {
    const over = this.#all.filter(({ at, clock }) => clock.currentTimeMillisUnsafe() >= at)
    for (const watch of over) if (this.remove(watch)) watch.late()
  }
}

const accesses = new WeakMap<SqlClient.SqlClient, Access>()

/** The ways to the sessions of a client that `make` has made. */
export const accessOf = (sql: SqlClient.SqlClient): Access => {
  const access = accesses.get(sql)
  if (access === undefined) throw new Error("A client of another driver")
  return access
}

/** How many of a server's sessions are shared by statements outside transactions. */
const sharedSessions = (maxConnections: number): number =>
  maxConnections < 4 ? 0 : Math.min(4, Math.floor(maxConnections / 2))

/**
 * Makes the client over sessions; `configuration` says how they are opened, `driver` what answers them.
 *
 * A transaction has a session of its own. On a server, other statements share sessions where there are enough: those of
 * requests that come together are written and read together. A statement that nobody waits for any more is cancelled.
 */
export const make = Effect.fnUntraced(function*(driver: "pg" | "pglite", configuration: PgPool.Config) {
  const server = driver === "pg"
  const maxConnections = configuration.maxConnections ?? 10
  const shared = server ? sharedSessions(maxConnections) : 0
  const options = {
    ...configuration,
    maxConnections: maxConnections - shared,
    startupParameters: { timezone: "UTC", ...configuration.startupParameters }
  }
  const scope = yield* Effect.scope
  const pool = yield* onHostClock(PgPool.make(options))
  const known = new WeakMap<PgConnection.PgConnection, WireSession>()
  const open = new Set<WireSession>()
  const runFork = Effect.runForkWith(Context.add(yield* Effect.context<never>(), Clock.Clock, hostClock))

  const sessionOf = (connection: PgConnection.PgConnection): WireSession => {
    const session = known.get(connection)
    if (session !== undefined) return session
    // The library asks by a connection of its own, and its pool lends a session that was cancelled to nobody else.
    const cancel = (asked: () => void) => runFork(Effect.ensuring(connection.interrupt, Effect.sync(asked)))
    const made = new WireSession(connection, server ? cancel : undefined)
    known.set(connection, made)
    open.add(made)
    made.onLost(() => open.delete(made))
    return made
  }

  /** A session that does not come back clean goes to nobody else. */
  const giveBack = (connection: PgConnection.PgConnection, session: WireSession): Effect.Effect<void> =>
    Effect.suspend(() =>
      session.isFree ? Effect.void : Effect.flatMap(session.answered, () => {
        if (session.isFree) return Effect.void
        session.destroy()
        return pool.invalidate(connection)
      })
    )

  const borrowed: Effect.Effect<WireSession, SqlError.SqlError, Scope.Scope> = Effect.flatMap(
    pool.get,
    (connection) => {
      const session = sessionOf(connection)
      return session.isLost
        ? Effect.andThen(pool.invalidate(connection), borrowed)
        : Effect.as(PoolUsage.atEnd(giveBack(connection, session)), session)
    }
  )
  const own = onHostClock(borrowed)
  const common = shared === 0
    ? undefined
    : new Shared(shared, onHostClock(Effect.map(PgConnection.make(options), sessionOf)), scope)

  const watches = new Watches()
  const sweeper = setInterval(() => {
    watches.look()
    for (const session of open) if (session.outstanding > 0) session.sweep()
  }, sweepInterval)
  sweeper.unref()
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      clearInterval(sweeper)
      // Nothing looks after their deadlines any more; the library ends the others.
      for (const session of open) if (session.outstanding > 0) session.destroy()
    })
  )

  const counted = yield* PoolUsage.make(maxConnections, () => common?.sessions ?? [])
  const lend = counted.acquired(Effect.map(own, (session) => new Own(session)))
  const access: Access = {
    shares: common !== undefined,
    flush: (statements, deadline, kept) => {
      const run = (session: WireSession) => session.run(statements, deadline, true, kept)
      if (common === undefined) return Effect.scoped(Effect.flatMap(counted.acquired(own), run))
      return counted.admitted(Effect.suspend(() => {
        const slot = kept?.slot?.serves === true ? kept.slot : common.least
        // Before it is opened: those that are asked for meanwhile wait for the same.
        if (kept !== undefined) kept.slot = slot
        return common.use(slot, run)
      }))
    },
    listen: server
      ? (channel) => onHostClock(Effect.flatMap(PgConnection.make(options), (session) => session.listen(channel)))
      : undefined,
    lend,
    watch: (deadline, late) => {
      const watch = watches.add(deadline, late)
      return () => watches.remove(watch)
    }
  }
  const outside = new SharedLink(access, null, () => [], undefined)
  const client = yield* SqlClient.make({
    driver,
    acquirer: lend,
    borrower: (f) => f(outside),
    transactionAcquirer: lend,
    compiler: PgClient.makeCompiler(),
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    commit: (connection) =>
      connection instanceof Own ? connection.commit : Effect.die(new Error("A connection of another client")),
    spanAttributes: [["db.system.name", "postgresql"]]
  })
  accesses.set(client, access)
  return client
})
