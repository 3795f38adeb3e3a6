/** Every setting of the service, by flag or by environment; the table of docs/configuration.md is made from here. */
import { Config, Duration, Option, type Redacted } from "effect"
import {
  accountsAtOnce,
  defaultArchiveRate,
  defaultArchiveRuns,
  defaultComparedDays,
  defaultLoginStarts,
  defaultMaxLive,
  defaultReviewWindow,
  mediaPartsPerSecond
} from "../../domain/Limits.ts"
import { choice, describe, described, hidden, number, onOff, optionalText, text } from "./Setting.ts"

// The table has them in the order in which they are declared.
export * from "./ServiceSettings.ts"

/** The watching of accounts. */
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
  ),
  clusterAddress: optionalText(
    "cluster-address",
    "CONSOLE_CLUSTER_ADDRESS",
    "a free port of loopback",
    "Private address at which processes on other machines reach this worker, as 10.0.0.7:8090, the one in a network, as 10.0.0.0/24:8090, or auto:8090"
  ),
  clusterWeight: number(
    "cluster-weight",
    "CONSOLE_CLUSTER_WEIGHT",
    1,
    [1, 100],
    "Share of the accounts that this worker watches, compared with other workers"
  )
}

/** The archiving of chats, in processes that watch accounts. */
export const archiving = {
  archiveRuns: number(
    "archive-runs",
    "CONSOLE_ARCHIVE_RUNS",
    defaultArchiveRuns,
    [1, 1000],
    "Accounts whose archives the process completes at the same time"
  ),
  archiveRate: number(
    "archive-rate",
    "CONSOLE_ARCHIVE_RATE",
    defaultArchiveRate,
    [1, 100],
    `Calls a second that read the chats of one account; the process makes ${accountsAtOnce} times as many for all`
  ),
  archiveMediaRate: number(
    "archive-media-rate",
    "CONSOLE_ARCHIVE_MEDIA_RATE",
    mediaPartsPerSecond,
    [1, 1000],
    "Parts of files, 1 MiB at most, that the process reads from the messenger in a second"
  ),
  archiveRecheck: number(
    "archive-recheck",
    "CONSOLE_ARCHIVE_RECHECK",
    defaultComparedDays,
    [0, 3650],
    "Days of archived messages that are compared again after changes were lost; 0 for all of them"
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

/** The settings of the messenger as they are read. */
export interface Messenger {
  readonly messenger: "none" | "wire"
  readonly messengerApplication: number
  readonly messengerDataCentre: Option.Option<string>
  readonly messengerKeys: Option.Option<string>
}

/** The settings of the watching as they are read. */
export interface WatchSettings {
  readonly roles: string
  readonly reviewWindow: number
  readonly loginStarts: number
  readonly maxLive: number
  readonly clusterAddress: Option.Option<string>
  readonly clusterWeight: number
}

/** The settings of archiving as they are read. */
export interface ArchiveSettings {
  readonly archiveRuns: number
  readonly archiveRate: number
  readonly archiveMediaRate: number
  readonly archiveRecheck: number
}

/** The service that the MCP server over standard input and output connects to, and what it shows. */
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
    "those that have room in a model's attention",
    "Tools that `mcp` shows, such as accounts,journal, or all"
  ),
  readOnly: onOff("read-only", "CONSOLE_READ_ONLY", "Let `mcp` change nothing")
}

/** The key of the MCP server over standard input and output. */
export const apiKey = hidden(
  "CONSOLE_API_KEY",
  "required by `mcp` and `archive export`",
  "API key that `mcp` and `archive export` work with"
)

/** The password that opens the archive for the MCP server over standard input and output. */
export const archivePassword = hidden(
  "CONSOLE_ARCHIVE_PASSWORD",
  "none",
  "Archive password that `mcp` and `archive export` send"
)

/** The key that requests of an S3 store are signed with. */
export const blobsKeyId = hidden(
  "CONSOLE_BLOBS_KEY_ID",
  "required by an s3: place",
  "Id of the key of the S3 store of files"
)
export const blobsSecret = hidden("CONSOLE_BLOBS_SECRET", "required by an s3: place", "Secret of that key")

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

/** The token that lets a client register where registration is restricted. */
export const registrationToken = hidden(
  "CONSOLE_REGISTRATION_TOKEN",
  "required by `--registration token`",
  "Initial access token that registers applications: 32 characters or more"
)

/** The resource servers that may introspect access tokens. */
export const resourceServers = hidden(
  "CONSOLE_RESOURCE_SERVERS",
  "none",
  "Programs that may ask at /oauth/introspect what tokens of their resource are worth, as name:v1:secret or name:mcp:secret, separated by spaces; a secret has 32 characters or more"
)

/** The headers that the collector requires with every export. */
export const otlpHeaders = hidden(
  "CONSOLE_OTLP_HEADERS",
  "none",
  "Headers for the collector, as name=value, separated by commas"
)

/** The requested database. */
export interface Database {
  readonly databaseUrl: Option.Option<Redacted.Redacted>
  readonly databaseInsecure: boolean
  readonly databasePooled: boolean
  readonly databaseDirectUrl: Option.Option<Redacted.Redacted>
  readonly data: string
  readonly blobs: Option.Option<string>
  readonly blobsShared: boolean
  readonly blobsLock: Option.Option<string>
  readonly maxConnections: number
  readonly keyPrefix: string
}

/** The requested database, and who migrates it. */
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

/** Every known variable, also those that name files with secrets. */
export const knownVariables = (): ReadonlyArray<string> =>
  described.flatMap(({ secret, variable }) =>
    variable === null ? [] : secret ? [variable, `${variable}_FILE`] : [variable]
  )
