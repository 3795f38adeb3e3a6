/** The shared parts of the commands that work on a database: each sends one request. */
import { Effect } from "effect"
import { Argument } from "effect/cli"
import type { Asked, CommandClient } from "../process/ControlClient.ts"
import type { Doing } from "../process/LocalRequests.ts"
import * as Settings from "../settings/Settings.ts"
import * as Output from "./Output.ts"

/** Sends a request to where the database is; both sides are loaded when they are needed. */
export const run = Effect.fnUntraced(function*<A>(
  settings: Settings.Database,
  asked: Asked<CommandClient, A>,
  doing: Doing = {}
) {
  const { invoke } = yield* Effect.promise(() => import("../process/ControlClient.ts"))
  const here = Effect.flatMap(
    Effect.promise(() => import("../process/LocalRequests.ts")),
    ({ commands }) => commands(settings, doing)
  )
  return yield* invoke(settings, asked, here)
})

/** The settings of every command that works on a database. */
export const common = { ...Settings.database, json: Output.json }

/** The arguments that name an organization and one of its admins. */
export const organization = Argument.String("organization").pipe(Argument.withDescription("The organization's id"))
export const email = Argument.String("email").pipe(Argument.withDescription("The admin's address"))
