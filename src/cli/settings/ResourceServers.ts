/** The resource servers that may introspect tokens, from the settings. */
import { Effect, Option, Redacted } from "effect"
import { resources } from "../../domain/oauth/OAuth.ts"
import type { ResourceServer } from "../../ports/oauth/OAuthPorts.ts"
import { SettingInvalid } from "../process/Environment.ts"
import * as Settings from "./Settings.ts"

const form = /^([A-Za-z0-9._-]{1,64}):([a-z0-9]+):([\x21-\x7e]{32,})$/

/** Reads the list; the message never repeats a secret. */
export const resourceServers = Effect.gen(function*() {
  const text = Redacted.value(Option.getOrElse(yield* Settings.resourceServers, () => Redacted.make("")))
  const servers: Array<ResourceServer> = []
  for (const [place, entry] of text.split(/\s+/).filter((part) => part !== "").entries()) {
    const [, id = "", name, secret = ""] = form.exec(entry) ?? []
    const resource = resources.find((known) => known === name)
    if (resource === undefined || servers.some((server) => server.id === id)) {
      return yield* new SettingInvalid({
        message:
          `CONSOLE_RESOURCE_SERVERS is a list of name:resource:secret with ${
            resources.join(" or ")
          } as resource, names ` +
          `that differ, and secrets of at least 32 characters; its entry ${place + 1} is not.`
      })
    }
    servers.push({ id, resource, secret: Redacted.make(secret) })
  }
  return servers
})
