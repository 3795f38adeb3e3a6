/** What an operator can do to a database: each command takes and answers JSON, so that a socket can carry it. */
import { Effect, Redacted, Schema } from "effect"
import * as Admins from "../administration/Admins.ts"
import * as ApiKeys from "../administration/ApiKeys.ts"
import * as Organizations from "../administration/Organizations.ts"
import * as Loader from "../layers/seed/Loader.ts"
import { approveApplication, listApplications, requireApproval, withdrawApplication } from "./Applications.ts"
import { databaseStatus } from "./DatabaseStatus.ts"
import { command, commandOf, type Refused } from "./Declared.ts"
import { checkpoint, exportJournal, verifyJournal } from "./Journals.ts"
import { records } from "./Records.ts"

export const createOrganization = commandOf(Organizations.createOrganization)
export const createAdmin = commandOf(Admins.createAdmin)
export const setPassword = commandOf(Admins.setPassword)
export const disableAdmin = commandOf(Admins.disableAdmin)
export const enableAdmin = commandOf(Admins.enableAdmin)
export const createKey = commandOf(ApiKeys.createKey)
export const revokeKey = commandOf(ApiKeys.revokeKey)

export const seed = command(
  "seed",
  Schema.Struct({ seed: Schema.Json }),
  Schema.Struct({
    created: Schema.Array(Schema.String),
    unchanged: Schema.Array(Schema.String),
    keys: Schema.Array(Schema.Struct({
      organization: Schema.String,
      label: Schema.String,
      admin: Schema.String,
      key: Schema.String
    }))
  }),
  (input) =>
    Effect.gen(function*() {
      const loaded = yield* Loader.load(yield* Loader.decode(input.seed))
      return { ...loaded, keys: loaded.keys.map((made) => ({ ...made, key: Redacted.value(made.key) })) }
    })
)

/** Every command. */
export const commands = [
  createOrganization,
  createAdmin,
  setPassword,
  disableAdmin,
  enableAdmin,
  createKey,
  revokeKey,
  listApplications,
  requireApproval,
  approveApplication,
  withdrawApplication,
  seed,
  verifyJournal,
  checkpoint,
  exportJournal,
  ...records,
  databaseStatus
] as const

/** What commands need. */
export type CommandServices = Effect.Services<ReturnType<(typeof commands)[number]["execute"]>>

/** One command, for code that runs any. */
export interface Command<Input, Output> {
  readonly name: string
  readonly input: Schema.Codec<Input, unknown>
  readonly output: Schema.Codec<Output, unknown>
  execute(json: unknown): Effect.Effect<unknown, Refused, CommandServices>
}
