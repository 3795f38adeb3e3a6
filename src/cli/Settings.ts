/** What the service can be told, by flag or by environment; the table in the README is made from here. */
import { Config, type Option, type Redacted } from "effect"
import { Flag } from "effect/cli"
import { defaultKeyPrefix } from "../layers/Core.ts"

/** One setting as a reader needs to know it. */
interface Described {
  readonly flag: string | null
  readonly variable: string | null
  readonly fallback: string
  readonly description: string
}

/** Every setting, in the order in which they are declared. */
const described: Array<Described> = []

const describe = (flag: string, variable: string | null, fallback: string, description: string): void => {
  described.push({ flag, variable, fallback, description })
}

const text = (flag: string, variable: string, fallback: string, description: string) => {
  describe(flag, variable, fallback, description)
  return Flag.String(flag).pipe(
    Flag.withDescription(`${description} [${variable}; ${fallback}]`),
    Flag.withFallbackConfig(Config.String(variable)),
    Flag.withDefault(fallback)
  )
}

const optionalText = (flag: string, variable: string, fallback: string, description: string) => {
  describe(flag, variable, fallback, description)
  return Flag.String(flag).pipe(
    Flag.withDescription(`${description} [${variable}]`),
    Flag.withFallbackConfig(Config.String(variable)),
    Flag.optional
  )
}

const number = (
  flag: string,
  variable: string,
  fallback: number,
  [minimum, maximum]: readonly [number, number],
  description: string
) => {
  describe(flag, variable, String(fallback), description)
  return Flag.Int(flag).pipe(
    Flag.withDescription(`${description} [${variable}; ${fallback}]`),
    Flag.withFallbackConfig(Config.Int(variable)),
    Flag.withDefault(fallback),
    Flag.filter((value) => value >= minimum && value <= maximum, () => `a number from ${minimum} to ${maximum}`)
  )
}

const secret = (flag: string, variable: string, fallback: string, description: string) => {
  describe(flag, variable, fallback, description)
  return Flag.Redacted(flag).pipe(
    Flag.withDescription(`${description} [${variable}]`),
    Flag.withFallbackConfig(Config.Redacted(variable)),
    Flag.optional
  )
}

const choice = <const Choices extends ReadonlyArray<string>>(
  flag: string,
  variable: string,
  choices: Choices,
  fallback: Choices[number],
  description: string
) => {
  describe(flag, variable, fallback, description)
  return Flag.Literals(flag, choices).pipe(
    Flag.withDescription(`${description} [${variable}; ${fallback}]`),
    Flag.withFallbackConfig(Config.Literals(choices, variable)),
    Flag.withDefault<Choices[number]>(fallback)
  )
}

const onOff = (flag: string, variable: string | null, description: string) => {
  describe(flag, variable, "off", description)
  const plain = Flag.Boolean(flag).pipe(
    Flag.withDescription(variable === null ? description : `${description} [${variable}]`)
  )
  return (variable === null ? plain : plain.pipe(Flag.withFallbackConfig(Config.Boolean(variable)))).pipe(
    Flag.withDefault(false)
  )
}

/** Which database: what every command that opens one can be told. */
export const database = {
  databaseUrl: secret(
    "database-url",
    "CONSOLE_DATABASE_URL",
    "the embedded database",
    "PostgreSQL to use, as postgres://user:password@host:port/database"
  ),
  data: text("data", "CONSOLE_DATA", "./data", "Directory of the embedded database and its keys"),
  maxConnections: number(
    "max-connections",
    "CONSOLE_MAX_CONNECTIONS",
    10,
    [1, 1000],
    "Connections to PostgreSQL at most"
  ),
  keyPrefix: text("key-prefix", "CONSOLE_KEY_PREFIX", defaultKeyPrefix, "What API keys begin with, before _live_")
}

/** Where and how the service listens. */
export const server = {
  host: text("host", "CONSOLE_HOST", "127.0.0.1", "Address to listen on"),
  port: number("port", "CONSOLE_PORT", 8080, [0, 65_535], "Port to listen on; 0 takes a free one"),
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
  knownAssistants: optionalText(
    "known-assistants",
    "CONSOLE_KNOWN_ASSISTANTS",
    "none",
    "Callback addresses of known assistants, as assistant_a=https://host/path, separated by spaces"
  ),
  migrate: onOff("migrate", "CONSOLE_MIGRATE", "Bring PostgreSQL's schema up to date before serving"),
  demo: onOff("demo", null, "Fill an empty database with a demo organization, and simulate the messenger"),
  logFormat: choice("log-format", "CONSOLE_LOG_FORMAT", ["pretty", "json", "logfmt"], "pretty", "How logs are written")
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

described.push({
  flag: null,
  variable: "CONSOLE_API_KEY",
  fallback: "required by `mcp`",
  description: "API key that `mcp` works with"
})

described.push({
  flag: null,
  variable: "CONSOLE_PEPPERS",
  fallback: "on the embedded database, made in the data directory",
  description:
    "Keys under which digests and secrets are kept: base64 of 32 bytes or more, newest first, separated by commas"
})

/** The peppers, which no flag can give: arguments are seen by every user of the machine. */
export const peppers = Config.option(Config.Redacted("CONSOLE_PEPPERS"))

described.push({
  flag: null,
  variable: "CONSOLE_CSRF_KEYS",
  fallback: "on the embedded database, made in the data directory",
  description:
    "Keys of the tokens in the console's forms: base64 of 32 bytes or more, newest first, separated by commas"
})

/** The keys of the console's forms, which no flag can give either. */
export const csrfKeys = Config.option(Config.Redacted("CONSOLE_CSRF_KEYS"))

/** Which database was asked for. */
export interface Database {
  readonly databaseUrl: Option.Option<Redacted.Redacted>
  readonly data: string
  readonly maxConnections: number
  readonly keyPrefix: string
}

/** The table as Markdown. */
export const markdown = (): string =>
  [
    "| Flag | Variable | Default | What it says |",
    "|---|---|---|---|",
    ...described.map(({ description, fallback, flag, variable }) =>
      `| ${flag === null ? "" : `\`--${flag}\``} | ${
        variable === null ? "" : `\`${variable}\``
      } | ${fallback} | ${description} |`
    )
  ].join("\n")
