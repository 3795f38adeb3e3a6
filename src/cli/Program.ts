/** The command line of the service: its commands, and how what goes wrong is told. */
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Logger } from "effect"
import { Command } from "effect/cli"
import * as Documents from "../http/Documents.ts"
import * as SeedSchema from "../layers/seed/SeedSchema.ts"
import * as Migrate from "../layers/sql/Migrate.ts"
import { migrations } from "../layers/sql/migrations/index.ts"
import { demo } from "./DemoReset.ts"
import * as Environment from "./Environment.ts"
import * as Errors from "./Errors.ts"
import { groups } from "./Groups.ts"
import { mcp } from "./Mcp.ts"
import * as Output from "./Output.ts"
import { serve } from "./Serve.ts"
import * as Settings from "./Settings.ts"
import { status } from "./Status.ts"
import { version } from "./Version.ts"

const serveCommand = Command.make("serve", { ...Settings.database, ...Settings.migration, ...Settings.server }, serve)
  .pipe(
    Command.withDescription("Serve the API, on the embedded database or on PostgreSQL"),
    Command.withExamples([
      { command: "security-console serve --demo", description: "Look around, in a directory of its own" },
      { command: "security-console serve", description: "Serve on the embedded database in ./data" },
      {
        command: "security-console serve --base-url https://security.example.com --trusted-proxies 10.0.0.0/8",
        description: "Serve behind a proxy; CONSOLE_DATABASE_URL names a PostgreSQL"
      }
    ])
  )

const mcpCommand = Command.make("mcp", { ...Settings.database, ...Settings.assistant }, mcp).pipe(
  Command.withDescription("Serve an AI assistant over standard input and output, with the key in CONSOLE_API_KEY"),
  Command.withExamples([
    { command: "security-console mcp --read-only", description: "For a client that starts its servers itself" },
    {
      command: "security-console mcp --url https://security.example.com",
      description: "Connect to a service elsewhere"
    }
  ])
)

const migrate = Command.make(
  "migrate",
  { ...Settings.database, ...Settings.migration, json: Output.json },
  (settings) =>
    Effect.gen(function*() {
      const applied = yield* Environment.isEmbedded(settings)
        ? Effect.provide(Migrate.run(migrations), Environment.sql(settings))
        : Environment.migrate(settings)
      yield* Output.print(
        settings.json,
        { applied: applied.map(([id, name]) => ({ id, name })) },
        () =>
          applied.length === 0 ? ["The schema is up to date."] : applied.map(([id, name]) => `Applied ${id} ${name}`)
      )
    }).pipe(
      (migrated) => Effect.andThen(Environment.present(settings), migrated)
    )
).pipe(
  Command.withDescription("Bring the database's schema up to date"),
  Command.withExamples([
    { command: "security-console migrate", description: "Before a new version is started on PostgreSQL" }
  ])
)

const openapi = Command.make("openapi", {}, () => Console.log(JSON.stringify(Documents.make(), null, 2))).pipe(
  Command.withDescription("Print the OpenAPI document")
)

const seedSchema = Command.make("seed-schema", {}, () => Console.log(JSON.stringify(SeedSchema.make(), null, 2))).pipe(
  Command.withDescription("Print the JSON Schema of seed files")
)

const settings = Command.make("settings", {}, () => Console.log(Settings.markdown())).pipe(
  Command.withDescription("Print every setting, its flag, variable and default")
)

const program = Command.make("security-console").pipe(
  Command.withDescription("The Organization Security Console API"),
  Command.withSubcommands([serveCommand, mcpCommand, migrate, ...groups, status, demo, openapi, seedSchema, settings])
)

/** Runs the command line to its end, which ends the process. */
export const start = () =>
  program.pipe(
    Command.run({ version }),
    Effect.provide(Errors.presenter),
    Effect.tapCause(Errors.report),
    Effect.provide(NodeServices.layer),
    Effect.provideService(Logger.LogToStderr, true),
    NodeRuntime.runMain({ disableErrorReporting: true, teardown: (exit, onExit) => onExit(Errors.exitCode(exit)) })
  )
