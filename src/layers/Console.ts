/** Everything that an operation needs, in one layer, for programs that embed the service and for tests. */
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import * as Engine from "../jobs/Background.ts"
import { Upkeep } from "../jobs/Jobs.ts"
import type { BlobStore } from "../ports/archive/BlobStore.ts"
import type { MessengerSession } from "../ports/messenger/MessengerSession.ts"
import { Ownership } from "../ports/messenger/Ownership.ts"
import * as PasswordDerivation from "./archive/PasswordDerivation.ts"
import * as FileBlobs from "./blobs/FileBlobs.ts"
import * as MemoryBlobs from "./blobs/MemoryBlobs.ts"
import * as NoBlobs from "./blobs/NoBlobs.ts"
import * as Runner from "./cluster/Runner.ts"
import * as Core from "./Core.ts"
import { CheckpointKeys } from "./crypto/journal/CheckpointKeys.ts"
import { Peppers } from "./crypto/Peppers.ts"
import * as Randomness from "./crypto/Randomness.ts"
import { CsrfKeys } from "./crypto/signin/CsrfKeys.ts"
import { PasswordHasher } from "./crypto/signin/PasswordHasher.ts"
import * as JobPorts from "./JobPorts.ts"
import * as MailSettings from "./mail/MailSettings.ts"
import * as Owned from "./messenger/Owned.ts"
import * as Simulated from "./messenger/simulated/Simulated.ts"
import * as Embedded from "./postgres/Embedded.ts"
import * as Migrate from "./postgres/Migrate.ts"
import { migrations } from "./postgres/migrations.ts"
import * as Postgres from "./postgres/Postgres.ts"
import * as Roles from "./postgres/Roles.ts"
import { Targets } from "./push/Targets.ts"
import * as SigningIn from "./SigningIn.ts"
import { LastCheckpoint } from "./sql/journal/LastCheckpoint.ts"
import * as Alarms from "./sql/protection/Alarms.ts"
import * as Worker from "./Worker.ts"

const migrated = Layer.effectDiscard(Migrate.run(migrations))

/** The sending of mail: none by default; the background work sends it. */
export interface Mailing {
  readonly mail?: MailSettings.MailText | null
}

/** The services that the console's pages need besides the core: sign-in, and the keys of the forms. */
const pages = <E, R>(csrfKeys: Layer.Layer<CsrfKeys, E, R>) => SigningIn.layer.pipe(Layer.provideMerge(csrfKeys))

const over = <Keys, E, E2, E3>(
  sql: Layer.Layer<SqlClient.SqlClient, E>,
  keys: Layer.Layer<Peppers | Keys, E2>,
  csrfKeys: Layer.Layer<CsrfKeys, E3>,
  blobs: Layer.Layer<BlobStore>,
  { mail = null }: Mailing = {}
) =>
  pages(csrfKeys).pipe(
    Layer.provideMerge(Core.layer({ keyPrefix: Core.defaultKeyPrefix })),
    Layer.provideMerge(MailSettings.layer(mail)),
    Layer.provideMerge(Layer.mergeAll(PasswordHasher.layer, PasswordDerivation.layer, blobs)),
    Layer.provideMerge(keys),
    Layer.provideMerge(sql)
  )

/**
 * All background work over a core of the host's own, for as long as the scope is open: closing what a crash left open,
 * refreshing statuses, signing the journal and pushing its checkpoints to the `Targets`, sending mail, forgetting what
 * is over.
 */
export const layerBackground = (options: Engine.Options) =>
  Engine.Background.layer(options).pipe(
    Layer.provide(Layer.provide(Upkeep.layer, JobPorts.layer)),
    Layer.provideMerge(Alarms.layer)
  )

/** A process's use of the messenger. */
export interface MessengerOptions {
  /** True if no other process can have the database, as in a locked directory. */
  readonly alone: boolean
  /** True if this process watches the accounts, by `layerWatch`. */
  readonly worker: boolean
  /** The place of a worker that is not alone among the others. */
  readonly cluster?: Runner.Options
}

/**
 * A messenger of the host's own, each of whose sessions one process at a time uses: the worker that has the slot of its
 * account. Workers share the slots by leases in the database, unless one is `alone`; in every other process the session
 * counts as unavailable. A process that does not watch never has a slot: its accounts would not be watched. Provides the
 * `Ownership` too.
 */
