import { assert, describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { everySlot } from "../../../../src/domain/accounts/Slot.ts"
import * as Tenant from "../../../../src/layers/postgres/Tenant.ts"
import * as MonitorsSql from "../../../../src/layers/sql/protection/Monitors.ts"
import { type ClaimLimits, Monitors } from "../../../../src/ports/protection/Monitors.ts"
import { postgres } from "../../../support/postgres/database.ts"
import { planOutside, rowsRead } from "../../../support/postgres/plans.ts"
import { recording } from "../../../support/postgres/statements.ts"
import { superuser, superuserUrlHere } from "../../../support/postgres/superuser.ts"
import * as World from "../../../support/world.ts"

const now = new Date("2026-05-01T00:00:00Z")

/** Monitors of an organization, and when the nth of them is due and has its deadline, in seconds before now. */
interface Filling {
  readonly of: string
  readonly monitors: number
  readonly late: string
  readonly deadline?: string
  readonly urgent?: boolean
}

const small = 2000
const many = (late: string, monitors = 10_000): ReadonlyArray<Filling> => [{ of: "small", monitors, late }]

/** The organization of the nth monitor: of small ones there are many. */
const organizationOf = (of: string) => of === "small" ? `'small-' || n % ${small}` : `'${of}'`

/** Replaces all monitors, as a superuser past the wall: of the accounts nothing is read. */
const given = (...all: ReadonlyArray<Filling>) =>
  Effect.scoped(Effect.gen(function*() {
    yield* TestClock.setTime(now.getTime())
    const client = yield* superuser(yield* superuserUrlHere)
    yield* Effect.promise(async () => {
      await client.query("set session_replication_role = replica")
      await client.query("truncate monitor")
      for (const { deadline = "null", late, monitors, of, urgent = false } of all) {
        await client.query(
          `insert into monitor (organization_id, account_id, next_at, due_at, urgent)
        select ${organizationOf(of)}, md5($1 || n)::uuid, $2::timestamptz - (${late}) * interval '1 s',
          $2::timestamptz - (${deadline}) * interval '1 s', $3
        from generate_series(1, ${monitors}) n`,
          [of, now, urgent]
        )
      }
    })
  }))

const free = 64
const wanted = (rooms: Readonly<Record<string, number>> = {}): ClaimLimits => ({
  slots: everySlot,
  free,
  room: free / 2,
  rooms: new Map(Object.entries(rooms))
})

const claim = (of: ClaimLimits) => Monitors.use((monitors) => monitors.claim(of))

const taken = (of: ClaimLimits) =>
  Effect.map(claim(of), ({ accounts }) => accounts.map(({ organizationId }) => String(organizationId)))

const count = (all: ReadonlyArray<string>, organization: string) =>
  all.filter((one) => one.startsWith(organization)).length

/** What one process knows of who waits is not another's. */
const process = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, MonitorsSql.layer, { local: true })

