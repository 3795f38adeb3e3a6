import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { noticeSilence } from "../../src/jobs/protection/notice_silence.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { waiting } from "../support/mail/outbox.ts"
import { postgres } from "../support/postgres/database.ts"
import { arrange, makeWatched } from "../support/protection/watched.ts"
import { jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

const losses = (organization: string) =>
  Effect.map(
    World.journal(organization),
    (all) => all.filter(({ action }) => action === "monitoring.lost").map(({ target_type }) => target_type)
  )

const mails = (organization: string) => Effect.map(waiting(organization), (all) => all.map(({ kind }) => kind))

describe("12.4 accounts that nobody looks at", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect("become unknown after ten minutes, which is reported once, until the next look", () =>
      Effect.gen(function*() {
        const { done, id, read } = yield* arrange()
        yield* jump("1 minute")
        yield* TestClock.adjust("599 seconds")
        assert.strictEqual(yield* noticeSilence.run, 0)
        assert.strictEqual((yield* read).status, "protected")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* noticeSilence.run, 1)
        assert.strictEqual((yield* read).status, "status_unknown")
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* noticeSilence.run, 0)
        assert.deepStrictEqual(yield* mails(id), ["monitoring_lost"])
        yield* jump(0)
        assert.strictEqual((yield* read).status, "protected")
        assert.deepStrictEqual(yield* done, ["monitoring.lost", "monitoring.restored"])
      }))

    it.effect("are left alone while they are paused, or while somebody looks at them", () =>
      Effect.gen(function*() {
        const { account, admins, id } = yield* arrange()
        yield* jump("1 minute")
        yield* TestClock.adjust("1 hour")
        yield* World.set(id, "monitor", account, { busy_until: new Date(Date.UTC(2026, 2, 3)) })
        assert.strictEqual(yield* noticeSilence.run, 0)
        yield* World.set(id, "monitor", account, { busy_until: null })
        yield* World.post(`/v1/accounts/${account}/pause`, admins.owner.key)
        assert.strictEqual(yield* noticeSilence.run, 0)
        assert.deepStrictEqual(yield* losses(id), [])
      }))

    it.effect("are reported one by one up to twenty, and more than that in one event and one mail", () =>
      Effect.gen(function*() {
        const organization = yield* arrange()
        const { id } = organization
        for (let made = 1; made < 20; made++) yield* makeWatched(organization)
        yield* jump("1 minute")
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(yield* noticeSilence.run, 20)
        assert.deepStrictEqual(yield* losses(id), Array.from({ length: 20 }, () => "account"))
        assert.strictEqual((yield* mails(id)).length, 20)
        yield* makeWatched(organization)
        yield* jump(0)
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(yield* noticeSilence.run, 21)
        assert.deepStrictEqual((yield* losses(id)).slice(20), ["organization"])
        assert.deepStrictEqual((yield* mails(id)).slice(20), ["monitoring_lost_widely"])
        const event = (yield* World.journal(id)).findLast(({ action }) => action === "monitoring.lost")
        assert.deepStrictEqual(event?.details, { error: "silent", accounts: 21 })

        // That they are back is told in the same way, once the last of them is.
        const back = Effect.map(
          World.journal(id),
          (all) =>
            all.slice(event?.sequence ?? 0).filter(({ action }) => action === "monitoring.restored")
              .map(({ details, target_type }) => [target_type, details])
        )
        const { platform, userId } = organization
        yield* platform.setUnreachable(userId, true)
        yield* jump(0)
        yield* noticeSilence.run
        assert.deepStrictEqual(yield* back, [])
        yield* platform.setUnreachable(userId, false)
        yield* jump("2 minutes")
        yield* noticeSilence.run
        yield* noticeSilence.run
        assert.deepStrictEqual(yield* back, [["organization", { accounts: 21 }]])
        yield* TestClock.adjust("11 minutes")
        yield* noticeSilence.run
        assert.deepStrictEqual((yield* losses(id)).slice(20), ["organization", "organization"])
      }))
  })
})
