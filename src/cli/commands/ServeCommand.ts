/** The command that serves the API. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as Settings from "../settings/Settings.ts"
import * as Output from "./Output.ts"

/** Serves the API; what it is served with is loaded when it is. */
export const serve = Command.make(
  "serve",
  {
    ...Settings.database,
    ...Settings.migration,
    ...Settings.server,
    ...Settings.mail,
    ...Settings.watching,
    ...Settings.archiving,
    ...Settings.messenger
  },
  (settings) =>
    Effect.flatMap(Effect.promise(() => import("../process/HttpService.ts")), ({ serve }) => serve(settings))
).pipe(
  Output.examples(["serve --demo", "Look around, in a directory of its own"], [
    "serve",
    "Serve on the embedded database in ./data"
  ], [
    "serve --base-url https://security.example.com --trusted-proxies 10.0.0.0/8",
    "Serve behind a proxy; CONSOLE_DATABASE_URL names a PostgreSQL"
  ])
)
