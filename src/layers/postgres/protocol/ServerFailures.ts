/** The failures of a session: errors of the server, by their SQLSTATE, and no answer. */
import type { PgProtocol } from "@effect/sql-pg"
import { SqlError } from "effect/sql"

/** An error of the server with its fields, of which `code` is the SQLSTATE. */
export interface ServerError extends Error {
  readonly code?: string | undefined
}

const reasonOf = (code: string, constraint: string | undefined, cause: Error): SqlError.SqlErrorReason => {
  const properties = { cause, message: cause.message, operation: "query" }
  switch (code) {
    case "23505":
      return new SqlError.UniqueViolation({ ...properties, constraint: constraint ?? "unknown" })
    case "40001":
      return new SqlError.SerializationError(properties)
    case "40P01":
      return new SqlError.DeadlockError(properties)
    case "42501":
      return new SqlError.AuthorizationError(properties)
    case "55P03":
      return new SqlError.LockTimeoutError(properties)
    case "57014":
      return new SqlError.StatementTimeoutError(properties)
  }
  switch (code.slice(0, 2)) {
    case "08":
      return new SqlError.ConnectionError(properties)
    case "23":
      return new SqlError.ConstraintError(properties)
    case "28":
      return new SqlError.AuthenticationError(properties)
    case "42":
      return new SqlError.SqlSyntaxError(properties)
    default:
      return new SqlError.UnknownError(properties)
  }
}

/** The error with which the server refused a statement. */
export const refused = (fields: PgProtocol.ErrorFields): SqlError.SqlError => {
  const cause: ServerError = Object.assign(new Error(fields.message ?? "The server reports an error"), fields)
  return new SqlError.SqlError({ reason: reasonOf(fields.code ?? "", fields.constraint, cause) })
}

/** A session that does not answer any more. */
export const lost = (message: string, operation = "query"): SqlError.SqlError =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause: new Error(message), message, operation })
  })

/** A statement that cannot be sent as it is. */
export const unsendable = (cause: unknown): SqlError.SqlError =>
  new SqlError.SqlError({
    reason: new SqlError.UnknownError({ cause, message: "The statement cannot be sent", operation: "query" })
  })

/** A row with a value that has no counterpart here. */
export const unreadable = (cause: unknown): SqlError.SqlError =>
  new SqlError.SqlError({
    reason: new SqlError.UnknownError({ cause, message: "A row cannot be read", operation: "query" })
  })
