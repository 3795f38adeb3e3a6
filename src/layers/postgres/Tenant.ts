/** Access to the database: inside one organization, under row level security, or outside any. */
import { Cause, Clock, Context, Duration, Effect, Exit, Fiber, Option, Predicate } from "effect"
import { type SqlClient, type SqlConnection, SqlError, Statement as Statements } from "effect/sql"
import { ServiceUnavailable } from "../../domain/Failure.ts"
import * as Client from "./DatabaseClient.ts"
import * as Outage from "./DatabaseOutage.ts"
import * as Connections from "./DatabaseSessions.ts"
import { QueueFull } from "./PoolUsage.ts"
import type { Deadline, Statement } from "./protocol/Cycle.ts"

/** The time that a transaction or a directory statement may take by default. */
export const defaultDeadline: Duration.Duration = Duration.seconds(10)

/** The time that the answer waits, after the deadline, for the outcome of what has just been interrupted. */
const commitGrace = Duration.seconds(1)

/**
 * SQLSTATEs of a database that cannot answer now: connection exceptions, insufficient resources, shut down or starting,
 * a session ended by its idle limit, a standby that does not write yet.
 */
const away = /^(?:08|53|57P|25P03|25006)/

const isAway = (error: SqlError.SqlError): boolean => {
  const { _tag, cause, operation } = error.reason
  if (operation === "connect") return true
  switch (_tag) {
    case "ConnectionError":
    case "AuthenticationError":
    case "StatementTimeoutError":
    case "LockTimeoutError":
      return true
    default:
      return Predicate.hasProperty(cause, "code") && typeof cause.code === "string" && away.test(cause.code)
  }
}

/** True if the database has rolled the transaction back because others were in its way: repeated, it succeeds. */
const isConflict = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "DeadlockError" || reason._tag === "SerializationError"

/** The error of a reason, whether it failed or died with it. */
const errorOf = (reason: Cause.Reason<unknown>): unknown =>
  Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined

/** True if the database was away, by what an effect outside `transaction` and `directory` ended with. */
export const isAwayIn = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.map(errorOf).some((error) => SqlError.isSqlError(error) && isAway(error))

const isOther = <E>(reason: Cause.Reason<E>): reason is Cause.Reason<Exclude<E, SqlError.SqlError>> =>
  !SqlError.isSqlError(errorOf(reason))

/**
 * Turns a database that is away, and a conflict of transactions, into `ServiceUnavailable`, and every other failure of
 * SQL into a defect.
 */
const mapCause = (sql: SqlClient.SqlClient) =>
<E>(
  cause: Cause.Cause<E>
): Effect.Effect<never, Exclude<E, SqlError.SqlError> | ServiceUnavailable> => {
  for (const reason of cause.reasons) {
    const error = errorOf(reason)
    if (SqlError.isSqlError(error) && (error.reason.cause instanceof QueueFull || isConflict(error))) {
      return Effect.fail(
        new ServiceUnavailable({ message: "The service is busy. Try again in a moment.", retry_after: 1 })
      )
    }
    if (SqlError.isSqlError(error) && isAway(error)) {
      return Effect.andThen(Outage.lost(sql, Outage.reasonOf(error)), Effect.fail(new ServiceUnavailable()))
    }
  }
  return Effect.failCause(Cause.fromReasons(
    cause.reasons.map((reason) => isOther(reason) ? reason : Cause.makeDieReason(errorOf(reason)))
  ))
}

const deadlineIn = (clock: Clock.Clock, deadline: Duration.Input, final: boolean): Deadline => ({
  clock,
  at: clock.currentTimeMillisUnsafe() + Duration.toMillis(Duration.fromInputUnsafe(deadline)),
  final
})

/**
 * Runs the effect in a fiber of its own, so that the answer does not wait for a connection that has stopped answering:
 * what still has to be rolled back goes on behind it.
 */
