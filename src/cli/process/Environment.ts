/** The layers of a process, from its settings: the database, its keys, and the core over both. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import * as fs from "node:fs"
import * as path from "node:path"
import { linkNames } from "../../domain/organization/Billing.ts"
import * as PasswordDerivation from "../../layers/archive/PasswordDerivation.ts"
import * as FileBlobs from "../../layers/blobs/FileBlobs.ts"
import * as NoBlobs from "../../layers/blobs/NoBlobs.ts"
import * as S3Blobs from "../../layers/blobs/S3Blobs.ts"
import * as Core from "../../layers/Core.ts"
import { isPrefix } from "../../layers/crypto/credentials/ApiKeys.ts"
import { CheckpointKeys } from "../../layers/crypto/journal/CheckpointKeys.ts"
import { Peppers } from "../../layers/crypto/Peppers.ts"
import { CsrfKeys } from "../../layers/crypto/signin/CsrfKeys.ts"
import { PasswordHasher } from "../../layers/crypto/signin/PasswordHasher.ts"
import * as MailSettings from "../../layers/mail/MailSettings.ts"
import type * as DirectoryLock from "../../layers/postgres/DirectoryLock.ts"
import * as Embedded from "../../layers/postgres/Embedded.ts"
import * as Migrate from "../../layers/postgres/Migrate.ts"
import { migrations } from "../../layers/postgres/migrations.ts"
import * as Postgres from "../../layers/postgres/Postgres.ts"
import * as Roles from "../../layers/postgres/Roles.ts"
import * as SigningIn from "../../layers/SigningIn.ts"
import * as KnownPeppers from "../../layers/sql/credentials/KnownPeppers.ts"
import * as CheckpointSigning from "../../layers/sql/journal/CheckpointSigning.ts"
import { LastCheckpoint } from "../../layers/sql/journal/LastCheckpoint.ts"
import * as Directory from "../../layers/sql/organization/Directory.ts"
import { BillingPages } from "../../ports/organization/StatusOverview.ts"
import { program } from "../commands/Output.ts"
import { blobLock, blobLocks, blobPlace, blobPlaces } from "../settings/BlobPlace.ts"
import * as Settings from "../settings/Settings.ts"

/** A setting that cannot be used as it is; the message is one line that says what to do. */
export class SettingInvalid
  extends Schema.TaggedError<SettingInvalid>()("SettingInvalid", { message: Schema.String })
{}

/** The time that a statement may take on the server: after that nothing waits for its answer. */
const statementTimeout = Duration.seconds(20)

const serviceSession = { role: Roles.service, statementTimeout }

/**
 * The client of the database that the settings name; `whenInUse` is asked where another process holds its directory.
 */
export const sql = (
  settings: Settings.Database,
  whenInUse?: DirectoryLock.WhenInUse
): Layer.Layer<
  SqlClient.SqlClient,
  DirectoryLock.DirectoryInUse | DirectoryLock.DirectoryOpen | Postgres.DatabaseUrlInvalid | SqlError.SqlError
> =>
  Option.match(settings.databaseUrl, {
    onNone: (): ReturnType<typeof sql> =>
      Embedded.layer({ directory: settings.data, ...(whenInUse === undefined ? {} : { whenInUse }) }),
    onSome: (url): ReturnType<typeof sql> =>
      Postgres.layer({
        url,
        ...serviceSession,
        maxConnections: settings.maxConnections,
        pooled: settings.databasePooled,
        ...(Option.isSome(settings.databaseDirectUrl) ? { directUrl: settings.databaseDirectUrl.value } : {})
      })
  })

export const isEmbedded = (settings: Settings.Database): boolean => Option.isNone(settings.databaseUrl)

/** Refuses a data directory that holds no database: a mistyped one would be made, and found empty. */
export const present = (settings: Settings.Database) =>
  !isEmbedded(settings) || fs.existsSync(path.join(settings.data, "database")) ? Effect.void : new SettingInvalid({
    message: `There is no database in ${path.resolve(settings.data)}: check --data, ` +
      `or make one there with \`${program} serve\` or \`${program} seed\`.`
  })

