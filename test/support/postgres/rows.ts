/** What the database holds of an organization, read and changed by statements. */
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as AccountStatuses from "../../../src/layers/sql/accounts/AccountStatuses.ts"
import * as Provisioning from "../../../src/layers/sql/Provisioning.ts"
import * as Fixtures from "../fixtures.ts"

/** Runs a statement inside the organization, as its tenant. */
export const query = <A extends object>(
  organizationId: string,
  statement: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<A>, unknown>
) => Fixtures.within(organizationId, Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.orDie(statement(sql))))

/**
 * Changes columns of one row that belongs to the organization, of an account also those of its archive; what the status of
 * its account follows from is heeded.
 */
export const set = (
  organizationId: string,
  table: "organization" | "admin" | "account" | "api_key" | "session" | "monitor",
  id: string,
  columns: Record<string, unknown>
) =>
  query<{ id: string }>(organizationId, (sql) =>
    Effect.gen(function*() {
      const parts = table === "account" ? Provisioning.accountParts(columns) : { account: columns, archive_state: {} }
      if (Object.keys(parts.archive_state).length > 0) {
        yield* sql`update archive_state set ${sql.update(parts.archive_state)}
          where organization_id = ${organizationId} and account_id = ${id}`
      }
      const changes = Object.keys(parts.account).length > 0 ? sql.update(parts.account) : sql`id = id`
      const rows = yield* sql<{ id: string }>`update ${sql(table)} set ${changes}
        where ${sql(table === "organization" ? "id" : "organization_id")} = ${organizationId}
          and ${sql(table === "monitor" ? "account_id" : "id")} = ${id}
        returning ${sql(table === "session" || table === "monitor" ? "account_id" : "id")} as id`
      if (table === "account" || table === "session") {
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* AccountStatuses.save(sql, organizationId, rows.map((row) => row.id), now)
      }
      return rows
    })).pipe(
      Effect.flatMap((rows) => rows.length === 1 ? Effect.void : Effect.die(new Error(`There is no ${table} ${id}`)))
    )

/** An event of the journal as it is stored. */
export interface StoredEvent {
  readonly sequence: number
  readonly id: string
  readonly at: Date
  readonly action: string
  readonly outcome: string
  readonly actor_type: string
  readonly actor_admin_id: string | null
  readonly actor_name: string | null
  readonly credential_kind: string | null
  readonly credential_id: string | null
  readonly credential_label: string | null
  readonly via: string
  readonly account_id: string | null
  readonly target_type: string | null
  readonly target_id: string | null
  readonly details: Record<string, unknown>
  readonly ip: string | null
  readonly request_id: string | null
  readonly closes: number | null
}

/** The organization's journal as it is stored, oldest first. */
export const journal = (organizationId: string) =>
  query<StoredEvent>(
    organizationId,
    (sql) => sql`select * from journal_event where organization_id = ${organizationId} order by sequence`
  )

/** The journal without the sign-ins and sign-outs at the console. */
export const changes = (organizationId: string) =>
  Effect.map(journal(organizationId), (events) => events.filter(({ action }) => !action.startsWith("console.")))

/** Columns that a refusal may change, as SQL: when credentials were last used, and who holds an account. */
export const unsaidColumns = "array['last_used_at', 'fence', 'busy_by', 'busy_until']"

const knownTables = new WeakMap<SqlClient.SqlClient, ReadonlyArray<string>>()

/** Tables of organizations that count requests, also those that change nothing. */
export const counters = ["archive_attempt", "archive_read"]

/** The tables whose rows belong to an organization, which are asked for once a database. */
const tablesOf = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  const known = knownTables.get(sql)
  if (known !== undefined) return known
  const tables = yield* sql<{ table_name: string }>`
    select table_name from information_schema.columns
    where table_schema = 'public' and column_name = 'organization_id' and not ${sql.in("table_name", counters)}
    order by table_name`
  const names = tables.map(({ table_name }) => table_name)
  knownTables.set(sql, names)
  return names
})

/**
 * Every row of the organization in every table but those that count requests, without the time when its credentials were
 * last used and those who hold its accounts.
 */
export const snapshot = (organizationId: string) =>
  query<{ table: string; rows: ReadonlyArray<unknown> }>(organizationId, (sql) =>
    Effect.gen(function*() {
      const tables = yield* tablesOf(sql)
      const rowsOf = (table: string, column: string) =>
        sql`select ${table}::text as "table", coalesce(json_agg(row order by row::text collate "C"), '[]') as rows
          from (select to_jsonb(rows) - ${sql.literal(unsaidColumns)} as row from ${sql(table)} rows
            where ${sql(column)} = ${organizationId}) as rows`
      return yield* sql<{ table: string; rows: ReadonlyArray<unknown> }>`${
        sql.join(" union all ", false)([
          rowsOf("organization", "id"),
          ...tables.map((table) => rowsOf(table, "organization_id"))
        ])
      }`
    })).pipe(Effect.map((all) => Object.fromEntries(all.map(({ rows, table }) => [table, rows]))))

/** Every row of the password throttle. */
export const throttle = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => Effect.orDie(sql<object>`select * from password_throttle`)
)