const within = (sql: SqlClient.SqlClient, deadline: Duration.Input) =>
<A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | ServiceUnavailable, R> =>
  Effect.flatMap(Effect.forkDetach(effect, { startImmediately: true }), (fiber) => {
    const late = Effect.gen(function*() {
      yield* Effect.forkDetach(Fiber.interrupt(fiber), { startImmediately: true })
      // The interruption may have come too late for a COMMIT that was already on its way.
      const exit = yield* Effect.timeoutOption(Fiber.await(fiber), commitGrace)
      if (Option.isSome(exit) && Exit.isSuccess(exit.value)) return exit.value.value
      yield* Outage.lost(sql, `no answer within ${Duration.format(Duration.fromInputUnsafe(deadline))}`)
      return yield* new ServiceUnavailable()
    })
    return Effect.withFiber(({ context }) =>
      Effect.callback<A, E | ServiceUnavailable>((resume) => {
        const until = deadlineIn(Context.get(context, Clock.Clock), deadline, false)
        const leave = Client.accessOf(sql).watch(until, () => resume(late))
        const forget = fiber.addObserver((exit) => {
          leave()
          resume(Exit.isSuccess(exit) ? Effect.as(Outage.answered(sql), exit.value) : exit)
        })
        return Effect.suspend(() => {
          leave()
          forget()
          return Fiber.interrupt(fiber)
        })
      })
    )
  }).pipe(Effect.catchCause(mapCause(sql)))

/** Answers, and records that the database does again where it was away. */
const back = <A>(sql: SqlClient.SqlClient, answer: A): Effect.Effect<A> =>
  Outage.isAway(sql) ? Effect.as(Outage.answered(sql), answer) : Effect.succeed(answer)

/**
 * Runs what asks for one statement at a time: where sessions are shared each has the deadline itself, else the wait for
 * the one session is in it.
 */
const oneByOne = (sql: SqlClient.SqlClient, shares: boolean, deadline: Duration.Input) =>
<A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | ServiceUnavailable, R> =>
  shares
    ? Effect.matchCauseEffect(effect, {
      onFailure: mapCause(sql),
      onSuccess: (answer) => back(sql, answer)
    })
    : within(sql, deadline)(effect)

/** The connection that this fiber's statements use, where it is not any. */
const connectionOf = (
  sql: SqlClient.SqlClient,
  context: Context.Context<never>
): SqlConnection.Connection | undefined => Context.getOrUndefined(context, sql.transactionService)?.[0]

/** True if statements are observed: by a tracer, or by a transformer that rewrites them. */
const isWatched = ({ cache, context }: Fiber.Fiber<unknown, unknown>): boolean =>
  cache.tracer !== undefined || Context.get(context, Statements.CurrentTransformer) !== undefined

/** The permissions of a transaction. */
export interface Options {
  /** One that only reads is one statement after another, each of what is committed when it begins. */
  readonly access?: "read" | "write"
  readonly deadline?: Duration.Input
}

/** The statement that makes a transaction the organization's. */
const tenant = "select set_config('role', 'console_app', true), set_config('console.organization_id', $1, true)"

/** The statement for a transaction that only reads, with how the statements behind it are planned. */
const reading = (plans: "force_custom_plan" | "force_generic_plan") =>
  `${tenant}, set_config('transaction_read_only', 'on', true), set_config('plan_cache_mode', '${plans}', true)`

/** A statement with a name is planned once for all values: planning a page costs as much as reading it. */
const once = reading("force_generic_plan")
const eachTime = reading("force_custom_plan")

/**
 * Runs the effect in one transaction inside the organization, as the role `console_app`.
 *
 * Every statement sees that organization's rows alone, whatever it names. Inside another transaction of the same
 * organization the effect joins it; inside any other transaction it dies. At the deadline the effect is interrupted,
 * its transaction is rolled back, and the answer is `ServiceUnavailable`, as it is when the database is away or ends the
 * transaction because of a deadlock. Any other failure of SQL is a defect.
 *
 * ```ts
 * const accounts = yield* Tenant.transaction(sql, organizationId)(
 *   sql<Row>`select * from account where organization_id = ${organizationId}`
 * )
 * ```
 */
