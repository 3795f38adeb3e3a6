/** Requests that this process answers itself: it opens the database for one command. */
import { Effect, Layer } from "effect"
import * as RpcTest from "effect/rpc/RpcTest"
import * as Signing from "../../jobs/journal/sign_checkpoints.ts"
import * as PasswordDerivation from "../../layers/archive/PasswordDerivation.ts"
import { PasswordHasher } from "../../layers/crypto/signin/PasswordHasher.ts"
import * as Simulated from "../../layers/messenger/simulated/Simulated.ts"
import * as Postgres from "../../layers/postgres/Postgres.ts"
import type * as Settings from "../settings/Settings.ts"
import * as Sites from "../settings/Sites.ts"
import { AuditRequests, CommandRequests, DatabaseRequests } from "./Administration.ts"
import * as Environment from "./Environment.ts"
import { auditHandlers, commandHandlers, databaseHandlers } from "./Handlers.ts"

/** The effect of a command on a data directory: it makes the database, or only reads it. */
export interface CommandEffect {
  readonly makes?: true
  readonly reads?: true
}

/**
 * Opens the database for one command, prepared as `serve` would, on PostgreSQL without migrating it; a directory
 * without a database is refused, unless the command makes one. What a command journals in a directory of its own is
 * signed.
 */
const open = (settings: Settings.Database, { makes, reads }: CommandEffect) =>
  (reads || !Environment.isEmbedded(settings) ? Layer.empty : Signing.layerAtEnd).pipe(
    Layer.provideMerge(Environment.core(settings)),
    Layer.provideMerge(Sites.layerVariables),
    Layer.provideMerge(Simulated.layerSeeded),
    Layer.provideMerge(Layer.merge(PasswordHasher.layer, PasswordDerivation.layer)),
    Layer.provideMerge(
      Layer.effectDiscard(Environment.prepare({ embedded: Environment.isEmbedded(settings) }))
    ),
    Layer.provideMerge(Environment.sql(settings)),
    Layer.provideMerge(Layer.effectDiscard(Environment.check(settings))),
    Layer.provideMerge(Layer.effectDiscard(makes === true ? Effect.void : Environment.present(settings)))
  )

/** The commands, over the database of the settings. */
export const commands = Effect.fnUntraced(function*(settings: Settings.Database, doing: CommandEffect) {
  const handlers = yield* Layer.build(Layer.provide(commandHandlers, open(settings, doing)))
  return yield* Effect.provideContext(RpcTest.makeClient(CommandRequests, { disableFatalDefects: true }), handlers)
})

/** The auditor's requests, without any secret of the service. */
export const audit = Effect.fnUntraced(function*(settings: Settings.Database) {
  const handlers = yield* Layer.build(Layer.provide(auditHandlers, Environment.auditing(settings)))
  return yield* Effect.provideContext(RpcTest.makeClient(AuditRequests, { disableFatalDefects: true }), handlers)
})

/** The database's answers; it is neither prepared nor migrated. */
export const database = Effect.fnUntraced(function*(settings: Settings.Database) {
  const sql = Environment.sql(settings)
  const open = Environment.isEmbedded(settings) ? sql : Layer.provideMerge(Layer.effectDiscard(Postgres.check), sql)
  const handlers = yield* Layer.build(Layer.provide(databaseHandlers, open))
  return yield* Effect.provideContext(RpcTest.makeClient(DatabaseRequests, { disableFatalDefects: true }), handlers)
})
