#!/usr/bin/env node
/** The command line of the service. */
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Config, Console, Effect, Exit, Option, Predicate } from "effect"
import { CliError, CliOutput, Command } from "effect/cli"
import { HttpServerError } from "effect/http"
import { SqlError } from "effect/sql"
import * as Documents from "../http/Documents.ts"
import * as SeedSchema from "../layers/seed/SeedSchema.ts"
import * as Migrate from "../layers/sql/Migrate.ts"
import { migrations } from "../layers/sql/migrations/index.ts"
import * as Roles from "../layers/sql/Roles.ts"
import * as Commands from "./Commands.ts"
import * as Environment from "./Environment.ts"
import { mcp } from "./Mcp.ts"
import { serve } from "./Serve.ts"
import * as Settings from "./Settings.ts"
import { version } from "./Version.ts"

const serveCommand = Command.make("serve", { ...Settings.database, ...Settings.server }, serve).pipe(
  Command.withDescription("Serve the API, on the embedded database or on PostgreSQL")
)

const mcpCommand = Command.make("mcp", { ...Settings.database, ...Settings.assistant }, mcp).pipe(
  Command.withDescription("Serve an AI assistant over standard input and output, with the key in CONSOLE_API_KEY")
)

const migrate = Command.make("migrate", Settings.database, (settings) =>
  Effect.gen(function*() {
    if (!Environment.isEmbedded(settings)) yield* Roles.ensure
    const applied = yield* Migrate.run(migrations)
    yield* Console.log(
      applied.length === 0
        ? "The schema is up to date."
        : applied.map(([id, name]) => `Applied ${id} ${name}`).join("\n")
    )
  }).pipe(
    Effect.provide(Environment.sql(settings)),
    (migrated) => Effect.andThen(Environment.present(settings), migrated)
  )).pipe(
    Command.withDescription("Bring the database's schema up to date")
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
  Command.withSubcommands([serveCommand, mcpCommand, migrate, ...Commands.commands, openapi, seedSchema, settings])
)

/** Stopping a service on request is success; a command line that cannot be read is 2, anything else that fails is 1. */
const exitCode = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return 0
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  return CliError.isCliError(error) ? 2 : 1
}

/** What went wrong at the bottom, without its trace. */
const origin = (error: unknown): string =>
  error instanceof Error ? error.cause instanceof Error ? origin(error.cause) : error.message : String(error)

const told = (error: Error): string =>
  SqlError.isSqlError(error)
    ? `The database did not do it: ${origin(error.reason)}.`
    : error instanceof HttpServerError.ServeError
    ? `The service cannot listen: ${origin(error)}.`
    : error.message

/** What the operating system says of a file or a socket. */
const isSystemError = (error: unknown): error is Error =>
  error instanceof Error && Predicate.hasProperty(error, "syscall")

/** What was refused as it says itself, mostly in one line; the whole story for what should not happen. */
const report = (cause: Cause.Cause<unknown>) => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause)) ?? cause.reasons.filter(Cause.isDieReason)
    .map(({ defect }) => defect).find(isSystemError)
  return Cause.hasInterruptsOnly(cause) || CliError.isCliError(error)
    ? Effect.void
    : Console.error(
      error instanceof Config.ConfigError
        ? `${error.cause.message}.`
        : error instanceof Error
        ? told(error)
        : Cause.pretty(cause)
    )
}

/** The message in one line; what a variable holds in place of a flag is told without the flag's own words. */
const inOneLine = (message: string): string =>
  message.replaceAll(/\s+/g, " ").replace(/: "config"\. Expected: SourceError: /, ": ")

/** A command line that cannot be read gets one line, not the whole help. */
const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Console.error(
        `${event.errors.map(({ message }) => inOneLine(message)).join("; ")}; see ${event.commandPath.join(" ")} --help`
      )
      : CliOutput.defaultPresenter.present(event)
})

program.pipe(
  Command.run({ version }),
  Effect.provide(presenter),
  Effect.tapCause(report),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown: (exit, onExit) => onExit(exitCode(exit)) })
)
