import { assert, describe, layer } from "@effect/vitest"
import { Clock, Duration, Effect, Layer } from "effect"
import { ServiceUnavailable } from "../../src/domain/Failure.ts"
import { noticeSilence } from "../../src/jobs/protection/notice_silence.ts"
import * as DatabaseFacts from "../../src/layers/postgres/DatabaseFacts.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { Db } from "../../src/ports/Db.ts"
import { waiting } from "../support/mail/outbox.ts"
import { postgres } from "../support/postgres/database.ts"
import { arrange, makeWatched } from "../support/protection/watched.ts"
import { jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

const accounts = 24

/** Organizations whose transactions fail. */
const broken = new Set<string>()

const breakable = Layer.effect(
  Db,
  Effect.map(Db, (db) =>
    Db.of({
      ...db,
      transaction: (id, effect) => broken.has(id) ? Effect.fail(new ServiceUnavailable({})) : db.transaction(id, effect)
    }))
)

describe("12.4 a messenger that cannot be reached at all", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(breakable), Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect("is reported once, and nothing is missed, doubled or requested in a storm when it is back", () =>
      Effect.gen(function*() {
        const organization = yield* arrange()
        const { id, platform } = organization
        const all = [organization]
        for (let made = 1; made < accounts; made++) all.push({ ...organization, ...(yield* makeWatched(organization)) })
        const other = yield* World.makeOrganization()
        yield* makeWatched(other)
        yield* jump("1 minute")
        // A deadline that passes while the messenger is away, and somebody who signs in meanwhile.
        const [early, late, quiet] = all
        if (early === undefined || late === undefined || quiet === undefined) return assert.fail("too few accounts")
        yield* early.stranger
        yield* jump("72 seconds")
        const [deadline] = (yield* early.read).sessions.flatMap((one: any) => one.review_deadline ?? [])
        yield* jump(Duration.millis(Date.parse(deadline) - (yield* Clock.currentTimeMillis) - 300_000))
        const looks = Effect.map(
          platform.calls,
          (calls) => calls.filter(({ operation }) => operation === "authorizations").length
        )
        const events = (of: typeof id) =>
          Effect.map(
            World.journal(of),
            (journal) =>
              journal.flatMap(({ action, outcome, target_type }) =>
                outcome === "done" ? [`${target_type} ${action}`] : []
              )
          )
        const before = (yield* events(id)).length
        const since = Effect.map(events(id), (found) => found.slice(before))
        const others = yield* events(other.id)
        yield* platform.script({ answer: { _tag: "Unavailable" }, times: 100_000 })
        yield* late.stranger
        for (let quarter = 0; quarter < 60; quarter++) {
          const known = yield* looks
          // What one organization cannot be told keeps nobody else from being looked at.
          if (quarter === 4) broken.add(other.id)
          if (quarter === 32) broken.clear()
          yield* jump("15 seconds")
          // A tenth of the 64 places, from when it is known on.
          if (quarter > 4) assert.isAtMost((yield* looks) - known, 6)
          if (quarter % 4 === 0) yield* noticeSilence.run
        }
        assert.deepStrictEqual(yield* since, ["organization monitoring.lost"])
        for (const { read } of all) assert.strictEqual((yield* read).status, "status_unknown")
        // One that nobody looks at before it would be silent.
        const waiter = yield* makeWatched(organization)
        const now = yield* Clock.currentTimeMillis
        yield* World.set(id, "monitor", waiter.account, {
          last_ok_at: new Date(now - 595_000),
          started_at: new Date(now - 595_000),
          flood_until: new Date(now + 300_000)
        })
        yield* platform.clearScripts
        // Six accounts are due within two minutes or so.
        for (let quarter = 0; quarter < 12; quarter++) {
          if ((yield* since).includes("organization monitoring.restored")) break
          yield* jump("15 seconds")
        }
        const back = yield* looks
        for (let quarter = 0; quarter < 4; quarter++) yield* jump("15 seconds")
        assert.isAtMost((yield* looks) - back, (accounts + 1) * 2 + 2)
        assert.strictEqual(yield* noticeSilence.run, 0)
        assert.deepStrictEqual(yield* events(other.id), [
          ...others,
          "organization monitoring.lost",
          "organization monitoring.restored"
        ])
        assert.sameMembers(yield* since, [
          "organization monitoring.lost",
          "organization monitoring.restored",
          "session session.autokilled",
          "session session.detected"
        ])
        assert.strictEqual((yield* early.read).status, "protected")
        assert.strictEqual((yield* late.read).status, "new_sign_in")
        assert.strictEqual((yield* quiet.read).status, "protected")
        yield* jump("12 hours")
        assert.deepStrictEqual((yield* since).slice(4), ["session session.autokilled"])
        const kinds = (yield* waiting(id)).map(({ kind }) => kind)
        assert.deepStrictEqual(kinds.toSorted(), [
          "monitoring_lost_widely",
          "session_autokilled",
          "session_autokilled",
          "session_detected",
          "session_detected"
        ])
      }))

    it.effect("is in get_status and in what the command status reads after three minutes; last_poll_at is the last good one", () =>
      Effect.gen(function*() {
        const { admins, id, platform, userId } = yield* arrange()
        const status = Effect.map(World.get("/v1/status", admins.owner.key), ({ body }) => body)
        const watch = Effect.map(DatabaseFacts.facts, (facts) => facts.watch)
        yield* jump("1 minute")
        const seen = new Date(yield* Clock.currentTimeMillis)
        yield* platform.script({ answer: { _tag: "Unavailable" }, userId, times: 100 })
        yield* jump("90 seconds")
        assert.deepStrictEqual((yield* status).service, { state: "ok", message: null })
        for (let minute = 0; minute < 3; minute++) yield* jump("1 minute")
        const { protection, service } = yield* status
        assert.deepStrictEqual(service, { state: "degraded", message: "The messenger does not answer." })
        assert.strictEqual(protection.last_poll_at, seen.toISOString())
        const { fault, last_good_at, last_poll_at } = (yield* watch) ?? assert.fail("The schema is another one")
        assert.deepStrictEqual([fault, last_good_at], ["unavailable", seen])
        assert.isAbove(last_poll_at?.getTime() ?? 0, seen.getTime())
        for (let minute = 0; minute < 10; minute++) yield* jump("1 minute")
        assert.deepStrictEqual((yield* status).service, {
          state: "down",
          message: "No poll has succeeded for more than 10 minutes. The messenger does not answer."
        })
        yield* platform.clearScripts
        yield* jump("7 minutes")
        const after = yield* status
        assert.isAbove(Date.parse(after.protection.last_poll_at), seen.getTime())
        // What is wrong by then is the mail that nobody sends in this test.
        assert.deepStrictEqual(after.service, {
          state: "degraded",
          message: "Mail has not left for more than 15 minutes."
        })
        assert.isNull((yield* watch)?.fault)
        // One account that answers does not make up for the others.
        yield* World.query(id, (sql) => sql`update organization set messenger_away_at = ${seen} where id = ${id}`)
        assert.deepStrictEqual((yield* status).service, {
          state: "degraded",
          message: "The messenger does not answer."
        })
      }))
  })
})
