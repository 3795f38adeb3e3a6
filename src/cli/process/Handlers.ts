/** The answers to each request, over the layers that have the database open. */
import { Effect, Layer, Option } from "effect"
import { Background } from "../../jobs/Background.ts"
import * as DatabaseFacts from "../../layers/postgres/DatabaseFacts.ts"
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
import * as Seeding from "./Seeding.ts"

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
  Effect.map(Effect.context<Effect.Services<ReturnType<typeof Seeding.load>>>(), (services) => ({
    load: (seed) => Effect.provideContext(Seeding.load(seed), services)
  }))
)

export const databaseHandlers = Layer.provide(DatabaseRequests.toLayer(databaseAnswers), databaseStatus)

export const auditHandlers = Layer.provide(AuditRequests.toLayer(auditAnswers), Journals.layerProofs)

export const commandHandlers = Layer.provide(CommandRequests.toLayer(commandAnswers), [
  Journals.layerProofs,
  Journals.layerSigned,
  seeds
])