export const transaction = (
  sql: SqlClient.SqlClient,
  organizationId: string,
  { access = "write", deadline = defaultDeadline }: Options = {}
) =>
<A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | ServiceUnavailable, R> =>
  Effect.withFiber((fiber) => {
    const around = connectionOf(sql, fiber.context)
    if (around !== undefined) {
      return (around instanceof Connections.Own || around instanceof Connections.SharedLink) &&
          around.organizationId === organizationId
        ? Effect.catchCause(effect, mapCause(sql))
        : Effect.die(new Error("A transaction of an organization inside another transaction"))
    }
    const ways = Client.accessOf(sql)
    const settings = (text: string): Statement => ({ text, values: [organizationId], named: true })
    const until = deadlineIn(Context.get(fiber.context, Clock.Clock), deadline, access === "write")
    if (access === "read") {
      const connection = new Connections.SharedLink(
        ways,
        organizationId,
        (named) => [settings(named ? once : eachTime)],
        until
      )
      const reading = Effect.provideService(effect, sql.transactionService, [connection, 0])
      return oneByOne(sql, ways.shares, deadline)(reading)
    }
    return within(sql, deadline)(Effect.scoped(Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(ways.lend), (connection) => {
        connection.begin(organizationId, settings(tenant), until)
        return Effect.matchCauseEffect(
          restore(Effect.provideService(effect, sql.transactionService, [connection, 0])),
          {
            onFailure: (cause) => Effect.andThen(connection.rollback, Effect.failCause(cause)),
            onSuccess: (answer) => Effect.as(connection.commit, answer)
          }
        )
      })
    )))
  })

/**
 * Sends a statement of the open transaction without waiting for what it answers: it travels with the next one that is
 * waited for, or with the COMMIT, which fails if it has. Where it is waited for all the same, its failure is a defect.
 */
export const post = (sql: SqlClient.SqlClient) => (statement: Statements.Statement<unknown>): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const connection = connectionOf(sql, fiber.context)
    if (!(connection instanceof Connections.Own) || isWatched(fiber)) return Effect.asVoid(Effect.orDie(statement))
    const [text, values] = statement.compile()
    connection.post({ text, values, named: true })
    return Effect.void
  })

/**
 * Takes the organization's lock of this name for the rest of the transaction: shared with others, or alone. A statement
 * that decides by what others commit has to be sent after it, as a statement of its own.
 */
export const takeTurn = (
  sql: SqlClient.SqlClient,
  name: "archive_export" | "archive_hold" | "archive_rule",
  organizationId: string,
  way: "alone" | "shared"
): Effect.Effect<void> => {
  const lock = sql.literal(way === "alone" ? "pg_advisory_xact_lock" : "pg_advisory_xact_lock_shared")
  return post(sql)(sql`
    select ${lock}(hashtextextended(${`${name}/`} || id, 0)) from organization where id = ${organizationId}`)
}

/**
 * For statements of one transaction that do not need each other's answers: they are sent in this order, and answered
 * together.
 */
export const together = { concurrency: "unbounded" } as const

/**
 * Runs such statements, and answers the rows of each: those of a transaction that only reads in one message, which no
 * fiber of its own waits for.
 */
export const all = (sql: SqlClient.SqlClient) =>
<A extends Readonly<Record<string, object>>>(
  statements:
    & { readonly [Name in keyof A]: Statements.Statement<A[Name]> }
    & Readonly<Record<string, Statements.Statement<object>>>
): Effect.Effect<{ readonly [Name in keyof A]: ReadonlyArray<A[Name]> }, SqlError.SqlError> =>
  Effect.withFiber((fiber) => {
    const connection = connectionOf(sql, fiber.context)
    const all = Object.values(statements)
    const answered = connection instanceof Connections.SharedLink && !isWatched(fiber)
      ? connection.executeAll(all.map((statement) => statement.compile()))
      : Effect.all(all, together)
    return Effect.map(answered, (answers) => {
      const named = Object.keys(statements).map((name, index) => [name, answers[index]])
      return Object.fromEntries(named)
    })
  })

