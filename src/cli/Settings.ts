/** Every setting of the service, by flag or by environment; the table of docs/configuration.md is made from here. */
import { Config, Duration, Option, type Redacted } from "effect"
import { Flag } from "effect/cli"
import {
  defaultKeyPrefix,
  defaultLoginStarts,
  defaultMaxClients,
  defaultMaxLive,
  defaultReviewWindow
} from "../domain/Limits.ts"
import { formats, levels } from "./Logs.ts"
import {
  choice,
  describe,
  described,
  hidden,
  number,
  onOff,
  optionalText,
  ratio,
  secret,
  secretConfig,
  text
} from "./Setting.ts"

/** The directory of the embedded database, where none is told. */
export const dataDirectory = "./data"

/** Which database: what every command that opens one can be told. */
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
  data: text("data", "CONSOLE_DATA", dataDirectory, "Directory of the embedded database and its keys"),
  maxConnections: number(
    "max-connections",
    "CONSOLE_MAX_CONNECTIONS",
    20,
    [1, 1000],
    "Connections to PostgreSQL at most"
  ),
  keyPrefix: text("key-prefix", "CONSOLE_KEY_PREFIX", defaultKeyPrefix, "What API keys begin with, before _live_")
}

/** Who brings PostgreSQL's schema up to date. */
export const migration = {
  migrationUrl: secret(
    "migration-url",
    "CONSOLE_MIGRATION_URL",
    "that of the service",
    "PostgreSQL as the role that owns the tables, which brings the schema up to date"
  )
}

/** The directory of the demo, where none is told: it never shares one with organizations of one's own. */
export const demoDirectory = "./demo-data"

/** Where and how the service listens. */
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

/** How mail is sent, and where people are sent for what is not done here. */
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

/** The same for commands, which have no flags for it. */
export const mailVariables = Config.all({
  mailUrl: Config.option(secretConfig("CONSOLE_MAIL_URL")),
  mailFrom: Config.option(Config.String("CONSOLE_MAIL_FROM")),
  supportAddress: Config.option(Config.String("CONSOLE_SUPPORT_ADDRESS")),
  billingLinks: Config.option(Config.String("CONSOLE_BILLING_LINKS"))
})

/** How mail is sent. */
export interface Mail {
  readonly mailUrl: Option.Option<Redacted.Redacted>
  readonly mailFrom: Option.Option<string>
  readonly supportAddress: Option.Option<string>
  readonly billingLinks: Option.Option<string>
}

/** How accounts are watched. */
export const watching = {
  roles: text(
    "roles",
    "CONSOLE_ROLES",
    "api,worker",
    "What the process does: `api` serves the interface, `worker` watches the accounts"
  ),
  reviewWindow: number(
    "review-window",
    "CONSOLE_REVIEW_WINDOW",
    Duration.toMinutes(defaultReviewWindow),
    [15, 22 * 60],
    "Minutes that an admin has to approve a session before it is signed out"
  ),
  loginStarts: number(
    "login-starts",
    "CONSOLE_LOGIN_STARTS",
    defaultLoginStarts,
    [1, 1000],
    "Logins to accounts that an organization may start in an hour"
  ),
  maxLive: number(
    "max-live",
    "CONSOLE_MAX_LIVE",
    defaultMaxLive,
    [1, 100_000],
    "Sessions on the messenger that the process keeps open"
  )
}

/** The messenger that accounts are on, where it is not simulated. */
export const messenger = {
  messenger: choice(
    "messenger",
    "CONSOLE_MESSENGER",
    ["none", "wire"],
    "none",
    "How accounts are reached: not at all, or over the messenger's own protocol"
  ),
  messengerApplication: number(
    "messenger-application",
    "CONSOLE_MESSENGER_APPLICATION",
    0,
    [0, 2_147_483_647],
    "Id of the application that is registered with the messenger; required with `--messenger wire`"
  ),
  messengerDataCentre: optionalText(
    "messenger-data-centre",
    "CONSOLE_MESSENGER_DATA_CENTRE",
    "required with `--messenger wire`",
    "Data centre that is connected to first, as its number and address: 2@192.0.2.1:443"
  ),
  messengerKeys: optionalText(
    "messenger-keys",
    "CONSOLE_MESSENGER_KEYS",
    "required with `--messenger wire`",
    "File of the RSA keys, in PEM (PKCS #1), that the messenger's data centres prove themselves with"
  )
}