const checkConnection = Effect.fnUntraced(function*(settings: Settings.Database) {
  const addresses = [settings.databaseUrl, settings.databaseDirectUrl]
  if (!settings.databaseInsecure && addresses.some((url) => Option.exists(url, Postgres.isInsecure))) {
    return yield* new SettingInvalid({
      message: "The connection to PostgreSQL on another machine needs TLS: add sslmode=require to the database's " +
        "url (or sslmode=verify-full, the same), or allow it in the clear with --database-insecure."
    })
  }
})

/** Refuses invalid settings that can be checked without a database. */
export const check = Effect.fnUntraced(function*(settings: Settings.Database) {
  if (!isPrefix(settings.keyPrefix)) {
    return yield* new SettingInvalid({
      message: `--key-prefix is 2 to 16 lower-case letters and digits, not ${settings.keyPrefix}.`
    })
  }
  yield* checkConnection(settings)
  yield* blobs(settings)
  if (!isEmbedded(settings) && Option.isNone(yield* Settings.peppers)) {
    return yield* new SettingInvalid({
      message:
        "On PostgreSQL the service needs CONSOLE_PEPPERS: make one with `openssl rand -base64 32`, and keep it safe."
    })
  }
  if (!isEmbedded(settings) && Option.isNone(yield* Settings.checkpointKeys)) {
    return yield* new SettingInvalid({
      message: "On PostgreSQL the service needs CONSOLE_CHECKPOINT_KEYS: make one with `openssl rand -base64 32`, " +
        "the same for every replica, and keep it where nobody reaches it who reaches the database."
    })
  }
})

/** The client of a PostgreSQL that migrates it, as its own login role. */
const migrating = (settings: Settings.Migrating) =>
  Postgres.layer({
    url: Option.getOrElse(
      Option.orElse(settings.migrationUrl, () => settings.databaseUrl),
      () => Redacted.make("")
    ),
    maxConnections: 2,
    pooled: settings.databasePooled && Option.isNone(settings.migrationUrl)
  })

/** Fails where the server answers and waiting for it would not help; one that is away is left to those who wait. */
export const refuseUnusable = (settings: Settings.Migrating, migrate: boolean) =>
  isEmbedded(settings)
    ? Effect.void
    : Effect.catchIf(
      migrate ? Effect.provide(Postgres.check, migrating(settings)) : Postgres.check,
      SqlError.isSqlError,
      () => Effect.void
    )

/** Brings the schema up to date as the role that may, and returns the migrations that were applied. */
export const update = Effect.fnUntraced(function*({ simulated }: { readonly simulated: boolean }) {
  const applied = yield* Migrate.run(migrations)
  if (simulated) yield* Migrate.simulate
  return applied
})

/** Brings PostgreSQL's schema up to date, and returns the migrations that were applied. */
export const migrate = (settings: Settings.Migrating & { readonly simulated: boolean }) =>
  Effect.gen(function*() {
    yield* Postgres.check
    yield* Roles.ensure({ alone: Option.isNone(settings.migrationUrl) })
    return yield* update(settings)
  }).pipe(Effect.provide(migrating(settings)))

const pepperFile = (settings: Settings.Database) => path.join(settings.data, "pepper")

/** The keys: configured, or on the embedded database kept in its directory. */
export const peppers = (settings: Settings.Database) =>
  Layer.unwrap(Effect.map(
    Settings.peppers,
    Option.match({
      onNone: () => Peppers.layerDirectory(settings.data),
      onSome: (text): ReturnType<typeof Peppers.layerDirectory> => Peppers.layerText(text)
    })
  ))

const lastCheckpoint = (settings: Settings.Database) =>
  isEmbedded(settings) ? LastCheckpoint.layerDirectory(settings.data) : LastCheckpoint.layerMemory

/** The signer of the journal's checkpoints, and the memory of the last of them outside the database. */
const checkpoints = (settings: Settings.Database) =>
  Layer.unwrap(Effect.map(
    Settings.checkpointKeys,
    Option.match({
      onNone: () => CheckpointKeys.layerDirectory(settings.data),
      onSome: (text): ReturnType<typeof CheckpointKeys.layerDirectory> => CheckpointKeys.layerText(text)
    })
  )).pipe(
    Layer.merge(lastCheckpoint(settings))
  )

