/** Accounts that several processes share by their slots. */
import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { everySlot, slotOf } from "../../src/domain/accounts/Slot.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import * as Tenant from "../../src/layers/postgres/Tenant.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { ArchiveRuns } from "../../src/ports/archive/ArchiveRuns.ts"
import { AccountTasks } from "../../src/ports/protection/AccountTasks.ts"
import { Monitors } from "../../src/ports/protection/Monitors.ts"
import { tried } from "../support/drawn.ts"
import * as Fixtures from "../support/fixtures.ts"
import { postgres } from "../support/postgres/database.ts"
import { arrange, makeWatched } from "../support/protection/watched.ts"
import * as World from "../support/world.ts"

const expression = `select pg_get_expr(adbin, adrelid) as rule from pg_attrdef join pg_attribute
  on attrelid = adrelid and attnum = adnum where adrelid = 'monitor'::regclass and attname = 'slot'`

describe("12.4 processes that share the accounts", () => {
  layer(Layer.provideMerge(Worker.layer(), World.world(postgres)))((it) => {
    it.effect("the database and the service place every account in the same slot", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const ids = fc.sample(fc.uuid(), tried(500))
        const [column] = yield* Tenant.ask<{ rule: string }>(sql, expression, [])
        const rows = yield* Tenant.ask<{ slot: number }>(
          sql,
          `select ${column?.rule} as slot from unnest($1::uuid[]) with ordinality as made (account_id, place) order by place`,
          [ids]
        )
        assert.deepStrictEqual(rows.map(({ slot }) => slot), ids.map((id) => Number(slotOf(AccountId.make(id)))))
      }))

    it.effect("a process takes accounts, their tasks and their archive runs from its own slots alone", () =>
      Effect.gen(function*() {
        const organization = yield* arrange()
        const organizationId = OrganizationId.make(organization.id)
        const now = new Date(yield* Clock.currentTimeMillis)
        const watched = yield* makeWatched(organization)
        const accountId = AccountId.make(watched.account)
        yield* World.set(organization.id, "monitor", watched.account, { next_at: now })
        yield* Fixtures.within(
          organizationId,
          (yield* AccountTasks).add({ organizationId, accountId }, "rotate_two_fa", now)
        )
        const runs = yield* ArchiveRuns
        yield* runs.addMissing
        const mine = new Set([slotOf(accountId)])
        const others = new Set([...everySlot].filter((slot) => !mine.has(slot)))
        const monitors = yield* Monitors
        const tasks = yield* AccountTasks
        const until = new Date(now.getTime() + 60_000)
        const found = Effect.fnUntraced(function*(slots: typeof everySlot) {
          const { accounts } = yield* monitors.claim({ slots, free: 64, room: 64, rooms: new Map() })
          return [accounts, yield* tasks.due(slots, 20, now), yield* runs.claim(slots, 99, 99, until)].map((list) =>
            list.some((one) => one.accountId === accountId)
          )
        })
        assert.deepStrictEqual(yield* found(others), [false, false, false])
        assert.deepStrictEqual(yield* found(mine), [true, true, true])
      }))
  })
})