describe("12.4 how accounts are taken that are due", () => {
  layer(World.core(postgres), { timeout: "2 minutes" })((it) => {
    const backlogs: Readonly<Record<string, ReadonlyArray<Filling>>> = {
      "of one organization": [{ of: "large", monitors: 25_000, late: "n % 60" }],
      "of deadlines": [{ of: "large", monitors: 25_000, late: "n % 60", deadline: "n % 60" }],
      "of deadlines before which a poll is late": [{ of: "large", monitors: 25_000, late: "90", deadline: "n % 60" }],
      "of what is urgent": [{ of: "large", monitors: 25_000, late: "n % 60", urgent: true }],
      "before many organizations": [{ of: "large", monitors: 15_000, late: "60 + n % 60" }, ...many("n % 60")],
      "of many organizations": [{ of: "large", monitors: 15_000, late: "n % 60" }, ...many("60 + n % 60")],
      "of many organizations' deadlines": [
        { of: "large", monitors: 15_000, late: "n % 60", deadline: "n % 60" },
        { of: "small", monitors: 10_000, late: "n % 60", deadline: "n % 60 - 10" }
      ],
      "of nobody, where all is due at its time": [
        { of: "large", monitors: 15_000, late: "- n % 60.0" },
        ...many("- n % 60.0")
      ]
    }

    for (const [which, filling] of Object.entries(backlogs)) {
      it.effect(`a backlog ${which} is taken from as if it were none`, () =>
        process(Effect.gen(function*() {
          yield* given(...filling)
          const most: Array<number> = []
          for (const rooms of [{}, { large: 0 }, { large: 0 }]) {
            const { said } = yield* recording(claim(wanted(rooms)))
            for (const statement of said) {
              const rows = rowsRead(yield* planOutside(Tenant.inOrder, statement))
              // Who waits is asked of each organization, and no more than once a second.
              if (statement.sql.startsWith("with recursive")) expect(rows).toBeLessThan(3 * small)
              else most.push(rows)
            }
          }
          expect(Math.max(...most)).toBeLessThan(14 * free)
        })), 60_000)
    }

    it.effect("what presses comes first, and then who has waited longest, whosever it is", () =>
      process(Effect.gen(function*() {
        yield* given(
          { of: "polled", monitors: 20, late: "30 + n" },
          { of: "due", monitors: 20, late: "20", deadline: "n" },
          { of: "urgent", monitors: 20, late: "n + 0.5", urgent: true },
          { of: "later", monitors: 20, late: "29 + n", deadline: "-1" },
          { of: "never", monitors: 20, late: "null" }
        )
        const { accounts, pressing } = yield* claim(wanted())
        const at = accounts.map(({ due_at, next_at }) =>
          (due_at !== null && due_at <= now ? due_at : next_at).getTime()
        )
        const organizations = accounts.map(({ organizationId }) => String(organizationId))
        assert.deepStrictEqual(at, [
          ...at.slice(0, 40).toSorted((a, b) => a - b),
          ...at.slice(40).toSorted((a, b) => a - b)
        ])
        assert.deepStrictEqual(new Set(organizations.slice(0, 40)), new Set(["due", "urgent"]))
        assert.deepStrictEqual([count(organizations, "polled"), count(organizations, "later")], [12, 12])
        assert.isTrue(pressing !== null && pressing <= now)
        yield* claim({ ...wanted(), free: 100, room: 100 })
        const after = yield* claim(wanted())
        assert.deepStrictEqual([after.accounts.length, after.pressing?.getTime()], [0, now.getTime() - 20_000])
      })))

    it.effect("an organization takes no more than it has room for while others wait, however late it is", () =>
      process(Effect.gen(function*() {
        yield* given({ of: "large", monitors: 5000, late: "60 + n % 60" }, {
          of: "other",
          monitors: 40,
          late: "n % 60"
        })
        const first = yield* taken(wanted({ large: 10 }))
        assert.deepStrictEqual([first.length, count(first, "other"), count(first, "large")], [free, 32, 32])
        const second = yield* taken(wanted({ large: 0, other: 30 }))
        assert.deepStrictEqual([count(second, "other"), count(second, "large")], [8, free - 8])
        assert.deepStrictEqual(count(yield* taken(wanted({ large: -100 })), "large"), free)
      })))

    it.effect("many that wait behind one are taken from before it, those first that have waited longest", () =>
      process(Effect.gen(function*() {
        yield* given(
          { of: "large", monitors: 5000, late: "5000", urgent: true },
          ...many(`(n % ${small}) / 1000.0`, 40_000)
        )
        for (const expected of [free, free]) {
          const all = yield* taken(wanted({ large: 0 }))
          assert.deepStrictEqual(count(all, "small"), expected)
          assert.isTrue(all.every((id) => Number(id.split("-")[1]) > small - 10), String(all))
        }
      })))

    it.effect("who begins to wait behind one is known of within a second", () =>
      process(Effect.gen(function*() {
        yield* given({ of: "large", monitors: 5000, late: "60" }, { of: "other", monitors: 5, late: "-0.5" })
        const others = Effect.map(taken(wanted({ large: 0 })), (all) => count(all, "other"))
        assert.strictEqual(yield* others, 0)
        yield* TestClock.adjust(1000)
        assert.strictEqual(yield* others, 5)
      })))

    it.effect("nobody is taken twice by processes that ask at once", () =>
      Effect.gen(function*() {
        yield* given({ of: "large", monitors: 500, late: "60" })
        const all = yield* Effect.forEach(
          Array.from({ length: 8 }, () => wanted()),
          (of) => process(Effect.map(claim(of), ({ accounts }) => accounts.map(({ accountId }) => accountId))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(all.flat()).size, all.flat().length)
        assert.isAtLeast(all.flat().length, free)
      }))

    it.effect("an account is not taken while the messenger asks to wait, and presses when that is over", () =>
      process(Effect.gen(function*() {
        yield* given({ of: "large", monitors: 3, late: "60", deadline: "0", urgent: false })
        const until = new Date(now.getTime() + 30_000)
        yield* World.query("large", (sql) => sql`update monitor set flood_until = ${until} returning fence`)
        const { accounts, pressing } = yield* claim(wanted())
        assert.deepStrictEqual([accounts.length, pressing?.getTime()], [0, until.getTime()])
        yield* TestClock.setTime(until.getTime())
        assert.lengthOf(yield* taken(wanted()), 3)
      })))
  })
})
