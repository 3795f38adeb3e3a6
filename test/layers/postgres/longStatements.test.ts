import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { forgetOAuth } from "../../../src/jobs/oauth/forget_oauth.ts"
import * as LicenceStops from "../../../src/jobs/organization/LicenceStops.ts"
import type { Peppers } from "../../../src/layers/crypto/Peppers.ts"
import * as DatabaseFacts from "../../../src/layers/postgres/DatabaseFacts.ts"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import * as StatusSamples from "../../../src/layers/sql/accounts/StatusSamples.ts"
import * as KnownPeppers from "../../../src/layers/sql/credentials/KnownPeppers.ts"
import { postgres } from "../../support/postgres/database.ts"
import { superuser, superuserUrlHere } from "../../support/postgres/superuser.ts"
import * as World from "../../support/world.ts"

type Long = Effect.Effect<
  void,
  unknown,
  Effect.Services<typeof forgetOAuth.run | typeof LicenceStops.applyLicences> | Peppers | SqlClient.SqlClient
>

/** What reads whole tables, by a table that it reads. */
const long: Readonly<Record<string, Long>> = {
  account: Effect.asVoid(StatusSamples.take),
  monitor: Effect.asVoid(DatabaseFacts.watched),
  totp: Effect.asVoid(KnownPeppers.check([])),
  oauth_token: Effect.asVoid(forgetOAuth.run),
  organization: Effect.asVoid(LicenceStops.applyLicences)
}

/** More than there are shared sessions, however these are chosen. */
const many = 64

describe("what reads whole tables", () => {
  layer(World.world(postgres))((it) => {
    for (const [table, run] of Object.entries(long)) {
      it.effect(`makes no statement of a request wait behind it (${table})`, () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const somebody = yield* superuser(yield* superuserUrlHere)
          const ask = (text: string) => Effect.promise(() => somebody.query(text))
          yield* ask("begin")
          yield* ask(`lock table ${table} in access exclusive mode`)
          const fiber = yield* Effect.forkChild(Effect.exit(run))
          const waits = ask("select 1 from pg_locks where not granted and relation = '" + table + "'::regclass")
          while ((yield* waits).rows.length === 0) yield* Effect.yieldNow
          const answers = yield* Effect.all(
            Array.from({ length: many }, () => Tenant.ask<{ one: number }>(sql, "select 1 as one", [])),
            { concurrency: "unbounded" }
          )
          expect(answers.flat()).toEqual(Array.from({ length: many }, () => ({ one: 1 })))
          expect(fiber.pollUnsafe()).toBeUndefined()
          yield* ask("rollback")
          expect(yield* Fiber.join(fiber)).toMatchObject({ _tag: "Success" })
        }))
    }
  })
})
