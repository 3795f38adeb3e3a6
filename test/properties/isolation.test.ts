import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Role } from "../../src/domain/people/Access.ts"
import { drawnOn } from "../support/drawn.ts"
import * as Populated from "../support/populated.ts"
import { asOwner, forEachDatabase } from "../support/postgres/database.ts"
import { recording, rewriting, withoutOrganization } from "../support/postgres/statements.ts"
import * as Random from "../support/random.ts"
import * as World from "../support/world.ts"

const role = Random.pickOf(...Role.literals)
const asked = Arbitrary.array(Random.drafts(), { minLength: 1, maxLength: 6 })

/** Every id, address and text that is the organization's alone, as it may stand in an answer. */
const marks = Effect.fnUntraced(function*(organization: Populated.Populated) {
  const text = JSON.stringify(yield* World.snapshot(organization.id))
  const own = text.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w.-]+@example\.com|\+1\d{9,}/g) ?? []
  return [...new Set([organization.id, ...own])]
})

const state = Effect.fnUntraced(function*(organization: Populated.Populated) {
  const messenger = yield* Populated.onMessenger(organization.live)
  return { rows: yield* World.snapshot(organization.id), messenger }
})

/** Sends requests of one organization's admin with ids of another, and compares what the other has before and after. */
const trespass = Effect.fnUntraced(function*(
  own: Populated.Populated,
  other: Populated.Populated,
  role: Role,
  drafts: ReadonlyArray<Random.Draft>
) {
  yield* TestClock.adjust("61 seconds")
  const found = yield* marks(other)
  const before = yield* state(other)
  const ids = Populated.together(other.ids, other.ids, own.ids, Populated.nothing)
  for (const draft of drafts) {
    const request = Random.draw(draft, ids)
    const answer = yield* Random.sendSound(request, own.admins[role].key)
    const text = JSON.stringify(answer.body)
    expect(found.filter((mark) => text.includes(mark)), `${request.method} ${request.path}`).toEqual([])
    if (other.ids.account.some((id) => request.path.startsWith(`/v1/accounts/${id}`))) {
      expect([403, 404, 400]).toContain(answer.status)
    }
  }
  expect(yield* state(other)).toEqual(before)
})

describe("1 isolation between organizations", () => {
  forEachDatabase((name, database) => {
    layer(World.world(database))((it) => {
      let stage: readonly [Populated.Populated, Populated.Populated]
      const staged = Effect.gen(function*() {
        stage ??= [yield* Populated.make(), yield* Populated.make()]
        return stage
      })

      it.effect.prop(
        "S1-07: no request with any credential reads or changes anything of another organization",
        { role, asked },
        ({ asked, role }) =>
          Effect.gen(function*() {
            const [own, other] = yield* staged
            yield* trespass(own, other, role, asked)
          }),
        drawnOn(name, 12)
      )

      it.effect.prop(
        "the wall of row level security alone holds as much, when no statement names its organization",
        { role, asked },
        ({ asked, role }) =>
          Effect.gen(function*() {
            const [own, other] = yield* staged
            yield* rewriting(withoutOrganization)(trespass(own, other, role, asked))
          }),
        drawnOn(name, 12)
      )

      it.effect("every statement on an organization's rows names it, and is rewritten in the test above", () =>
        Effect.gen(function*() {
          const [own] = yield* staged
          yield* TestClock.adjust("61 seconds")
          const drafts = yield* Arbitrary.sampleEffect(Random.drafts(), { count: 80, seed: 1 })
          const { said } = yield* recording(
            Effect.forEach(drafts, (draft) => Random.send(Random.draw(draft, own.ids), own.admins.owner.key))
          )
          const named = said.filter(({ inTransaction, sql }) =>
            inTransaction && !sql.includes("set_config") && !sql.includes("simulated_") &&
            !sql.startsWith("insert into") && !sql.startsWith("select append_event(")
          )
          expect(named.length).toBeGreaterThan(100)
          for (const { sql } of named) {
            const open = withoutOrganization(sql)
            expect(open, sql).toContain("::text is not null)")
            expect(open).not.toMatch(/organization_id = |from organization where id = /)
          }
        }))

      it.effect("without the wall and without the conditions, the same requests read another organization", () =>
        Effect.gen(function*() {
          const [own, other] = yield* staged
          const wall = (state: "enable" | "disable") =>
            asOwner((sql) =>
              Effect.forEach(
                ["account", "archive_state", "journal_event"],
                (table) => sql`alter table ${sql(table)} ${sql.literal(state)} row level security`
              )
            )
          yield* TestClock.adjust("61 seconds")
          const read = Effect.all([
            World.get(`/v1/accounts/${other.ids.account[0]}`, own.admins.owner.key),
            World.get(`/v1/journal/${other.ids.event[0]}`, own.admins.owner.key)
          ]).pipe(rewriting(withoutOrganization), Effect.map((answers) => answers.map(({ status }) => status)))
          expect(yield* read).toEqual([404, 404])
          yield* wall("disable")
          expect(yield* read).toEqual([200, 200])
          yield* wall("enable")
          expect(yield* read).toEqual([404, 404])
        }))
    })
  })
})
