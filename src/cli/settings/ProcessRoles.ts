/** The roles of a process of the service: it serves the interface, it watches the accounts, or both. */
import { Effect } from "effect"
import * as Environment from "../process/Environment.ts"
import type * as Settings from "./Settings.ts"

export interface ProcessRoles {
  readonly api: boolean
  readonly worker: boolean
}

const known = ["api", "worker"]

/** The roles that the settings name. */
export const parse = Effect.fnUntraced(function*(settings: Settings.Database & Settings.WatchSettings) {
  const names = settings.roles.split(",").map((name) => name.trim()).filter((name) => name !== "")
  if (names.length === 0 || names.some((name) => !known.includes(name))) {
    return yield* new Environment.SettingInvalid({
      message: `--roles is api, worker or both, separated by a comma, not ${JSON.stringify(settings.roles)}.`
    })
  }
  const roles: ProcessRoles = { api: names.includes("api"), worker: names.includes("worker") }
  if (!roles.api && Environment.isEmbedded(settings)) {
    return yield* new Environment.SettingInvalid({
      message: "The embedded database has one process, so that --roles worker alone needs a PostgreSQL."
    })
  }
  return roles
})
