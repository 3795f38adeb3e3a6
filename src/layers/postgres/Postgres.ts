/** The `SqlClient` of a PostgreSQL server, 15 and later. */
import { Duration, Effect, Layer, Predicate, Redacted, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import * as Client from "./DatabaseClient.ts"
import { reasonOf } from "./DatabaseOutage.ts"

/** The database's address cannot be used as it is; the message never repeats it, for it holds a password. */
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
 * Refuses what the driver would silently ignore.
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

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/

/** True if passwords and rows would leave the machine in the clear: TCP to another one, and TLS not demanded. */
export const isInsecure = (url: Redacted.Redacted): boolean => {
  const text = Redacted.value(url)
  if (!URL.canParse(text)) return false
  const { hostname, searchParams } = new URL(text)
  const host = searchParams.get("host") ?? decodeURIComponent(hostname)
  const secure = ["require", "verify-full"].includes(searchParams.getAll("sslmode").at(-1) ?? "")
  return !secure && host !== "" && !host.startsWith("/") && !loopback.test(host)
}

/** The server answers, and waiting does not help: it refuses the connection, or is too old. */
export class DatabaseUnusable extends Schema.TaggedError<DatabaseUnusable>()("DatabaseUnusable", {
  message: Schema.String
}) {}

/** SQLSTATEs of a refused role or password, of a database that is not there, of one not to enter, of no such `role`. */
const refusals = new Set(["28000", "28P01", "3D000", "42501", "22023"])

const isRefusal = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "AuthenticationError" ||
  (Predicate.hasProperty(reason.cause, "code") && refusals.has(String(reason.cause.code)))

const leastVersion = 15

const preparing = [
  "create role console_app nologin;",
  "create role console_service nologin noinherit in role console_app;",
  "grant console_service to console;"
].join("\n")

/** The settings of each session, which a proxy that lends sessions by transaction does not pass on. */
const sessionSettings = ({ role, statementTimeout }: Pick<Options, "role" | "statementTimeout">) => ({
  idle_in_transaction_session_timeout: "60000",
  ...(role === undefined ? {} : { role }),
  ...(statementTimeout === undefined ? {} : { statement_timeout: String(Duration.toMillis(statementTimeout)) })
})

/** Fails where sessions behind a proxy lack their role or their time zone, which the login role brings then. */
export const checkSession = Effect.fnUntraced(function*(options: Pick<Options, "role" | "statementTimeout">) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ login: string; role: string; zone: string }>`
    select session_user::text as login, current_user::text as role, current_setting('TimeZone') as zone`
  if (row === undefined || row.role === options.role && row.zone === "UTC") return
  const login = `"${row.login.replaceAll("\"", "\"\"")}"`
  const settings = Object.entries({ timezone: "UTC", ...sessionSettings(options) })
  return yield* new DatabaseUnusable({
    message: [
      "Behind a proxy that lends sessions by transaction the login role brings their settings. An administrator runs once, and has the proxy open its sessions again:",
      ...settings.map(([name, value]) => `alter role ${login} set ${name} = '${value}';`)
    ].join("\n")
  })
})

/** Fails with what an operator has to fix where the server refuses the settings' role, password or database. */
export const check = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.catchIf(
    sql<{ version: number }>`select current_setting('server_version_num')::int as version`,
    isRefusal,
    (error) => {
      const refused = `PostgreSQL refuses the connection: ${reasonOf(error)}.`
      return new DatabaseUnusable({
        message: /\brole\b.*"console_service"/.test(refused)
          ? `${refused} An administrator runs once, with the service's login role for console:\n${preparing}\n` +
            "and then the schema is brought up to date by `security-console migrate`."
          : `${refused} Check --database-url (CONSOLE_DATABASE_URL).`
      })
    }
  )
  const version = Math.floor((row?.version ?? 0) / 10_000)
  if (version < leastVersion) {
    return yield* new DatabaseUnusable({
      message: `This is PostgreSQL ${version}, and ${leastVersion} or later is needed.`
    })
  }
})

/** The address of the server, and the number of connections to it at most. */
export interface Options {
  readonly url: Redacted.Redacted
  /** Defaults to 10. */
  readonly maxConnections?: number
  /** The time that the server gives a statement; no limit by default. */
  readonly statementTimeout?: Duration.Input
  /** The role that every session takes on, of which the login role is a member; the login role itself by default. */
  readonly role?: string
  /**
   * The address is a proxy's that lends a session of the server for each transaction: nothing is left in a session, and
   * the login role brings its settings.
   */
  readonly pooled?: boolean
  /** The address of the server itself, for notifications; where a proxy is on the way and this is not given, none come. */
  readonly directUrl?: Redacted.Redacted
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
      Effect.andThen(
        checkUrl(options.url),
        options.directUrl === undefined ? Effect.void : checkUrl(options.directUrl)
      ),
      Client.make("pg", {
        url: options.url,
        minConnections: 0,
        maxConnections: options.maxConnections ?? 10,
        applicationName: options.applicationName ?? "org-security-console",
        keepAlive: "30 seconds",
        startupParameters: sessionSettings(options)
      }, options.pooled === true ? { direct: options.directUrl } : null)
    )
  ).pipe(Layer.provide(Reactivity.layer))