/**
 * Refuses peppers that lack one in use; a file of them that this start has made is taken away again, so that the right
 * one can be put there. A database that is away is asked at its next start.
 */
const usable = (settings: Settings.Database, made: boolean) =>
  Layer.effectDiscard(
    Effect.flatMap(Settings.forgottenPeppers, KnownPeppers.check).pipe(
      Effect.catchTag("service_unavailable", () => Effect.void),
      Effect.tapError(() => made ? Effect.sync(() => fs.rmSync(pepperFile(settings), { force: true })) : Effect.void)
    )
  )

/** The sending of mail: by the flags if there are any, otherwise by the variables. */
const mail = (settings: Settings.Database & Partial<Settings.MailOptions>) =>
  Layer.unwrap(Effect.gen(function*() {
    const variables = yield* Settings.mailVariables
    const { mailFrom, mailUrl, supportAddress } = { ...variables, ...settings }
    if (Option.isNone(mailUrl)) return MailSettings.layer(null)
    if (Option.isNone(mailFrom)) {
      return yield* new SettingInvalid({
        message: "With --mail-url the service needs --mail-from: who its mail is from."
      })
    }
    return MailSettings.layer({
      url: mailUrl.value,
      from: mailFrom.value,
      support: Option.getOrUndefined(supportAddress)
    })
  }))

/** The billing pages, from the flag or the variable. */
const billingPages = (settings: Settings.Database & Partial<Settings.MailOptions>) =>
  Layer.effect(
    BillingPages,
    Effect.gen(function*() {
      const text = settings.billingLinks ?? (yield* Settings.mailVariables).billingLinks
      const entries = Option.getOrElse(text, () => "").split(/\s+/).filter((entry) => entry !== "")
      return yield* Effect.forEach(entries, (entry) => {
        const [, name, url = ""] = /^(\w+)=(https:\/\/\S+)$/.exec(entry) ?? []
        const known = linkNames.find((each) => each === name)
        return known === undefined || !URL.canParse(url) ||
            entries.filter((each) => each.startsWith(`${name}=`)).length > 1
          ? Effect.fail(
            new SettingInvalid({
              message: `--billing-links is a list such as plans=https://host/path, of ${
                linkNames.join(", ")
              }, not ${entry}.`
            })
          )
          : Effect.succeed({ name: known, url })
      })
    })
  )

/** The store in a bucket, once both halves of its key are there. */
const bucket = Effect.fnUntraced(function*(place: S3Blobs.S3Place, lock: S3Blobs.S3Lock | null) {
  const keyId = yield* Settings.blobsKeyId
  const secret = yield* Settings.blobsSecret
  if (Option.isNone(keyId) || Option.isNone(secret)) {
    return yield* new SettingInvalid({
      message: "An s3: place of files needs CONSOLE_BLOBS_KEY_ID and CONSOLE_BLOBS_SECRET, the key that signs requests."
    })
  }
  const credentials = { keyId: Redacted.value(keyId.value), secret: secret.value }
  return S3Blobs.layer(place, credentials, lock).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))
})

/** The value of a setting that may be left out; one that cannot be read is refused with the forms that it has. */
const readText = <A>(text: Option.Option<string>, flag: string, forms: string, read: (text: string) => A | null) => {
  if (Option.isNone(text)) return Effect.succeed(null)
  const value = read(text.value)
  return value === null
    ? Effect.fail(new SettingInvalid({ message: `${flag} is ${forms}, not ${text.value}.` }))
    : Effect.succeed(value)
}

