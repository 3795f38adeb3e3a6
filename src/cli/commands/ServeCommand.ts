/** The command that serves the API. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as Settings from "../settings/Settings.ts"

/** Serves the API; what it is served with is loaded when it is. */
export const serve = Command.make(
  "serve",
  {
    ...Settings.database,
    ...Settings.migration,
    ...Settings.server,
    ...Settings.mail,
    ...Settings.watching,
    ...Settings.messenger
  },
  (settings) =>
    Effect.flatMap(Effect.promise(() => import("../process/HttpService.ts")), ({ serve }) => serve(settings))
).pipe(
  Command.withExamples([
    { command: "security-console serve --demo", description: "Look around, in a directory of its own" },
    { command: "security-console serve", description: "Serve on the embedded database in ./data" },
    {
      command: "security-console serve --base-url https://security.example.com --trusted-proxies 10.0.0.0/8",
      description: "Serve behind a proxy; CONSOLE_DATABASE_URL names a PostgreSQL"
    }
  ])
)