const asking = (before: ReadonlyArray<Statement>) =>
<A extends object>(
  sql: SqlClient.SqlClient,
  text: string,
  values: ReadonlyArray<unknown>
): Effect.Effect<ReadonlyArray<A>, ServiceUnavailable> =>
  Effect.withFiber((fiber) => {
    const ways = Client.accessOf(sql)
    const until = deadlineIn(Context.get(fiber.context, Clock.Clock), defaultDeadline, false)
    const connection = new Connections.SharedLink(ways, null, () => before, until)
    const asked = isWatched(fiber)
      ? Effect.provideService(sql.unsafe<A>(text, values), sql.transactionService, [connection, 0])
      : connection.execute(text, values)
    return oneByOne(sql, ways.shares, defaultDeadline)(asked)
  })

/**
 * Runs one statement outside any organization, among those of other requests; its text is always the same.
 *
 * The deadline and the failures are those of `transaction`.
 */
export const ask = asking([])

/** Has a statement planned once for all values, without the functions above. */
const planned = (...without: ReadonlyArray<string>) => {
  const off = without.map((way) => `, set_config('enable_${way}', 'off', true)`)
  return `select set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true)${
    off.join("")
  }`
}

/** The planning of the statements of `askByIndex` and `askInOrder`. */
const byIndex = planned("seqscan", "bitmapscan", "hashjoin", "mergejoin")
export const inOrder = planned("seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort")

const before = (text: string) => [{ text, values: [], named: true }]

/**
 * The same, where the statement finds a few rows of many by indexes: how it is planned does not follow from statistics
 * of a moment that has passed.
 */
export const askByIndex = asking(before(byIndex))

/**
 * The same, where an index also gives the rows' order. Nothing may be joined to what has to be sorted all the same, but
 * behind a materialized expression: its plan would be chosen blindly.
 */
export const askInOrder = asking(before(inOrder))

/**
 * The same, committed without waiting for the disk: a crash of the database may lose what the statement has written.
 */
export const askWithAsyncCommit = asking(before("select set_config('synchronous_commit', 'off', true)"))

/** The time that a statement for many requests may take: then each can still ask alone in good time. */
const deadlineForMany = Duration.seconds(2)

/** True if one statement may ask for many requests here: sessions are shared, and nobody observes its statements. */
export const asksForMany = (sql: SqlClient.SqlClient, fiber: Fiber.Fiber<unknown, unknown>): boolean =>
  Client.accessOf(sql).shares && !isWatched(fiber)

/**
 * Runs a statement like `askByIndex` that asks for many requests at the end of a turn. Where it fails nothing is
 * concluded: each of them can ask alone.
 */
export const askForMany = <A extends object>(
  sql: SqlClient.SqlClient,
  text: string,
  values: ReadonlyArray<unknown>
): Effect.Effect<ReadonlyArray<A>, SqlError.SqlError> =>
  Effect.withFiber(({ context }) => {
    const until = deadlineIn(Context.get(context, Clock.Clock), deadlineForMany, false)
    const connection = new Connections.SharedLink(Client.accessOf(sql), null, () => before(byIndex), until)
    return Effect.flatMap(connection.execute(text, values), (rows) => back(sql, rows))
  })

/** Runs the effect, unless it is inside a transaction that writes, whose session it may need. */
export const outsideWrites = (sql: SqlClient.SqlClient, effect: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.withFiber(({ context }) => connectionOf(sql, context) instanceof Connections.Own ? Effect.void : effect)

/**
 * Runs statements outside any organization, as the tables' owner: only the tables with a policy for the owner answer.
 *
 * The deadline and the failures are those of `transaction`. Inside a transaction it dies.
 */
export const directory = (sql: SqlClient.SqlClient, deadline: Duration.Input = defaultDeadline) =>
<A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | ServiceUnavailable, R> =>
  Effect.withFiber((fiber) =>
    connectionOf(sql, fiber.context) === undefined
      ? within(sql, deadline)(effect)
      : Effect.die(new Error("A directory statement inside a transaction"))
  )

/**
 * The same as one transaction on a session of its own: what reads whole tables takes long in a large database, and on a
 * session that others share their statements would wait behind it.
 */
export const directoryAlone = (sql: SqlClient.SqlClient) =>
<A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | ServiceUnavailable, R> =>
  directory(sql)(sql.withTransaction(effect))
