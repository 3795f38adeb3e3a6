/** The command that reports the state of the service, running or not. */
import { Effect, Option, Redacted } from "effect"
import { Command } from "effect/cli"
import * as fs from "node:fs"
import * as path from "node:path"
import { readKeys } from "../../layers/crypto/Peppers.ts"
import type { databaseStatus } from "../../operator/Database.ts"
import { Refused } from "../../operator/UseCase.ts"
import { version } from "../PackageFiles.ts"
import * as Environment from "../process/Environment.ts"
import * as Errors from "../process/ErrorReports.ts"
import * as Address from "../process/HolderAddress.ts"
import * as Settings from "../settings/Settings.ts"
import * as UnknownVariables from "../settings/UnknownVariables.ts"
import * as Output from "./Output.ts"

type Database = typeof databaseStatus.output.Type

/** The address of the database, without its password. */
const place = (settings: Settings.Database): string =>
  Option.match(settings.databaseUrl, {
    onNone: () => path.resolve(settings.data),
    onSome: (url) => {
      const text = Redacted.value(url)
      if (!URL.canParse(text)) return "an address that cannot be read"
      const { host, pathname, searchParams } = new URL(text)
      return `${searchParams.get("host") ?? host}${pathname}`
    }
  })

/** The ids of the peppers that the settings or the directory hold; nothing is made. */
const knownPeppers = Effect.fnUntraced(function*(settings: Settings.Database) {
  const configured = yield* Settings.peppers
  const file = path.join(settings.data, "pepper")
  const text = Option.isSome(configured)
    ? configured
    : Environment.isEmbedded(settings) && fs.existsSync(file)
    ? Option.some(Redacted.make(fs.readFileSync(file, "utf8")))
    : Option.none()
  return Option.isNone(text) ? [] : (yield* readKeys(text.value)).map(({ id }) => id)
})

