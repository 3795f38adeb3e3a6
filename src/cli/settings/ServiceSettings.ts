/** The settings of the database, of the server and of mail. */
import { Config, type Option, type Redacted } from "effect"
import { Flag } from "effect/cli"
import { defaultKeyPrefix, defaultMaxClients } from "../../domain/Limits.ts"
import { formats, levels } from "../process/Logs.ts"
import { choice, number, onOff, optionalText, ratio, secret, secretConfig, text } from "./Setting.ts"

/** The directory of the embedded database by default. */
export const dataDirectory = "./data"

/** The choice of the database: the settings of every command that opens one. */
export const database = {
  databaseUrl: secret(
    "database-url",
    "CONSOLE_DATABASE_URL",
    "the embedded database",
    "PostgreSQL to use, as postgres://user:password@host:port/database"
  ),
  databaseInsecure: onOff(
    "database-insecure",
    "CONSOLE_DATABASE_INSECURE",
    "Allow a connection without TLS to a PostgreSQL on another machine"
  ),
  databasePooled: onOff(
    "database-pooled",
    "CONSOLE_DATABASE_POOLED",
    "The address of PostgreSQL is a proxy's that lends a session for each transaction"
  ),
  databaseDirectUrl: secret(
    "database-direct-url",
    "CONSOLE_DATABASE_DIRECT_URL",
    "none: requests to other processes are noticed within 3 seconds",
    "With `--database-pooled`, PostgreSQL itself, for the one connection that listens"
  ),
  data: text("data", "CONSOLE_DATA", dataDirectory, "Directory of the embedded database and its keys"),
  blobs: optionalText(
    "blobs",
    "CONSOLE_BLOBS",
    "the data directory; none on PostgreSQL",
    "Where the files of archived messages are stored, as file:/directory or s3:https://host/bucket/prefix?region=name"
  ),
  blobsShared: onOff(
    "blobs-shared",
    "CONSOLE_BLOBS_SHARED",
    "Confirm that every process of the service on PostgreSQL has the directory of `--blobs`"
  ),
  blobsLock: optionalText(
    "blobs-lock",
    "CONSOLE_BLOBS_LOCK",
    "none",
    "Object Lock of each new file in a bucket of `--blobs`, as governance:365d or compliance:7y"
  ),
  maxConnections: number(
    "max-connections",
    "CONSOLE_MAX_CONNECTIONS",
    20,
    [1, 1000],
    "Connections to PostgreSQL at most"
  ),
  keyPrefix: text("key-prefix", "CONSOLE_KEY_PREFIX", defaultKeyPrefix, "What API keys begin with, before _live_")
}

/** The choice of who brings PostgreSQL's schema up to date. */
export const migration = {
  migrationUrl: secret(
    "migration-url",
    "CONSOLE_MIGRATION_URL",
    "that of the service",
    "PostgreSQL as the role that owns the tables, which brings the schema up to date"
  )
}

/** The directory of the demo by default: it never shares one with organizations of one's own. */
export const demoDirectory = "./demo-data"

