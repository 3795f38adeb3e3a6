import { describe, expect, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { everySlot } from "../../../../src/domain/accounts/Slot.ts"
import type { OrganizationId } from "../../../../src/domain/people/Access.ts"
import { ArchiveRuns } from "../../../../src/ports/archive/ArchiveRuns.ts"
import { Db } from "../../../../src/ports/Db.ts"
import * as Deletions from "../../../support/archive/deletions.ts"
import { forSpecification } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const places = 4

/** Makes runs of so many new accounts due since so many seconds. */
const makeDue = Effect.fnUntraced(function*(id: OrganizationId, accounts: number, seconds: number) {
  const next_at = new Date((yield* Clock.currentTimeMillis) - seconds * 1000)
  for (let n = 0; n < accounts; n++) {
    const account = yield* World.makeLiveAccount(id)
    yield* Deletions.addRow("archive_run", id, { account_id: account.id, next_at })
  }
})

describe("runs that are due", () => {
  forSpecification((_, database) => {
    layer(World.core(database))((it) => {
      it.effect("wait while the messenger counts as away for their organization", () =>
        Effect.gen(function*() {
          const runs = yield* ArchiveRuns
          const until = new Date((yield* Clock.currentTimeMillis) + 120_000)
          const { id } = yield* World.makeOrganization()
          yield* makeDue(id, 1, 60)
          const claimed = Effect.map(
            runs.claim(everySlot, places, places, until),
            (all) => all.filter(({ organizationId }) => organizationId === id).length
          )
          yield* World.set(id, "organization", id, { messenger_away_at: new Date(0) })
          expect(yield* claimed).toBe(0)
          yield* World.set(id, "organization", id, { messenger_away_at: null })
          expect(yield* claimed).toBe(1)
        }))

      it.effect("keep that an admin asked for them over a claim that ends without them, until they have ended", () =>
        Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          const db = yield* Db
          const runs = yield* ArchiveRuns
          const { id } = yield* World.makeOrganization()
          yield* makeDue(id, 1, 60)
          const asked = new Date(now - 30_000)
          yield* World.query(id, (sql) => sql`update archive_run set asked_at = ${asked}`)
          const claim = Effect.fnUntraced(function*(seconds: number) {
            const claimed = yield* runs.claim(everySlot, places, places, new Date(now + seconds * 1000))
            return claimed.filter(({ organizationId }) => organizationId === id)
          })
          expect((yield* claim(-1)).map(({ askedAt }) => askedAt)).toEqual([asked])
          const [run] = yield* claim(60)
          expect(run?.askedAt).toEqual(asked)
          if (run === undefined) return
          const during = new Date(now)
          yield* World.query(id, (sql) => sql`update archive_run set asked_at = ${during}`)
          yield* db.transaction(id, runs.finish(run, { askedAt: null, at: new Date(now + 3_600_000), failures: 0 }))
          expect((yield* claim(-1)).map(({ askedAt }) => askedAt)).toEqual([during])
          const [last] = yield* claim(60)
          if (last === undefined) return expect.fail("There is no run")
          yield* db.transaction(id, runs.finish(last, { askedAt: null, at: asked, failures: 0 }))
          expect((yield* claim(60)).map(({ askedAt }) => askedAt)).toEqual([null])
        }))

      it.effect("go to the next organization once one has half of the places, and to it again where none waits", () =>
        Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          const runs = yield* ArchiveRuns
          const until = new Date(now + 120_000)
          const large = yield* World.makeOrganization({})
          const small = yield* World.makeOrganization({})
          const claim = Effect.fnUntraced(function*(free: number) {
            const claimed = yield* runs.claim(everySlot, free, places / 2, until)
            return claimed.map(({ organizationId }) => organizationId === large.id ? "large" : "small").toSorted()
          })
          yield* makeDue(large.id, 8, 60)
          expect(yield* claim(places)).toEqual(["large", "large", "large", "large"])
          yield* makeDue(small.id, 2, 1)
          expect(yield* claim(1)).toEqual(["small"])
          expect(yield* claim(1)).toEqual(["small"])
          expect(yield* claim(2)).toEqual(["large", "large"])
        }))
    })
  })
})
