/** The simulated platform: a model of the messaging platform for the demo organization and for tests. */
import { Cause, Context, Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { MessengerArchive } from "../../../ports/messenger/MessengerArchive.ts"
import { MessengerSession, NoSession, PlatformUnavailable } from "../../../ports/messenger/MessengerSession.ts"
import * as Migrate from "../../postgres/Migrate.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { ChatDocumentStore } from "./ChatDocumentStore.ts"
import * as SimulatedArchive from "./SimulatedArchive.ts"
import * as SimulatedCalls from "./SimulatedCalls.ts"
import * as SimulatedChanges from "./SimulatedChanges.ts"
import * as SimulatedChats from "./SimulatedChats.ts"
import * as SimulatedOutside from "./SimulatedOutside.ts"
import { SimulatedPlatform } from "./SimulatedPlatform.ts"
import * as SimulatedPushes from "./SimulatedPushes.ts"
import * as SimulatedSessions from "./SimulatedSessions.ts"
import { SimulatedStore } from "./SimulatedStore.ts"
import * as SimulatedStoreSql from "./SimulatedStoreSql.ts"

const layerNoDeps = Layer.effectContext(Effect.gen(function*() {
  const store = yield* SimulatedStore
  const documents = yield* ChatDocumentStore
  const pushes = SimulatedPushes.make()
  const chatPushes = SimulatedChats.makePushes()
  const changes = SimulatedChanges.make(store, pushes)
  const place = randomUUID()
  const calls = SimulatedCalls.make(store, changes, place)
  const sessions = SimulatedSessions.make(store, changes, pushes, place)
  return Context.make(MessengerSession, sessions).pipe(
    Context.add(SimulatedPlatform, SimulatedOutside.make(store, changes, pushes)),
    Context.add(MessengerArchive, SimulatedArchive.make(store, documents, chatPushes, calls, sessions)),
    Context.add(SimulatedChats.SimulatedChats, SimulatedChats.make(store, documents, chatPushes))
  )
}))

/** The simulated platform with its state in the process. */
export const layerMemory = layerNoDeps.pipe(
  Layer.provide(Layer.merge(SimulatedStore.layerMemory, ChatDocumentStore.layerMemory))
)

/** The simulated platform in the database, over tables that are there, or that a seed creates before anything else. */
export const layerSeeded = layerNoDeps.pipe(
  Layer.provide(Layer.merge(SimulatedStoreSql.layer, ChatDocumentStore.layerSql))
)

const createTables = Effect.catchCause(
  Effect.asVoid(Migrate.simulate),
  (cause) => Tenant.isAwayIn(cause) ? Effect.void : Effect.die(Cause.squash(cause))
)

/**
 * The simulated platform with its state in the database: it survives a restart. It creates its tables, unless the
 * database is away.
 */
export const layerSql = Layer.provideMerge(layerSeeded, Layer.effectDiscard(createTables))

const away = () => Effect.fail(new PlatformUnavailable())

/** The session where there is no messenger; a host spreads it where its own does not do everything. */
export const none: MessengerSession["Service"] = {
  open: () => Effect.fail(new NoSession({ reason: "never" })),
  forget: () => Effect.void,
  begin: away,
  resend: away,
  submitCode: away,
  submitPassword: away,
  cancel: away,
  resolve: away
}

/** No messenger: the service runs without one, and no account has a session. */
export const layerNone = Layer.succeed(MessengerSession, none)