/** The addresses and the ways in which the service listens. */
export const server = {
  data: Flag.String("data").pipe(
    Flag.withDescription(
      `Directory of the embedded database and its keys [CONSOLE_DATA; ./data, with --demo ${demoDirectory}]`
    ),
    Flag.withFallbackConfig(Config.String("CONSOLE_DATA")),
    Flag.optional
  ),
  host: text("host", "CONSOLE_HOST", "127.0.0.1", "Address to listen on"),
  port: number("port", "CONSOLE_PORT", 8080, [0, 65_535], "Port to listen on; 0 takes a free one"),
  maxClients: number(
    "max-clients",
    "CONSOLE_MAX_CLIENTS",
    defaultMaxClients,
    [1, 1_000_000],
    "Open connections of clients at most, and a quarter of one address that is no trusted proxy; further ones are closed at once"
  ),
  baseUrl: optionalText(
    "base-url",
    "CONSOLE_BASE_URL",
    "the address listened on",
    "Where clients reach the service, as https://host or https://host/path"
  ),
  sites: optionalText(
    "sites",
    "CONSOLE_SITES",
    "none",
    "Hosts of organizations, as acme=https://security.acme.example, separated by commas"
  ),
  trustedProxies: optionalText(
    "trusted-proxies",
    "CONSOLE_TRUSTED_PROXIES",
    "none",
    "Networks whose X-Forwarded-For counts, in CIDR notation, separated by commas"
  ),
  allowedOrigins: optionalText(
    "allowed-origins",
    "CONSOLE_ALLOWED_ORIGINS",
    "every origin",
    "Origins whose pages may call /mcp, such as https://assistant.example, separated by commas"
  ),
  allTools: onOff(
    "all-tools",
    "CONSOLE_ALL_TOOLS",
    "Show AI assistants the tools too that their credential may not use"
  ),
  personalArguments: onOff(
    "personal-arguments",
    "CONSOLE_PERSONAL_ARGUMENTS",
    "Take codes and passwords of account holders from AI assistants that cannot ask a person for them"
  ),
  knownAssistants: optionalText(
    "known-assistants",
    "CONSOLE_KNOWN_ASSISTANTS",
    "none",
    "Callback addresses of known assistants, as assistant_a=https://host/path, separated by spaces"
  ),
  registration: choice(
    "registration",
    "CONSOLE_REGISTRATION",
    ["open", "token", "off"],
    "open",
    "Who may register applications: everybody, who brings the initial access token, or nobody"
  ),
  checkpointPush: secret(
    "checkpoint-push",
    "CONSOLE_CHECKPOINT_PUSH",
    "none",
    "Where signed checkpoints are pushed: file:/path, https://host/path, syslog+tcp://host:port or syslog+udp://host:port, separated by commas"
  ),
  clientDocuments: onOff(
    "client-documents",
    "CONSOLE_CLIENT_DOCUMENTS",
    "Let applications name an https document that describes them, which the service then reads"
  ),
  migrate: onOff("migrate", "CONSOLE_MIGRATE", "Bring PostgreSQL's schema up to date before serving"),
  demo: onOff("demo", null, "Fill an empty database with a demo organization, and simulate the messenger"),
  logFormat: choice("log-format", "CONSOLE_LOG_FORMAT", formats, "pretty", "How logs are written"),
  logLevel: choice(
    "log-level",
    "CONSOLE_LOG_LEVEL",
    levels,
    "info",
    "What is logged at least; at `info` a line for every request"
  ),
  metricsAddress: optionalText(
    "metrics-address",
    "CONSOLE_METRICS_ADDRESS",
    "none",
    "Address to serve metrics at, under /metrics, as 127.0.0.1:9464 or [::1]:9464"
  ),
  otlpUrl: optionalText(
    "otlp-url",
    "CONSOLE_OTLP_URL",
    "none",
    "Collector of traces and metrics (OTLP over HTTP), such as http://127.0.0.1:4318"
  ),
  traceRatio: ratio("trace-ratio", "CONSOLE_TRACE_RATIO", 1, "How many of the requests are traced, from 0 to 1")
}

/** The addresses of the service for commands, which have no flags for them. */
export const siteVariables = Config.all({
  baseUrl: Config.option(Config.String("CONSOLE_BASE_URL")),
  sites: Config.option(Config.String("CONSOLE_SITES"))
})

/** The sending of mail, and the address that people are sent to for what is not done here. */
export const mail = {
  mailUrl: secret(
    "mail-url",
    "CONSOLE_MAIL_URL",
    "no mail is sent",
    "Server that takes mail, as smtps://user:password@host:465 or smtp://user:password@host:587"
  ),
  mailFrom: optionalText(
    "mail-from",
    "CONSOLE_MAIL_FROM",
    "required with `--mail-url`",
    "Sender of mail, as console@example.com or Console <console@example.com>"
  ),
  supportAddress: optionalText(
    "support-address",
    "CONSOLE_SUPPORT_ADDRESS",
    "none",
    "Address that requests to the support are mailed to"
  ),
  billingLinks: optionalText(
    "billing-links",
    "CONSOLE_BILLING_LINKS",
    "none",
    "Pages of the billing, as plans=https://host/path, separated by spaces; the names are plans, payment_method, invoices and cancel"
  )
}

/** The settings of mail for commands, which have no flags for it. */
export const mailVariables = Config.all({
  mailUrl: Config.option(secretConfig("CONSOLE_MAIL_URL")),
  mailFrom: Config.option(Config.String("CONSOLE_MAIL_FROM")),
  supportAddress: Config.option(Config.String("CONSOLE_SUPPORT_ADDRESS")),
  billingLinks: Config.option(Config.String("CONSOLE_BILLING_LINKS"))
})

/** The sending of mail. */
export interface MailOptions {
  readonly mailUrl: Option.Option<Redacted.Redacted>
  readonly mailFrom: Option.Option<string>
  readonly supportAddress: Option.Option<string>
  readonly billingLinks: Option.Option<string>
}
