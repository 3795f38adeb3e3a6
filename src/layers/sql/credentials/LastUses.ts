/** The last uses of keys and connections: written in the background, together for all uses within a second. */
import { Context, Duration, Effect, Latch, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import * as Tenant from "../../postgres/Tenant.ts"

type Table = "ai_connection" | "api_key"

export interface CredentialUse {
  readonly organizationId: string
  readonly id: string
  readonly at: Date
}

/** The time that a use waits to be written with others. */
const writeDelay = Duration.seconds(1)

/** A locked row is skipped, because the credential's next use is written anyway. */
const text = (table: Table): string => `
  update ${table} set last_used_at = used.at
  from (
    select ${table}.organization_id, ${table}.id, noted.at
    from unnest($1::text[], $2::uuid[], $3::timestamptz[]) as noted (organization_id, id, at)
    join ${table} on ${table}.organization_id = noted.organization_id and ${table}.id = noted.id
    where last_used_at is null or last_used_at < noted.at
    for no key update of ${table} skip locked) as used
  where ${table}.organization_id = used.organization_id and ${table}.id = used.id`

const texts = { ai_connection: text("ai_connection"), api_key: text("api_key") } as const

const none = (): Record<Table, Map<string, CredentialUse>> => ({ ai_connection: new Map(), api_key: new Map() })

export class LastUses extends Context.Service<LastUses, {
  /** Notes a use, which is written within about a second. */
  note(table: Table, use: CredentialUse): void
  /**
   * Waits until the earlier notes of this process are written, before they are read; inside a transaction that writes
   * nothing is waited for. What cannot be written is forgotten: the credential's next use is written.
   */
  readonly written: Effect.Effect<void>
}>()("org-security-console/layers/sql/credentials/LastUses") {
  static readonly layer = Layer.effect(
    LastUses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const asked = Latch.makeUnsafe(false)
      const one = Semaphore.makeUnsafe(1)
      let noted = none()

      const write = (table: Table, uses: ReadonlyArray<CredentialUse>) =>
        uses.length === 0 ? Effect.void : Tenant.askWithAsyncCommit(sql, texts[table], [
          uses.map(({ organizationId }) => organizationId),
          uses.map(({ id }) => id),
          uses.map(({ at }) => at)
        ]).pipe(
          // An unavailable database has been logged already.
          Effect.ignore,
          Effect.catchCause((cause) => Effect.logError("When credentials were used last cannot be written", cause))
        )

      const writeAll = Effect.suspend(() => {
        asked.closeUnsafe()
        const { ai_connection, api_key } = noted
        noted = none()
        return Effect.andThen(
          write("api_key", [...api_key.values()]),
          write("ai_connection", [...ai_connection.values()])
        )
      }).pipe(one.withPermit, Effect.uninterruptible)

      yield* Effect.addFinalizer(() => writeAll)
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(asked.await, Effect.delay(writeAll, writeDelay))))
      return LastUses.of({
        note: (table, use) => {
          noted[table].set(use.id, use)
          asked.openUnsafe()
        },
        written: Tenant.outsideWrites(sql, writeAll)
      })
    })
  )
}
