/** The counters of second factors that are typed: five wrong codes are free, as for passwords. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { TooManyAttempts } from "../../../domain/Failure.ts"
import { freeCodeFailures } from "../../../domain/Limits.ts"
import { countAll, type Counter } from "./PasswordThrottle.ts"

/** The counter of what codes are asked in. */
export const counterOf = (...parts: ReadonlyArray<string>): Counter => ({
  key: `code:${crypto.createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`,
  free: freeCodeFailures
})

/** Counts a code before it is checked. */
export const count = (sql: SqlClient.SqlClient, counter: Counter) =>
  Effect.mapError(countAll(sql, [counter]), (error) =>
    error._tag === "too_many_attempts"
      ? new TooManyAttempts({
        retry_after: error.retry_after,
        message: `Too many wrong codes: wait ${error.retry_after} s.`
      })
      : error)
