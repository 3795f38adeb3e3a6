/** What the service says to its database: each statement, and whether it is inside a transaction. */
import { Context, Effect } from "effect"
import { SqlClient, Statement } from "effect/sql"
import * as Connections from "../../../src/layers/postgres/DatabaseSessions.ts"

/** A statement as it reaches the database. */
export interface Said {
  readonly sql: string
  readonly params: ReadonlyArray<unknown>
  readonly inTransaction: boolean
  /** The organization whose rows the connection sees; null where it is any or none. */
  readonly organizationId: string | null
}

/** A statement on one line. */
export const oneLine = (sql: string): string => sql.replaceAll(/\s+/g, " ").trim()

/** Records the statements of the effect, in their order. */
export const recording = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const { transactionService } = yield* SqlClient.SqlClient
  const said: Array<Said> = []
  const answer = yield* Effect.provideService(
    effect,
    Statement.CurrentTransformer,
    (statement, _, fiber) =>
      Effect.sync(() => {
        const [sql, params] = statement.compile()
        const connection = Context.getOrUndefined(fiber.context, transactionService)?.[0]
        const organizationId = connection instanceof Connections.Own || connection instanceof Connections.SharedLink
          ? connection.organizationId ?? null
          : null
        const inTransaction = connection !== undefined &&
          !(connection instanceof Connections.SharedLink && organizationId === null)
        said.push({ sql: oneLine(sql), params, inTransaction, organizationId })
        return statement
      })
  )
  return { answer, said }
})

/** Runs the effect, and before each of its statements inside a transaction something else. */
export const interrupting = Effect.fnUntraced(function*<A, E, R, B, E2, R2>(
  meanwhile: Effect.Effect<B, E2, R2>,
  effect: Effect.Effect<A, E, R>
) {
  const { transactionService } = yield* SqlClient.SqlClient
  const run = Effect.runPromiseWith(yield* Effect.context<R2>())
  return yield* Effect.provideService(
    effect,
    Statement.CurrentTransformer,
    (statement, _, { context }) =>
      Context.getOrUndefined(context, transactionService) === undefined
        ? Effect.succeed(statement)
        : Effect.as(Effect.promise(() => run(meanwhile)), statement)
  )
})

/** Runs the effect with every statement inside a transaction rewritten. */
export const rewriting =
  (rewrite: (sql: string) => string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | SqlClient.SqlClient> =>
    Effect.flatMap(SqlClient.SqlClient, ({ transactionService }) =>
      Effect.provideService(
        effect,
        Statement.CurrentTransformer,
        (statement, sql, fiber) =>
          Effect.sync(() => {
            if (Context.getOrUndefined(fiber.context, transactionService) === undefined) return statement
            const [text, params] = statement.compile()
            return sql.unsafe(rewrite(text), params)
          })
      ))

const condition = /((?:"?\w+"?\.)?organization_id|organization\.id) = (\$\d+)/g
const join = /(?:"?\w+"?\.)?organization_id = (?:"?\w+"?\.)?organization_id/g
const own = /((?:from|update) organization\b[^;]*? where) id = (\$\d+)/g

/** The statement without its conditions on the organization: whatever it named, every organization's rows hold. */
export const withoutOrganization = (sql: string): string =>
  oneLine(sql)
    .replaceAll(condition, "($2::text is not null)")
    .replaceAll(join, "true")
    .replaceAll(own, "$1 ($2::text is not null)")