/** The database's status, or why it is unavailable; a directory without a database stays as it is. */
const askDatabase = (settings: Settings.Database): Effect.Effect<Database | { readonly failure: string }> => {
  const embedded = Environment.isEmbedded(settings)
  if (embedded && !fs.existsSync(path.join(settings.data, "database"))) {
    return Effect.succeed({ failure: "there is none yet" })
  }
  const here = Effect.flatMap(
    Effect.promise(() => import("../process/LocalRequests.ts")),
    ({ database }) => database(settings)
  )
  return Effect.promise(() => import("../process/ControlClient.ts")).pipe(
    Effect.flatMap(({ invoke }) => invoke(settings, (requests) => requests.database_status({}), here)),
    Effect.catch((error) => Effect.succeed({ failure: Errors.messageOf(error) }))
  )
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`
const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`

const faultTexts: Record<NonNullable<NonNullable<Database["watch"]>["fault"]>, string> = {
  unpolled:
    "no process polls the accounts, although some are due: start one with the role worker and a messenger (`--messenger wire`, or `--demo`)",
  unavailable: "the messenger does not answer",
  failing: "no account can be polled; `last_poll_error` of the accounts says why"
}

/** The line about the polls of accounts. */
export const watchText = ({ fault, last_good_at, last_poll_at }: NonNullable<Database["watch"]>): string => {
  const at = (moment: Date | null) => moment?.toISOString() ?? "never"
  if (fault !== null) return `${faultTexts[fault]}; last poll ${at(last_poll_at)}, last good one ${at(last_good_at)}`
  return last_good_at === null ? "no account is to be watched" : `last poll ${at(last_poll_at)}`
}

/** The line about the workers that share the accounts. */
export const workersText = ({ free_slots, living }: NonNullable<Database["workers"]>): string => {
  const shares = living.map(({ address, since, slots }) =>
    since === null ? `${address} has no slots` : `${address} has ${slots} slots, since ${since.toISOString()}`
  ).join("; ")
  return `${shares}; ${free_slots === 0 ? "none is nobody's" : `${free_slots} are nobody's`}`
}

/**
 * The problems that keep the service from starting, from knowing its keys, or from protecting the accounts while it
 * runs.
 */
const problemsOf = (
  database: Database | { readonly failure: string },
  known: ReadonlyArray<string>,
  running: boolean
) => {
  if ("failure" in database) return [`The database: ${database.failure.replace(/\.$/, "")}.`]
  const { applied, known: latest } = database.schema
  const missing = database.peppers_used.filter((id) => !known.includes(id))
  return [
    ...(applied !== null && applied > latest ? ["The schema is newer than this program: run the newer program."] : []),
    ...(missing.length > 0
      ? [
        `Peppers that keys were made with are missing (${
          missing.join(", ")
        }): those keys do not work. Bring back the ` +
        "file `pepper` of the data directory, or CONSOLE_PEPPERS, from the backup."
      ]
      : []),
    ...(running && database.watch !== null && database.watch.fault !== null
      ? [`Protection: ${watchText(database.watch)}.`]
      : [])
  ]
}

const schemaText = ({ applied, known }: Database["schema"]): string =>
  applied === known ? `${applied}, up to date` : `${applied ?? "none yet"}; this program's is ${known}`

const checkpointText = (checkpoint: Database["last_checkpoint"]): string =>
  checkpoint === null
    ? "none"
    : `${checkpoint.at.toISOString()}, ${checkpoint.organization} at event ${checkpoint.sequence}`

/** The line about journals that should have been signed by now. */
export const unsignedText = ([first, ...others]: Database["unsigned_journals"]): string =>
  first === undefined
    ? "no event older than two minutes"
    : `${first.organization} from event ${first.sequence} of ${first.at.toISOString()} on${
      others.length === 0 ? "" : `, and ${others.length} more`
    }: they may have been changed; see journal verify`

const jobsText = (jobs: NonNullable<Database["jobs"]>): string => {
  const failing = jobs.flatMap(({ failure, name }) => failure === null ? [] : [`${name} (${failure})`])
  return `${jobs.length}, ${failing.length === 0 ? "none of which failed last" : `failed last: ${failing.join(", ")}`}`
}

const databaseLines = (database: Database, known: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => [
  ["Version", `PostgreSQL ${database.version}`],
  ["Size", megabytes(database.size_bytes)],
  ["Role", `${database.role}, ${database.owns_tables ? "which owns the tables" : "which does not own the tables"}`],
  ["Schema", schemaText(database.schema)],
  ["Organizations", String(database.organizations)],
  ["Peppers", `known: ${known.join(", ") || "none"}; used: ${database.peppers_used.join(", ") || "none"}`],
  ["Checkpoint", checkpointText(database.last_checkpoint)],
  ["Unsigned", unsignedText(database.unsigned_journals)],
  ...(database.watch === null ? [] : [["Watch", watchText(database.watch)]]),
  ...(database.workers === null ? [] : [["Workers", workersText(database.workers)]]),
  ...(database.jobs === null ? [] : [["Jobs", jobsText(database.jobs)]])
]

/** The state of the program, its database and its settings. */
export const status = Command.make(
  "status",
  { ...Settings.database, json: Output.json },
  (input) =>
    Effect.gen(function*() {
      const embedded = Environment.isEmbedded(input)
      const database = yield* askDatabase(input)
      const known = yield* knownPeppers(input)
      const service = embedded ? Option.getOrNull(yield* Address.find(input.data)) : null
      const disk = embedded && fs.existsSync(input.data) ? fs.statfsSync(input.data) : null
      const problems = problemsOf(database, known, !embedded || service !== null)
      const answer = {
        program: { version, node: process.versions.node, platform: `${process.platform} ${process.arch}` },
        database: { kind: embedded ? "embedded" : "postgresql", place: place(input), ...database },
        service: service === null ? null : { url: service.url, pid: service.pid },
        peppers_known: known,
        disk_free_bytes: disk === null ? null : disk.bavail * disk.bsize,
        unknown_variables: UnknownVariables.unknown(),
        problems
      }
      yield* Output.print(input.json, answer, () => [
        ...Output.columns([
          ["Program", `${version} on Node ${process.versions.node}, ${answer.program.platform}`],
          ["Database", `${embedded ? "embedded, in" : "PostgreSQL, at"} ${answer.database.place}`],
          ...("failure" in database ? [] : databaseLines(database, known)),
          ...(embedded
            ? [["Service", service === null ? "none runs on the directory" : `${service.url}, process ${service.pid}`]]
            : []),
          ...(disk === null ? [] : [["Disk", `${gigabytes(disk.bavail * disk.bsize)} free`]])
        ]),
        ...UnknownVariables.unknown().map(({ name, nearest }) => `${UnknownVariables.advice(name, nearest)}`)
      ])
      const [problem] = problems
      if (problem !== undefined) return yield* new Refused({ message: problems.join("\n") })
    })
).pipe(
  Output.examples(["status", "Look at ./data, with a service on it or without"], [
    "status --json | jq .problems",
    "For a monitor"
  ])
)
