/** The `SqlClient` of a PostgreSQL server, 15 and later. */
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import * as Client from "./Client.ts"

/** The database's address cannot be used as it stands; the message never repeats it, for it holds a password. */
export class DatabaseUrlInvalid extends Schema.TaggedError<DatabaseUrlInvalid>()("DatabaseUrlInvalid", {
  message: Schema.String
}) {}

const sslModes = ["disable", "prefer", "require", "verify-full"]

const readable = new Set([
  "host",
  "port",
  "user",
  "password",
  "dbname",
  "application_name",
  "options",
  "connect_timeout",
  "sslmode"
])

/**
 * Refuses what the driver would pass over in silence.
 *
 * `require` and `verify-full` are the same here: TLS with a certificate that the system's authorities vouch for
 * (`NODE_EXTRA_CA_CERTS` adds one). `prefer` falls back to a plain connection when the server offers no TLS.
 */
const checkUrl = Effect.fnUntraced(function*(url: Redacted.Redacted) {
  const refuse = (message: string) => new DatabaseUrlInvalid({ message: `The database url ${message}` })
  const text = Redacted.value(url)
  if (!URL.canParse(text) || !/^postgres(?:ql)?:/.test(text)) {
    return yield* refuse("is not of the form postgres://user:password@host:port/database")
  }
  for (const [name, value] of new URL(text).searchParams) {
    if (!readable.has(name)) return yield* refuse(`has a parameter that is not supported: ${name}`)
    if (name === "sslmode" && !sslModes.includes(value)) {
      return yield* refuse(`has an sslmode that is not supported: use one of ${sslModes.join(", ")}`)
    }
  }
})

/** Where the server is, and how many connections are opened to it at most. */
export interface Options {
  readonly url: Redacted.Redacted
  /** Defaults to 10. */
  readonly maxConnections?: number
  /** After which the server ends a statement; no limit unless told. */
  readonly statementTimeout?: Duration.Input
  /** Defaults to `org-security-console`. */
  readonly applicationName?: string
}

/**
 * The `SqlClient` of a server: connections are opened when they are needed, so the layer builds while the server is
 * away, and a connection that was lost is replaced at the next statement.
 *
 * A session that stops in the middle of a transaction is ended by the server after a minute.
 */
export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient, DatabaseUrlInvalid | SqlError.SqlError> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.andThen(
      checkUrl(options.url),
      Client.make("pg", {
        url: options.url,
        minConnections: 0,
        maxConnections: options.maxConnections ?? 10,
        applicationName: options.applicationName ?? "org-security-console",
        keepAlive: "30 seconds",
        startupParameters: {
          idle_in_transaction_session_timeout: "60000",
          ...(options.statementTimeout === undefined
            ? {}
            : { statement_timeout: String(Duration.toMillis(options.statementTimeout)) })
        }
      })
    )
  ).pipe(Layer.provide(Reactivity.layer))
