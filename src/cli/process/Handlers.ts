/** What answers each request, over the layers that have the database open. */
import { Effect, Layer, Option } from "effect"
import { Background } from "../../jobs/Background.ts"
import * as DatabaseFacts from "../../layers/postgres/DatabaseFacts.ts"
import * as Loader from "../../layers/seed/SeedLoader.ts"
import { DatabaseStatus } from "../../operator/Database.ts"
import { Seeds } from "../../operator/SeedFile.ts"
import * as Journals from "../commands/journal/JournalRequests.ts"
import {
  auditAnswers,
  AuditRequests,
  commandAnswers,
  CommandRequests,
  databaseAnswers,
  DatabaseRequests
} from "./Administration.ts"

const databaseStatus = Layer.effect(
  DatabaseStatus,
  Effect.map(Effect.context<Effect.Services<typeof DatabaseFacts.facts>>(), (services) => ({
    read: Effect.gen(function*() {
      const background = yield* Effect.serviceOption(Background)
      const jobs = Option.isNone(background) ? null : yield* background.value.jobs
      return { ...(yield* DatabaseFacts.facts), jobs }
    }).pipe(Effect.provideContext(services))
  }))
)

const seeds = Layer.effect(
  Seeds,
  Effect.map(Effect.context<Effect.Services<ReturnType<typeof Loader.load>>>(), (services) => ({
    load: (seed) => Effect.provideContext(Effect.flatMap(Loader.decode(seed), Loader.load), services)
  }))
)

export const databaseHandlers = Layer.provide(DatabaseRequests.toLayer(databaseAnswers), databaseStatus)

export const auditHandlers = Layer.provide(AuditRequests.toLayer(auditAnswers), Journals.layerProofs)

export const commandHandlers = Layer.provide(CommandRequests.toLayer(commandAnswers), [
  Journals.layerProofs,
  Journals.layerSigned,
  seeds
])