/** The store of the files of archived messages: in the data directory where nothing else is set. */
const blobs = Effect.fnUntraced(function*(settings: Settings.Database) {
  const place = yield* readText(settings.blobs, "--blobs", blobPlaces, blobPlace)
  const lock = yield* readText(settings.blobsLock, "--blobs-lock", blobLocks, blobLock)
  if (place?.kind === "s3") return yield* bucket(place.place, lock)
  if (lock !== null) {
    return yield* new SettingInvalid({
      message: "--blobs-lock needs a bucket with Object Lock as --blobs: files in a directory cannot be locked."
    })
  }
  if (place === null) {
    return isEmbedded(settings) ? FileBlobs.layer(FileBlobs.within(settings.data)) : NoBlobs.layer
  }
  if (!isEmbedded(settings) && !settings.blobsShared) {
    return yield* new SettingInvalid({
      message:
        `On PostgreSQL --blobs=file:${place.directory} needs --blobs-shared: every process has to find the same files ` +
        "there, as on a shared file system, or the service has to run on this machine alone."
    })
  }
  return FileBlobs.layer(place.directory)
})

/** The core over a database's client; the settings have been checked, and the database is prepared or away. */
export const core = (settings: Settings.Database & Partial<Settings.MailOptions>) => {
  const made = isEmbedded(settings) && !fs.existsSync(pepperFile(settings))
  return CheckpointSigning.layer.pipe(
    Layer.provideMerge(Core.layer({ keyPrefix: settings.keyPrefix })),
    Layer.provideMerge(mail(settings)),
    Layer.provideMerge(billingPages(settings)),
    Layer.provideMerge(Layer.unwrap(blobs(settings))),
    Layer.provideMerge(usable(settings, made)),
    Layer.provideMerge(Layer.merge(peppers(settings), checkpoints(settings)))
  )
}

/** The keys of the console's forms, found like the peppers; every replica needs the same. */
const csrfKeys = (settings: Settings.Database) =>
  Layer.unwrap(Effect.gen(function*() {
    const configured = yield* Settings.csrfKeys
    if (Option.isSome(configured)) return CsrfKeys.layerText(configured.value)
    if (isEmbedded(settings)) return CsrfKeys.layerDirectory(settings.data)
    return yield* new SettingInvalid({
      message:
        "On PostgreSQL the service needs CONSOLE_CSRF_KEYS: make one with `openssl rand -base64 32`, for all replicas."
    })
  }))

/** Everything that the service is served with, over a database's client and a messenger. */
export const service = <A, E, R>(
  settings: Settings.Database & Partial<Settings.MailOptions>,
  messenger: Layer.Layer<A, E, R>
) =>
  SigningIn.layer.pipe(
    Layer.provide(csrfKeys(settings)),
    Layer.provideMerge(core(settings)),
    Layer.provideMerge(messenger),
    Layer.provideMerge(Layer.merge(PasswordHasher.layer, PasswordDerivation.layer))
  )

/** Brings the embedded database's schema up to date, and checks PostgreSQL's; with `simulated` that messenger's too. */
export const prepare = Effect.fnUntraced(function*(
  { embedded, simulated = false }: { readonly embedded: boolean; readonly simulated?: boolean }
) {
  if (embedded) {
    yield* Migrate.run(migrations)
  } else {
    yield* Postgres.check
    yield* Postgres.checkSession(serviceSession)
    yield* Roles.check
    yield* Migrate.check(migrations)
  }
  if (simulated) yield* Migrate.simulate
})

/** The database for an auditor, who has none of the service's secrets. */
export const auditing = (settings: Settings.Database) =>
  Layer.merge(lastCheckpoint(settings), Directory.layer).pipe(
    Layer.provideMerge(Layer.effectDiscard(prepare({ embedded: isEmbedded(settings) }))),
    Layer.provideMerge(sql(settings)),
    Layer.provideMerge(Layer.effectDiscard(checkConnection(settings))),
    Layer.provideMerge(Layer.effectDiscard(present(settings)))
  )

/** Says what separates the service from the tables where its login role owns them, and could turn the wall off. */
export const warnOwner = Effect.gen(function*() {
  const found = yield* Roles.separation
  if (found === null) return
  yield* Effect.logWarning(
    `The service's login role ${found.role} owns the tables, and could change what was journaled. ` +
      `An administrator runs once in this database: ${found.statements.join(" ")} ` +
      "From then on CONSOLE_MIGRATION_URL names console_owner."
  )
})
