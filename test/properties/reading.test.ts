import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Role } from "../../src/domain/people/Access.ts"
import * as Populated from "../support/populated.ts"
import { postgres } from "../support/postgres/database.ts"
import * as Random from "../support/random.ts"
import * as World from "../support/world.ts"

/** Tables that belong to no organization: the applications', the messenger's, and those that requests may write. */
const outside = [
  "journal_push",
  "messenger_key",
  "messenger_session",
  "oauth_client",
  "password_reset_request",
  "password_throttle",
  "simulated_account",
  "simulated_authorization",
  "simulated_document",
  "simulated_ended_session",
  "simulated_login",
  "simulated_platform",
  "simulated_script",
  "simulated_username_for_sale"
]
const counters = [
  ...World.counters,
  "rate_limit",
  "schema_migration",
  "simulated_call",
  "cluster_locks",
  "cluster_runners"
]

/** Every row of every table, but for the counters of requests and when a key was last used. */
const everything = Effect.fnUntraced(function*(organizationIds: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const organizations = yield* Effect.forEach(organizationIds, World.snapshot)
  // The process that asked the messenger last is the messenger's own affair.
  const others = yield* Effect.forEach(
    outside,
    (table) => sql`select to_jsonb(found) - 'place' as row from ${sql(table)} as found order by 1`
  )
  return { organizations, others }
})

type Everything = Effect.Success<ReturnType<typeof everything>>

const withoutJournal = ({ organizations, others }: Everything) => ({
  organizations: organizations.map((tables) =>
    Object.fromEntries(Object.entries(tables).filter(([table]) => !table.startsWith("journal_")))
  ),
  others
})

const isFor = (role: Role, { roles }: { readonly roles: ReadonlyArray<Role> }): boolean => roles.includes(role)

/** The answer of what changes nothing any more: an action tells the account's status only where it has changed it. */
const unchanged = ({ status, ...body }: Record<string, unknown>) =>
  status === undefined || body["object"] === "account_action" ? body : { ...body, status }

describe("4 reading and repeating", () => {
  layer(World.world(postgres))((it) => {
    it.effect("every table is looked at, or is a counter of requests", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* World.makeOrganization()
        const tables = yield* sql<{ name: string }>`select relname::text as name from pg_class
            where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`
        const looked = [...Object.keys(yield* World.snapshot(id)), ...outside, ...counters]
        expect(tables.map(({ name }) => name).toSorted()).toEqual(looked.toSorted())
      }))

    it.effect("S4-19: no request of a reading operation changes a row, whoever asks it, found or refused", () =>
      Effect.gen(function*() {
        const [own, other] = [yield* Populated.make(), yield* Populated.make()]
        const ids = Populated.together(own.ids, own.ids, own.ids, other.ids, Populated.nothing)
        const step = Arbitrary.all({
          role: Random.pickOf(...Role.literals),
          draft: Random.drafts((operation) => !Random.changes(operation))
        })
        const refused = Arbitrary.all({
          role: Random.pickOf<Role>("billing"),
          draft: Random.drafts((operation) => !Random.changes(operation) && !isFor("billing", operation))
        })
        const answered = new Set<number>()
        yield* Random.holds(
          Arbitrary.all({ asked: Arbitrary.array(step, { minLength: 3, maxLength: 10 }), refused }),
          15,
          ({ asked, refused: last }) =>
            Effect.gen(function*() {
              yield* TestClock.adjust("61 seconds")
              const before = yield* everything([own.id, other.id])
              for (const { draft, role } of [...asked, last]) {
                const answer = yield* Random.sendSound(Random.draw(draft, ids), own.admins[role].key)
                answered.add(answer.status)
              }
              expect(yield* everything([own.id, other.id])).toEqual(before)
            })
        )
        expect([200, 403, 404].filter((status) => !answered.has(status))).toEqual([])
      }))

    it.effect("S4-21: a change that is repeated at once changes nothing more and leaves no further entry", () =>
      Effect.gen(function*() {
        const organization = yield* Populated.make()
        const { admins, id, ids } = organization
        let repeated = 0
        yield* Random.holds(
          Random.drafts((operation) => Random.changes(operation) && operation.idempotent),
          50,
          (draft) =>
            Effect.gen(function*() {
              yield* TestClock.adjust("61 seconds")
              const request = Random.draw(draft, ids)
              const first = yield* Random.sendSound(request, admins.owner.key)
              if (first.status !== 200) return
              repeated += 1
              const before = yield* everything([id])
              const earlier = (yield* World.journal(id)).length
              yield* TestClock.adjust("1 second")
              const second = yield* Random.sendSound(request, admins.owner.key)
              // What is done already answers the same, or that there is nothing to be done any more.
              expect([200, 404, 409], request.path).toContain(second.status)
              if (second.status === 200) expect(second.body).toEqual(unchanged(first.body))
              const entries = (yield* World.journal(id)).slice(earlier)
              if (entries.length === 0) return expect(yield* everything([id])).toEqual(before)
              // That a destructive change was refused is journaled, and nothing else is left.
              expect([request.operation.destructive, second.status]).toEqual([true, 409])
              expect(entries).toEqual([expect.objectContaining({ outcome: "refused" })])
              expect(withoutJournal(yield* everything([id]))).toEqual(withoutJournal(before))
            })
        )
        expect(repeated).toBeGreaterThan(10)
      }))
  })
})
