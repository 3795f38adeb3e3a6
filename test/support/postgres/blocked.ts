/** Transactions that wait for locks of others. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"

/** How many transactions wait for a lock of another one. */
const blocked = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Tenant.directory(sql)(sql<{ count: number }>`
    select count(distinct pid)::int as count from pg_locks join pg_stat_activity using (pid)
    where not granted and datname = current_database()`)
  return row?.count ?? 0
})

export const untilBlocked = (count: number) =>
  blocked.pipe(
    Effect.delay("5 millis"),
    Effect.repeat({ until: (found) => found >= count, times: 500 }),
    TestClock.withLive,
    Effect.map((found) => assert.strictEqual(found, count))
  )
