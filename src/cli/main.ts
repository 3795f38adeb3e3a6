#!/usr/bin/env node
/** The command line of the service. */
import "effect/schema/SchemaJITCompiler/enable"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Console, Effect, Exit, Option } from "effect"
import { CliError, Command } from "effect/cli"
import { createRequire } from "node:module"
import * as Documents from "../http/Documents.ts"
import * as SeedSchema from "../layers/seed/SeedSchema.ts"
import * as Migrate from "../layers/sql/Migrate.ts"
import { migrations } from "../layers/sql/migrations/index.ts"
import * as Roles from "../layers/sql/Roles.ts"
import * as Commands from "./Commands.ts"
import * as Environment from "./Environment.ts"
import { serve } from "./Serve.ts"
import * as Settings from "./Settings.ts"

const { version }: { readonly version: string } = createRequire(import.meta.url)("../../package.json")

const serveCommand = Command.make("serve", { ...Settings.database, ...Settings.server }, serve).pipe(
  Command.withDescription("Serve the API, on the embedded database or on PostgreSQL")
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
  }).pipe(Effect.provide(Environment.sql(settings)))).pipe(
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
  Command.withSubcommands([serveCommand, migrate, ...Commands.commands, openapi, seedSchema, settings])
)

/** Stopping a service on request is success; a command line that cannot be read is 2, anything else that fails is 1. */
const exitCode = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return 0
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  return CliError.isCliError(error) ? 2 : 1
}

/** One line for what was refused; the whole story for what should not happen. */
const report = (cause: Cause.Cause<unknown>) => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  return Cause.hasInterruptsOnly(cause) || CliError.isCliError(error)
    ? Effect.void
    : Console.error(error instanceof Error ? error.message : Cause.pretty(cause))
}

program.pipe(
  Command.run({ version }),
  Effect.tapCause(report),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown: (exit, onExit) => onExit(exitCode(exit)) })
)
