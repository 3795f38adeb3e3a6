/** The command that serves an AI assistant. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as Settings from "../settings/Settings.ts"
import * as Output from "./Output.ts"

/** Serves an AI assistant; what it is served with is loaded when it is. */
export const mcp = Command.make(
  "mcp",
  {
    ...Settings.database,
    ...Settings.assistant,
    logLevel: Settings.server.logLevel,
    checkpointPush: Settings.server.checkpointPush,
    // The address for links in mails: this process is not reachable itself.
    baseUrl: Settings.server.baseUrl,
    sites: Settings.server.sites
  },
  (settings) => Effect.flatMap(Effect.promise(() => import("../process/McpServer.ts")), ({ mcp }) => mcp(settings))
).pipe(
  Output.examples(["mcp --read-only", "For a client that starts its servers itself"], [
    "mcp --url https://security.example.com",
    "Connect to a service elsewhere"
  ])
)
