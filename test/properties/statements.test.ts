import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { closeAbandonedIntents, closeAllIntents } from "../../src/jobs/journal/close_abandoned_intents.ts"
import * as RateLimiter from "../../src/layers/sql/credentials/RateLimiter.ts"
import { operations } from "../added/index.ts"
import { sampled } from "../support/drawn.ts"
import * as Logins from "../support/logins/logins.ts"
import * as Populated from "../support/populated.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import { recording } from "../support/postgres/statements.ts"
import * as Random from "../support/random.ts"
import * as World from "../support/world.ts"

/**
 * Everything that is said outside an organization's transaction, by its beginning: before the organization is known.
 */
const directory = [
  "with me as ( select admin.organization_id, organization.closed_at is not null as closed,",
  "update api_key set last_used_at = used.at from (",
  "delete from rate_limit where key in (",
  "select organization_id, sequence from pending_change where",
  // Who acts on an account takes it before the transactions, and gives it back after them.
  "update monitor set busy_by = $3, busy_until = $5, fence = fence + 1 where",
  "update monitor set busy_by = null, busy_until = null where",
  "select 1"
]

/** What is said only where a destructive operation was refused, which not every run has. */
const sometimes = ["insert into rate_limit as log (key, hits, admitted) values ($1,"]

/** Every step of a login, each answered as it should be. */
const logins = Effect.fnUntraced(function*(key: World.Person["key"]) {
  const mine = Logins.actor(key)
  const person = yield* Logins.meet({ security: { two_fa_password: Redacted.make("horse staple") } })
  const { body: { id } } = yield* mine.connect(person.phone)
  yield* TestClock.adjust("2 minutes")
  const resent = yield* mine.resend(id)
  const wrong = yield* mine.code(id, "000-00")
  const code = yield* mine.code(id, yield* person.code)
  const password = yield* mine.password(id, "horse staple")
  const account = String(password.body.account_id)
  const again = yield* mine.relogin(account)
  const read = yield* mine.read(again.body.id)
  const cancelled = yield* mine.cancel(again.body.id)
  expect([resent, wrong, code, password, again, read, cancelled].map(Logins.summaryOf)).toEqual([
    "200 code_sent",
    "400 code_invalid",
    "200 password_needed",
    "200 completed",
    "200 code_sent",
    "200 code_sent",
    "200 cancelled"
  ])
})

describe("5 statements and the organization's transaction", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("only the statements of this list run outside an organization's transaction, and all of them do", () =>
        Effect.gen(function*() {
          const organization = yield* Populated.make()
          yield* TestClock.adjust("61 seconds")
          const drafts = yield* Effect.forEach(
            operations.filter((operation) => !Random.isStep(operation)),
            (operation) => Arbitrary.sampleEffect(Random.drafts(({ id }) => id === operation.id), sampled(2))
          )
          const { said } = yield* recording(Effect.gen(function*() {
            for (const draft of drafts.flat()) {
              const request = Random.draw(draft, organization.ids)
              // However many operations there are, the budget of the key is not spent.
              yield* TestClock.adjust("1 second")
              yield* Random.sendSound(request, organization.admins.owner.key)
            }
            yield* logins(organization.admins.owner.key)
            yield* World.send("GET", "/readyz")
            yield* World.get("/v1/organization", "osc_live_unknown")
            yield* TestClock.adjust("1 minute")
            yield* World.get("/v1/ai-connections", organization.admins.owner.key)
            yield* TestClock.adjust("2 hours")
            yield* closeAbandonedIntents.run
            yield* closeAllIntents
            yield* RateLimiter.sweep
          }))
          const own = said.filter(({ sql }) => !sql.includes("simulated_"))
          const outside = own.filter(({ inTransaction }) => !inTransaction).map(({ sql }) => sql)
          expect(outside.filter((sql) => ![...directory, ...sometimes].some((start) => sql.startsWith(start)))).toEqual(
            []
          )
          expect(directory.filter((start) => !outside.some((sql) => sql.startsWith(start)))).toEqual([])
          const inside = own.filter(({ inTransaction }) => inTransaction)
          expect(inside.filter(({ sql }) => directory.some((start) => start !== "select 1" && sql.startsWith(start))))
            .toEqual([])
          expect(inside.length).toBeGreaterThan(operations.length)
          expect(new Set(inside.map(({ organizationId }) => organizationId))).toEqual(new Set([organization.id]))
        }))

      it.effect("what the list names is read by digest, by key, or to close what a crash left open", () =>
        Effect.gen(function*() {
          const organization = yield* Populated.make()
          yield* TestClock.adjust("61 seconds")
          const { said } = yield* recording(World.get("/v1/ai-connections", organization.admins.owner.key))
          const [entered, used, ...rest] = said
          expect(entered?.sql).toContain("where api_key.digest in ($4)")
          expect(used?.sql).toContain(
            "join api_key on api_key.organization_id = noted.organization_id and api_key.id = noted.id"
          )
          expect(rest.every(({ inTransaction }) => inTransaction)).toBe(true)
        }))
    })
  })
})
