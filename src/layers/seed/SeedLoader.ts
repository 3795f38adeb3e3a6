/** Loads a seed file: all of an organization or nothing of it, and nothing twice. */
import { Clock, Duration, Effect, Schema, SchemaIssue } from "effect"
import type { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { PasswordDerivation } from "../../ports/archive/ArchiveCrypto.ts"
import type { BlobStore } from "../../ports/archive/BlobStore.ts"
import type { ApiKeys } from "../crypto/credentials/ApiKeys.ts"
import type { Vault } from "../crypto/Vault.ts"
import { SimulatedPlatform } from "../messenger/simulated/SimulatedPlatform.ts"
import * as Migrate from "../postgres/Migrate.ts"
import * as Tenant from "../postgres/Tenant.ts"
import { Seed } from "./Seed.ts"
import { faults } from "./SeedChecks.ts"
import { pathText, type SeedFault, SeedInvalid } from "./SeedFault.ts"
import { type LoadedKey, makeOrganization } from "./SeedOrganization.ts"
import { meet } from "./SimulatedUsers.ts"

export { SeedInvalid } from "./SeedFault.ts"
export type { LoadedKey } from "./SeedOrganization.ts"

/** The result of loading a file. */
export interface LoadResult {
  /** The organizations that were made. */
  readonly created: ReadonlyArray<string>
  /** Those that were there already, and stayed as they are. */
  readonly unchanged: ReadonlyArray<string>
  readonly keys: ReadonlyArray<LoadedKey>
}

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** Reads a seed from JSON, with the path of every fault. */
export const decode = (json: unknown): Effect.Effect<Seed, SeedInvalid> =>
  Schema.decodeUnknownEffect(Seed, { onExcessProperty: "error", errors: "all" })(json).pipe(
    Effect.mapError((error): ReadonlyArray<SeedFault> =>
      formatIssue(error.issue).issues.map((issue) => ({
        path: pathText((issue.path ?? []).map((part) => typeof part === "object" ? part.key : part)),
        message: issue.message
      }))
    ),
    Effect.flatMap((seed) => {
      const found = faults(seed)
      return found.length === 0 ? Effect.succeed(seed) : Effect.fail(found)
    }),
    Effect.mapError((found) => new SeedInvalid({ faults: found }))
  )

/**
 * Refreshes the planner's statistics of the tables: until it knows, a list of a thousand accounts costs three times as
 * much, and autovacuum comes by a minute later, to the embedded database never.
 */
const analyze = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Tenant.directory(sql, loadDeadline)(sql`select analyze_seeded()`)
})

/**
 * Loads the organizations of a seed that are not there yet, in one transaction; those that are stay as they are.
 *
 * Fails with `SeedInvalid` where the messenger refuses a name, and then nothing is written.
 */
export const load = Effect.fnUntraced(function*(seed: Seed): Effect.fn.Return<
  LoadResult,
  SeedInvalid | ServiceUnavailable | Migrate.SimulatedTablesMissing,
  SqlClient.SqlClient | SimulatedPlatform | Vault | ApiKeys | SecureRandom.SecureRandom | PasswordDerivation | BlobStore
> {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(yield* Clock.currentTimeMillis)
  const existing = new Set(
    (yield* Tenant.directory(sql)(sql<{ readonly id: string }>`select id from organization`)).map(({ id }) => id)
  )
  const missing = seed.organizations.filter(({ id }) => !existing.has(id))
  if (missing.length > 0) yield* Tenant.directory(sql, loadDeadline)(Migrate.simulate)
  const keys = yield* Tenant.directory(sql, loadDeadline)(sql.withTransaction(Effect.gen(function*() {
    const made: Array<LoadedKey> = []
    for (const organization of missing) made.push(...(yield* makeOrganization(organization, now)))
    if (missing.length > 0) yield* makeUnrelatedAccounts(seed)
    if (missing.length > 0) yield* makePeople(seed)
    return made
  })))
  // The loaded data is kept, whatever becomes of this.
  if (missing.length > 0) yield* Effect.ignore(analyze)
  return {
    created: missing.map(({ id }) => id),
    unchanged: seed.organizations.filter(({ id }) => existing.has(id)).map(({ id }) => id),
    keys
  }
})

/** The usernames that the messenger knows besides the organizations': those of strangers, and those it sells. */
const makeUnrelatedAccounts = Effect.fnUntraced(function*(seed: Seed) {
  const sql = yield* SqlClient.SqlClient
  const platform = yield* SimulatedPlatform
  for (const username of seed.messenger?.usernames_for_sale ?? []) yield* platform.offerForSale(username)
  for (const [index, username] of (seed.messenger?.taken_usernames ?? []).entries()) {
    const [row] = yield* Effect.orDie(sql<{ known: boolean; number: number }>`
      select nextval('simulated_number') as number, exists (
        select 1 from simulated_account where lower(username collate "C") = ${username.toLowerCase()}) as known`)
    if (row === undefined || row.known) continue
    const phone = `999${String(row.number).padStart(9, "0")}`
    yield* Effect.mapError(
      platform.createAccount({ phone, first_name: "Stranger", username }),
      (refusal) =>
        new SeedInvalid({
          faults: [{
            path: `messenger.taken_usernames[${index}]`,
            message: `the messenger refuses it: ${refusal.reason.replaceAll("_", " ")}`
          }]
        })
    )
  }
})

/** People whom no organization has connected; a number in use stays with its person. */
const makePeople = Effect.fnUntraced(function*(seed: Seed) {
  const sql = yield* SqlClient.SqlClient
  for (const [index, person] of (seed.messenger?.people ?? []).entries()) {
    const known = yield* Effect.orDie(sql`select 1 from simulated_account where phone = ${person.phone.slice(1)}`)
    if (known.length > 0) continue
    yield* Effect.mapError(meet(person), (refusal) =>
      new SeedInvalid({
        faults: [{
          path: `messenger.people[${index}]`,
          message: `the messenger refuses it: ${refusal.reason.replaceAll("_", " ")}`
        }]
      }))
  }
})

/** The time that the loading of a file may take. */
const loadDeadline = Duration.minutes(5)
