/** The command line of the service: its commands, and how what goes wrong is reported. */
import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Logger, Stdio } from "effect"
import { CliConfig, Command, GlobalFlag } from "effect/cli"
import { version } from "./PackageFiles.ts"
import * as Errors from "./process/ErrorReports.ts"

/** A command by its name and description; the rest of it is loaded when it is run. */
const lazy = <Name extends string, Input, Context, E, R>(
  name: Name,
  description: string,
  load: () => Promise<Command.Command<Name, Input, Context, E, R>>
) => ({
  name,
  listed: Command.make(name).pipe(Command.withDescription(description)),
  load: async () => Command.withDescription(await load(), description)
})

const print = () => import("./commands/PrintCommands.ts")

const commands = [
  lazy(
    "serve",
    "Serve the API, on the embedded database or on PostgreSQL",
    () => import("./commands/ServeCommand.ts").then(({ serve }) => serve)
  ),
  lazy(
    "mcp",
    "Serve an AI assistant over standard input and output, with the key in CONSOLE_API_KEY",
    () => import("./commands/McpCommand.ts").then(({ mcp }) => mcp)
  ),
  lazy(
    "bridge",
    "Serve an AI assistant over standard input and output, and open the archive on this machine",
    () => import("./commands/BridgeCommand.ts").then(({ bridge }) => bridge)
  ),
  lazy(
    "migrate",
    "Bring the database's schema up to date",
    () => import("./commands/MigrateCommand.ts").then(({ migrate }) => migrate)
  ),
  lazy(
    "organizations",
    "Make, list and change organizations",
    () => import("./commands/organization/OrganizationCommands.ts").then(({ organizations }) => organizations)
  ),
  lazy(
    "admins",
    "Make, list and change admins",
    () => import("./commands/people/AdminCommands.ts").then(({ admins }) => admins)
  ),
  lazy(
    "accounts",
    "List accounts, change how they are licensed, and print the passwords that the service holds",
    () => import("./commands/organization/LicenceCommands.ts").then(({ accounts }) => accounts)
  ),
  lazy(
    "sign-up-links",
    "List and revoke the links that hold seats",
    () => import("./commands/organization/LicenceCommands.ts").then(({ signUpLinks }) => signUpLinks)
  ),
  lazy(
    "keys",
    "Make, list and revoke API keys",
    () => import("./commands/credentials/KeyCommands.ts").then(({ keys }) => keys)
  ),
  lazy(
    "applications",
    "Say which applications the admins of an organization may connect",
    () => import("./commands/oauth/ApplicationCommands.ts").then(({ applications }) => applications)
  ),
  lazy(
    "seed",
    "Load organizations from a file of JSON; prints the keys it made, once. Organizations that are there stay as they are",
    () => import("./commands/SeedCommand.ts").then(({ seed }) => seed)
  ),
  lazy(
    "secrets",
    "Seal what the service holds of accounts anew",
    () => import("./commands/security/SecretCommands.ts").then(({ secrets }) => secrets)
  ),
  lazy(
    "archive",
    "Set the password of an organization's archive",
    () => import("./commands/archive/ArchiveCommands.ts").then(({ archive }) => archive)
  ),
  lazy(
    "support",
    "List, answer and close requests to the support",
    () => import("./commands/organization/SupportCommands.ts").then(({ support }) => support)
  ),
  lazy(
    "journal",
    "Show, verify, export and checkpoint journals",
    () => import("./commands/journal/JournalCommands.ts").then(({ journal }) => journal)
  ),
  lazy(
    "status",
    "Report the state of the service: versions, database, schema, peppers, checkpoint, disk; exit code 1 for a problem",
    () => import("./commands/StatusCommand.ts").then(({ status }) => status)
  ),
  lazy("demo", "Start the demo over", () => import("./commands/DemoReset.ts").then(({ demo }) => demo)),
  lazy("openapi", "Print the OpenAPI document", () => print().then(({ openapi }) => openapi)),
  lazy("seed-schema", "Print the JSON Schema of seed files", () => print().then(({ seedSchema }) => seedSchema)),
  lazy(
    "settings",
    "Print every setting, its flag, variable and default",
    () => print().then(({ settings }) => settings)
  )
]

/** The commands, of which those that the words name are loaded; what completes every word needs all. */
const program = Effect.fnUntraced(function*(words: ReadonlyArray<string>) {
  const isNeeded = (name: string) => words.some((word) => word === name || word.startsWith("--completions"))
  const all = yield* Effect.promise(() =>
    Promise.all(commands.map((each) => isNeeded(each.name) ? each.load() : each.listed))
  )
  return Command.make("security-console").pipe(
    Command.withDescription("The Organization Security Console API"),
    Command.withSubcommands(all)
  )
})

/** The commands that log have `--log-level` among their settings. */
const config = CliConfig.layer({ builtIns: GlobalFlag.BuiltIns.filter((flag) => flag !== GlobalFlag.LogLevel) })

/** Runs the command line that standard input and output came with. */
export const run = Effect.flatMap(Stdio.Stdio, ({ args }) => Effect.flatMap(args, program)).pipe(
  Effect.flatMap(Command.run({ version })),
  Effect.provide([config, Errors.presenter]),
  Effect.tapCause(Errors.report),
  Effect.provideService(Logger.LogToStderr, true)
)

/** Runs the command line of the process to its end, which ends the process. */
export const start = () =>
  run.pipe(
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain({ disableErrorReporting: true, teardown: (exit, onExit) => onExit(Errors.exitCode(exit)) })
  )
