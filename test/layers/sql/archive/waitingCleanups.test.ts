import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import { ArchiveCleanups } from "../../../../src/ports/archive/ArchiveCleanups.ts"
import { Db } from "../../../../src/ports/Db.ts"
import { makeCleanup } from "../../../support/archive/cleanups.ts"
import { asOwner, postgres } from "../../../support/postgres/database.ts"
import { plan, planOutside, rowsRead } from "../../../support/postgres/plans.ts"
import { recording, type Said } from "../../../support/postgres/statements.ts"
import * as World from "../../../support/world.ts"

const aDay = 24 * 60 * 60_000
const at = new Date(30 * aDay)

/** Cleanups of a retention that wait for another week. */
const makeWaiting = (organizationId: string, count: number) =>
  World.query<object>(
    organizationId,
    (sql) =>
      sql`insert into archive_cleanup (organization_id, id, state, account_ids, media_only, stop_saving, pages, messages,
          files, bytes, chats, watermark, not_before, created_at)
        select ${organizationId}, gen_random_uuid(), 'queued', array[gen_random_uuid()], false, false, 1, 1, 0, 1, 1, '{}',
          ${new Date(37 * aDay)}, ${new Date(0)}
        from generate_series(1, ${count}::integer)`
  )

const onlyOf = (said: ReadonlyArray<Said>) => {
  const [found, ...others] = said.filter(({ sql }) => sql.includes("archive_cleanup"))
  expect(others).toEqual([])
  return found!
}

describe("cleanups that wait for their time", () => {
  layer(World.world(postgres))((it) => {
    it.effect("are not passed over one by one, neither by what is due nor by other organizations", () =>
      Effect.gen(function*() {
        const [{ id: large }, { id: small }] = [yield* World.makeOrganization(), yield* World.makeOrganization()]
        const account = yield* World.makeAccount(small)
        yield* makeWaiting(large, 3000)
        const due = yield* makeCleanup(small, [account], "queued")
        yield* asOwner((sql) => sql`analyze archive_cleanup`)
        const cleanups = yield* ArchiveCleanups
        const within = OrganizationId.make(small)

        const found = yield* recording(cleanups.due(at, 20))
        expect(found.answer).toEqual([{ organizationId: small, id: due }])
        expect(rowsRead(yield* planOutside("select 1", onlyOf(found.said)))).toBeLessThan(10)

        const taken = yield* recording((yield* Db).transaction(within, cleanups.take(within, due, at)))
        expect(taken.answer?.id).toBe(due)
        expect(rowsRead(yield* plan(small, onlyOf(taken.said)))).toBeLessThan(10)
      }))

    it.effect("of one organization, many and blocked, leave the others their turn", () =>
      Effect.gen(function*() {
        const [{ id: large }, { id: small }] = [yield* World.makeOrganization(), yield* World.makeOrganization()]
        const shared = yield* World.makeAccount(large)
        yield* Effect.forEach(Array.from({ length: 5 }), () => makeCleanup(large, [shared], "queued"))
        const running = yield* makeCleanup(large, [shared], "running")
        const due = yield* makeCleanup(small, [yield* World.makeAccount(small)], "queued")
        yield* World.query<object>(
          small,
          (sql) => sql`update archive_cleanup set created_at = ${new Date(aDay)} where id = ${due}`
        )
        const found = (yield* (yield* ArchiveCleanups).due(at, 100)).map(({ id }) => id)
        const places = (yield* World.query<{ id: string }>(large, (sql) =>
          sql`select id::text as id from archive_cleanup`))
          .map(({ id }) => found.indexOf(id))
        expect(Math.min(...places)).toBe(found.indexOf(running))
        expect(places.filter((place) => place < found.indexOf(due))).toEqual([found.indexOf(running)])
      }))
  })
})
