/** The command that brings the database's schema up to date. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import * as Environment from "../process/Environment.ts"
import * as Settings from "../settings/Settings.ts"
import * as Output from "./Output.ts"

/** Brings the schema up to date. */
export const migrate = Command.make(
  "migrate",
  {
    ...Settings.database,
    ...Settings.migration,
    simulated: Flag.Boolean("simulated").pipe(
      Flag.withDescription("Create the tables of the simulated messenger too, for a seed on PostgreSQL"),
      Flag.withDefault(false)
    ),
    json: Output.json
  },
  (settings) =>
    Effect.gen(function*() {
      const applied = yield* Environment.isEmbedded(settings)
        ? Effect.provide(Environment.update(settings), Environment.sql(settings))
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
  Output.examples(["migrate", "Before a new version is started on PostgreSQL"])
)
