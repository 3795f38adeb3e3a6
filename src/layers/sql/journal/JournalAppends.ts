import { Clock, Duration, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { JournalEntry } from "../../../domain/journal/JournalEntry.ts"
import { refusalsJournaled } from "../../../domain/Limits.ts"
import type { Journal } from "../../../ports/index.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { hit } from "../credentials/RateLimiter.ts"
import { pieces } from "./JournalRows.ts"

/** The time after which an intent without an outcome counts as abandoned. */
export const intentTime = Duration.minutes(1)

/** The call by which the database appends the entry; with time it is an intent, and answers its sequence. */
const calling = (
  { random, sql }: { readonly random: SecureRandom.SecureRandom["Service"]; readonly sql: SqlClient.SqlClient },
  { at, entry, organizationId, time }: {
    readonly at: Date
    readonly entry: JournalEntry
    readonly organizationId: string
    readonly time: Duration.Duration | undefined
  }
) =>
  Effect.map(random.uuidV7(), (id) => {
    const event = { object: "journal_event" as const, id, ...entry }
    const [untilAt, untilPrevHash, untilSequence, rest] = pieces(event)
    return sql`append_event(${organizationId}, ${at}, ${event.id}, ${event.action}, ${event.outcome},
      ${event.actor.type}, ${event.actor.admin_id}, ${event.actor.name}, ${event.credential?.kind ?? null},
      ${event.credential?.id ?? null}, ${event.credential?.label ?? null}, ${event.via}, ${event.account_id},
      ${event.target?.type ?? null}, ${event.target?.id ?? null}, ${JSON.stringify(event.details)}, ${event.ip},
      ${event.request_id}, ${event.closes}, ${untilAt}, ${untilPrevHash}, ${untilSequence}, ${rest},
      ${time === undefined ? null : Duration.toMillis(time)})`
  })

/** Appends what happened before, within the organization's transaction: the history of a seed. */
export const appendAt = Effect.fnUntraced(function*(organizationId: string, entry: JournalEntry, at: Date) {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  yield* Effect.orDie(sql`select ${yield* calling({ random, sql }, { at, entry, organizationId, time: undefined })}`)
})

/** Appends to the journal, and the closing of intents. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const post = Tenant.post(sql)
  const random = yield* SecureRandom.SecureRandom

  const appending = Effect.fnUntraced(
    function*(organizationId: string, entry: JournalEntry, time?: Duration.Duration) {
      const at = new Date(yield* Clock.currentTimeMillis)
      return yield* calling({ random, sql }, { at, entry, organizationId, time })
    }
  )

  const append = Effect.fnUntraced(function*(organizationId: string, entry: JournalEntry) {
    yield* post(sql`select ${yield* appending(organizationId, entry)}`)
  })

  return {
    append,

    begin: Effect.fnUntraced(
      function*(organizationId, entry) {
        const [intent] = yield* sql<{ sequence: number }>`
          select ${yield* appending(organizationId, entry, intentTime)} as sequence`
        return intent ?? (yield* Effect.die(new Error("The journal did not say where the intent is")))
      },
      Effect.orDie
    ),

    renew: Effect.fnUntraced(
      function*(organizationId, intent) {
        const deadline = new Date((yield* Clock.currentTimeMillis) + Duration.toMillis(intentTime))
        const renewed = yield* sql`
          update pending_change set deadline = ${deadline}
          where organization_id = ${organizationId} and sequence = ${intent} returning sequence`
        return renewed.length > 0
      },
      Effect.orDie
    ),

    close: Effect.fnUntraced(
      function*(organizationId, intent, entry) {
        const closed = yield* sql`
          with open as (
            delete from pending_change where organization_id = ${organizationId} and sequence = ${intent}
            returning sequence
          )
          select ${yield* appending(organizationId, entry)} from open`
        return closed.length > 0
      },
      Effect.orDie
    ),

    refuse: Effect.fnUntraced(function*(organizationId, credentialId, entry) {
      const { admitted } = yield* hit(sql, `refused/${credentialId}`, refusalsJournaled)
      if (admitted) yield* Tenant.transaction(sql, organizationId)(append(organizationId, entry))
    })
  } satisfies Partial<Journal["Service"]>
})
