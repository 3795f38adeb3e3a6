import { describe, expect, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { everySlot } from "../../../../src/domain/accounts/Slot.ts"
import { ArchiveRuns } from "../../../../src/ports/archive/ArchiveRuns.ts"
import { forSpecification } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const places = 4

describe("runs that are due", () => {
  forSpecification((_, database) => {
    layer(World.core(database))((it) => {
      it.effect("go to the next organization once one has half of the places, and to it again where none waits", () =>
        Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          const runs = yield* ArchiveRuns
          const until = new Date(now + 120_000)
          const large = yield* World.makeOrganization({})
          const small = yield* World.makeOrganization({})
          const due = Effect.fnUntraced(function*(id: string, accounts: number, seconds: number) {
            for (let n = 0; n < accounts; n++) {
              const account = yield* World.makeLiveAccount(id)
              const next_at = new Date(now - seconds * 1000)
              yield* World.query(
                id,
                (sql) =>
                  sql`insert into archive_run (organization_id, account_id, next_at)
                    values (${id}, ${account.id}, ${next_at})`
              )
            }
          })
          const claim = Effect.fnUntraced(function*(free: number) {
            const claimed = yield* runs.claim(everySlot, free, places / 2, until)
            return claimed.map(({ organizationId }) => organizationId === large.id ? "large" : "small").toSorted()
          })
          yield* due(large.id, 8, 60)
          expect(yield* claim(places)).toEqual(["large", "large", "large", "large"])
          yield* due(small.id, 2, 1)
          expect(yield* claim(1)).toEqual(["small"])
          expect(yield* claim(1)).toEqual(["small"])
          expect(yield* claim(2)).toEqual(["large", "large"])
        }))
    })
  })
})
