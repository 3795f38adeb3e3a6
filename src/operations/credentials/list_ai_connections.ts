import { Effect } from "effect"
import { AiConnections } from "../../domain/credentials/Credential.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Credentials } from "../../ports/credentials/Credentials.ts"
import * as samples from "./credentials.samples.ts"

export const listAiConnections = Operation.read(
  "list_ai_connections",
  {
    summary: "List AI connections and API keys, newest first, never with a secret.",
    description:
      "Owner and superadmins see every credential of the organization with its owner's address; any other role sees its own. A role that may not read the archive sees of the connections only the AI apps that it connected itself. Names of apps were chosen by the apps and prove nothing.",
    method: "GET",
    path: "/v1/ai-connections",
    toolset: "admin",
    scope: "org:read",
    roles: everyone,
    success: AiConnections,
    sample: samples.listAiConnections
  },
  Effect.fnUntraced(function*(_, { caller }) {
    const credentials = yield* Credentials
    const found = yield* Effect.all({
      connections: credentials.connections(caller),
      api_keys: credentials.apiKeys(caller)
    }, { concurrency: "unbounded" })
    return { object: "ai_connections" as const, ...found }
  })
)