export const layerMessenger = <A, E, R>(
  messenger: Layer.Layer<A | MessengerSession, E, R>,
  { alone, cluster, worker }: MessengerOptions
) => {
  const lease = alone ? Ownership.layerAlone : Layer.provide(Runner.layer(cluster), Randomness.layer)
  return Owned.layer.pipe(
    Layer.provideMerge(messenger),
    Layer.provideMerge(worker ? lease : Ownership.layerNever)
  )
}

/**
 * Watches the accounts through the `MessengerSession`, while the `Ownership` lasts, with the background work over it; a
 * host with a scheduler of its own calls `tick` of the `Engine` instead.
 */
export const layerWatch = Worker.layer

const randomKey = Effect.gen(function*() {
  const random = yield* SecureRandom.SecureRandom
  return Redacted.make(Buffer.from(yield* random.randomBytes(32)).toString("base64"))
}).pipe(Effect.provide(Randomness.layer))

/**
 * The core over a new database in memory, with the simulated messenger: for tests. It is the SQL that a service runs,
 * so that nothing behaves differently; `TestClock` drives all of its time. It does no background work:
 * `layerBackground` adds it.
 */
export const layerMemory = over(
  Layer.provideMerge(migrated, Embedded.layerMemory),
  Layer.unwrap(Effect.map(randomKey, Peppers.layerText)),
  Layer.unwrap(Effect.map(randomKey, CsrfKeys.layerText)),
  MemoryBlobs.layer
).pipe((core) => Layer.provideMerge(Simulated.layerSql, core))

/** The places that checkpoints are pushed to, none by default, as `CONSOLE_CHECKPOINT_PUSH` names them. */
export interface Pushing {
  readonly checkpointPush?: Redacted.Redacted
}

const background = (alone: boolean, { checkpointPush = Redacted.make("") }: Pushing) =>
  Layer.provide(layerBackground({ alone }), Targets.layerText(checkpointPush))

/**
 * The core over the embedded database in a directory, which it creates, locks and brings up to date, with its
 * background work unless `background` is false; at the end all of the journal is signed.
 */
export const layerEmbedded = (
  { directory, ...options }: { readonly directory: string; readonly background?: boolean } & Pushing & Mailing
) => {
  const core = over(
    Layer.provideMerge(migrated, Embedded.layer({ directory })),
    Layer.mergeAll(
      Peppers.layerDirectory(directory),
      CheckpointKeys.layerDirectory(directory),
      LastCheckpoint.layerDirectory(directory)
    ),
    CsrfKeys.layerDirectory(directory),
    FileBlobs.layer(FileBlobs.within(directory)),
    options
  )
  return options.background === false ? core : Layer.provideMerge(background(true, options), core)
}

export interface PostgresOptions extends Postgres.Options, Pushing, Mailing {
  readonly peppers: Redacted.Redacted
  readonly csrfKeys: Redacted.Redacted
  /** The keys that sign the journal, the same for every replica. */
  readonly checkpointKeys: Redacted.Redacted
  /** The store of the files of archived messages; without one none is archived. */
  readonly blobs?: Layer.Layer<BlobStore>
  /** True if it does its background work too, as by default; where it does not, another process has to. */
  readonly background?: boolean
}

/**
 * The core over PostgreSQL, whose schema has been brought up to date by `security-console migrate`, with its background
 * work unless `background` is false.
 */
export const layerPostgres = ({ checkpointKeys, csrfKeys, peppers, ...options }: PostgresOptions) => {
  const core = over(
    Layer.provideMerge(
      Layer.effectDiscard(Effect.andThen(Roles.check, Migrate.check(migrations))),
      Postgres.layer({ role: Roles.service, ...options })
    ),
    Layer.mergeAll(Peppers.layerText(peppers), CheckpointKeys.layerText(checkpointKeys), LastCheckpoint.layerMemory),
    CsrfKeys.layerText(csrfKeys),
    options.blobs ?? NoBlobs.layer,
    options
  )
  return options.background === false ? core : Layer.provideMerge(background(false, options), core)
}

/** The console's pages over a core of the host's own, under a list of base64 keys for forms. */
export const layerPages = (options: { readonly csrfKeys: Redacted.Redacted }) =>
  pages(CsrfKeys.layerText(options.csrfKeys))
