import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { verify } from "../../src/layers/sql/journal/JournalChain.ts"
import { LiveSessions } from "../../src/messenger/OpenSessions.ts"
import { Engine } from "../../src/protection/PollLoop.ts"
import * as Fixtures from "../support/fixtures.ts"
import { makeWatched, start } from "../support/protection/watched.ts"
import { workers } from "../support/replicas.ts"
import * as World from "../support/world.ts"

const atOnce = { concurrency: "unbounded" } as const

const accounts = 20

describe("12.4 two processes that watch the accounts of one database", () => {
  it.effect("find each stranger once and sign them out once", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const [one, two] = yield* workers
      const organization = yield* one(World.makeOrganization())
      const { admins, id } = organization
      const watched = yield* Effect.forEach(Array.from({ length: accounts }), () => one(makeWatched(organization)))
      const tick = Effect.flatMap(Engine, (engine) => engine.tick)
      const work = { rounds: 0, signedOut: 0 }
      /** Both do what is due, now one first and then the other. */
      const both = Effect.gen(function*() {
        const [first, second] = work.rounds++ % 2 === 0 ? [0, 1] as const : [1, 0] as const
        const ticks = [one(tick), two(tick)] as const
        const reports = yield* Effect.all([ticks[first], ticks[second]], atOnce)
        for (const report of reports) work.signedOut += report.signedOut
      })
      // The messenger ends a session whose key two processes use: each lets go of it before the other may have it.
      const letGo = Effect.flatMap(
        LiveSessions,
        (sessions) => Effect.forEach(watched, ({ sessionRef }) => sessions.close(sessionRef))
      )
      const during = Effect.fnUntraced(function*(seconds: number) {
        for (let second = 0; second < seconds; second += 6) {
          yield* both
          yield* one(letGo)
          yield* two(letGo)
          yield* TestClock.adjust("6 seconds")
        }
      })
      yield* during(6)
      for (const { stranger } of watched) yield* one(stranger)
      yield* during(80)
      assert.strictEqual(work.signedOut, 0)
      yield* TestClock.adjust("12 hours")
      yield* during(80)
      assert.strictEqual(work.signedOut, accounts)
      // Each does all of it where the other one does not.
      for (const alone of [one, two]) {
        yield* TestClock.adjust("80 seconds")
        assert.strictEqual((yield* alone(tick)).steps, accounts)
        yield* alone(letGo)
      }
      const events = yield* one(World.journal(id))
      const of = (action: string, outcome: string) =>
        events.filter((event) => event.action === action && event.outcome === outcome)
      for (const [action, outcome] of [["session.detected", "done"], ["session.autokilled", "done"]] as const) {
        assert.sameMembers(
          of(action, outcome).map(({ account_id }) => account_id),
          watched.map(({ account }) => account)
        )
      }
      assert.lengthOf(of("session.autokilled", "pending"), accounts)
      const open = yield* one(
        World.query(id, (sql) => sql`select sequence from pending_change where organization_id = ${id}`)
      )
      assert.lengthOf(open, 0)
      assert.isTrue((yield* one(Fixtures.within(id, verify(id)))).ok)
      for (const { account } of watched) {
        const { body } = yield* two(World.get(`/v1/accounts/${account}`, admins.owner.key))
        assert.deepStrictEqual(
          [body.status, body.terminations.map(({ reason }: { reason: string }) => reason)],
          ["protected", ["autokill"]]
        )
      }
    }))
})