/** The secret of the application that is registered with the messenger. */
export const messengerHash = hidden(
  "CONSOLE_MESSENGER_HASH",
  "required with `--messenger wire`",
  "Hash of the application that is registered with the messenger"
)

/** The same as they are read. */
export interface Messenger {
  readonly messenger: "none" | "wire"
  readonly messengerApplication: number
  readonly messengerDataCentre: Option.Option<string>
  readonly messengerKeys: Option.Option<string>
}

/** The same as they are read. */
export interface Watching {
  readonly roles: string
  readonly reviewWindow: number
  readonly loginStarts: number
  readonly maxLive: number
}

/** What the MCP server over standard input and output connects to, and what it shows. */
export const assistant = {
  url: optionalText(
    "url",
    "CONSOLE_URL",
    "the database of the settings",
    "Service that `mcp` connects to, as https://host or https://host/path"
  ),
  toolsets: optionalText(
    "toolsets",
    "CONSOLE_TOOLSETS",
    "all of them",
    "Tools that `mcp` shows, such as accounts,journal"
  ),
  readOnly: onOff("read-only", "CONSOLE_READ_ONLY", "Let `mcp` change nothing")
}

/** The key of the MCP server over standard input and output. */
export const apiKey = hidden("CONSOLE_API_KEY", "required by `mcp`", "API key that `mcp` works with")

/** The peppers. */
export const peppers = hidden(
  "CONSOLE_PEPPERS",
  "on the embedded database, made in the data directory",
  "Keys under which digests and secrets are kept: base64 of 32 bytes or more, newest first, separated by commas"
)

describe(
  null,
  "CONSOLE_FORGET_PEPPERS",
  "none",
  "Peppers by their ids, separated by commas, that are lost with all credentials made under them"
)

/** The ids of the peppers that are lost for good. */
export const forgottenPeppers = Config.map(
  Config.option(Config.String("CONSOLE_FORGET_PEPPERS")),
  (text) => Option.getOrElse(text, () => "").split(",").map((id) => id.trim()).filter((id) => id !== "")
)

/** The keys of the journal's checkpoints. */
export const checkpointKeys = hidden(
  "CONSOLE_CHECKPOINT_KEYS",
  "on the embedded database, made in the data directory",
  "Ed25519 keys of the journal's checkpoints: PEM (PKCS#8), or base64 of 32 bytes; newest first, separated by commas"
)

/** The keys of the console's forms. */
export const csrfKeys = hidden(
  "CONSOLE_CSRF_KEYS",
  "on the embedded database, made in the data directory",
  "Keys of the tokens in the console's forms: base64 of 32 bytes or more, newest first, separated by commas"
)

/** What lets a client register where not everybody may. */
export const registrationToken = hidden(
  "CONSOLE_REGISTRATION_TOKEN",
  "required by `--registration token`",
  "Initial access token that registers applications: 32 characters or more"
)

/** The programs beside the service that may ask what an access token is worth. */
export const resourceServers = hidden(
  "CONSOLE_RESOURCE_SERVERS",
  "none",
  "Programs that may ask at /oauth/introspect what tokens of their resource are worth, as name:v1:secret or name:mcp:secret, separated by spaces; a secret has 32 characters or more"
)

/** What the collector asks for with every export. */
export const otlpHeaders = hidden(
  "CONSOLE_OTLP_HEADERS",
  "none",
  "Headers for the collector, as name=value, separated by commas"
)

/** Which database was asked for. */
export interface Database {
  readonly databaseUrl: Option.Option<Redacted.Redacted>
  readonly databaseInsecure: boolean
  readonly data: string
  readonly maxConnections: number
  readonly keyPrefix: string
}

/** Which database was asked for, and who migrates it. */
export interface Migrating extends Database {
  readonly migrationUrl: Option.Option<Redacted.Redacted>
}

/** The table as Markdown. */
export const markdown = (): string =>
  [
    "| Flag | Variable | Default | What it says |",
    "|---|---|---|---|",
    ...described.map(({ description, fallback, flag, secret, variable }) =>
      `| ${flag === null ? "" : `\`--${flag}\``} | ${variable === null ? "" : `\`${variable}\``}${
        secret ? `, \`${variable}_FILE\`` : ""
      } | ${fallback} | ${description} |`
    )
  ].join("\n")

/** Every variable that says something, those that name files with the secrets among them. */
export const knownVariables: ReadonlyArray<string> = described.flatMap(({ secret, variable }) =>
  variable === null ? [] : secret ? [variable, `${variable}_FILE`] : [variable]
)
