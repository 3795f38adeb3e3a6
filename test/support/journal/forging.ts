/** Changes of journals that the owner of the database can make. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventHash, seedHash, tail } from "../../../src/layers/sql/journal/JournalRows.ts"
import { postgresLayer } from "../postgres/databaseRoles.ts"
import { superuserUrlHere } from "../postgres/superuser.ts"

/** A session of the server's owner: above every wall, and no trigger holds it. */
export const asOwner = Effect.fnUntraced(function*<A, E>(work: Effect.Effect<A, E, SqlClient.SqlClient>) {
  const url = yield* superuserUrlHere
  return yield* SqlClient.SqlClient.use((owner) =>
    owner.withTransaction(Effect.andThen(owner`set local session_replication_role = replica`, work))
  ).pipe(Effect.provide(postgresLayer(url), { local: true }), Effect.orDie)
})

export const statement = (text: string) => SqlClient.SqlClient.use((sql) => sql.unsafe(text))

/** Several statements, one after another. */
export const parts = (text: string) => Effect.forEach(text.split(";"), statement)

/** Changes an event's label, and computes every hash after it again. */
export const rewrite = (organization: string, at: number, role_label = "Another") =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    let prev_hash = seedHash(organization)
    for (const event of yield* tail(organization, 0, 100)) {
      const details = event.sequence === at ? { role_label } : event.details
      const hash = eventHash({ ...event, details, prev_hash })
      yield* sql`update journal_event set details = ${JSON.stringify(details)}::jsonb, prev_hash = ${prev_hash},
        hash = ${hash} where organization_id = ${organization} and sequence = ${event.sequence}`
      prev_hash = hash
    }
    yield* sql`update journal_head set hash = ${prev_hash} where organization_id = ${organization}`
  })
