import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as BackgroundWork from "../../src/cli/process/BackgroundWork.ts"
import { ServiceUnavailable } from "../../src/domain/Failure.ts"
import { Background } from "../../src/jobs/Background.ts"
import { noticeNoWorker } from "../../src/jobs/protection/notice_no_worker.ts"
import { watchAccounts } from "../../src/jobs/protection/watch_accounts.ts"
import * as DatabaseFacts from "../../src/layers/postgres/DatabaseFacts.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { Ownership } from "../../src/ports/messenger/Ownership.ts"
import { begin } from "../support/jobs.ts"
import { waiting } from "../support/mail/outbox.ts"
import { postgres } from "../support/postgres/database.ts"
import { arrange, makeWatched } from "../support/protection/watched.ts"
import { jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

const mails = (organization: string) => Effect.map(waiting(organization), (all) => all.map(({ kind }) => kind))

const status = (key: World.Asking["key"]) =>
  Effect.map(World.get("/v1/status", key ?? ""), ({ body }) => [body.service.state, body.service.message])

const fault = Effect.map(DatabaseFacts.facts, ({ watch }) => watch?.fault)

describe("12.4 accounts that no process polls", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect("are unknown within three minutes, which the job, a mail, get_status and status say, until one polls", () =>
      Effect.gen(function*() {
        const organization = yield* arrange()
        const { admins, id, read } = organization
        for (let made = 1; made < 25; made++) yield* makeWatched(organization)
        const notice = yield* begin(noticeNoWorker)
        yield* jump("1 minute")
        // The accounts are due after 72 seconds at the latest, and 90 more is nobody polling them.
        yield* TestClock.adjust("72 seconds")
        yield* notice
        assert.deepStrictEqual(yield* status(admins.owner.key), ["ok", null])
        assert.isNull(yield* fault)
        yield* TestClock.adjust("91 seconds")
        const failure = yield* Effect.flip(notice)
        assert.strictEqual(failure._tag, "NotPolled")
        assert.match(failure.message, /^No account has been polled since 20.+: no worker watches$/)
        assert.strictEqual((yield* read).status, "status_unknown")
        assert.deepStrictEqual(yield* mails(id), ["monitoring_lost_widely"])
        assert.deepStrictEqual(yield* status(admins.owner.key), ["degraded", "Accounts are due, and none is polled."])
        assert.strictEqual(yield* fault, "unpolled")
        yield* Effect.flip(notice)
        assert.deepStrictEqual(yield* mails(id), ["monitoring_lost_widely"])
        yield* TestClock.adjust("8 minutes")
        assert.deepStrictEqual(yield* status(admins.owner.key), [
          "down",
          "No poll has succeeded for more than 10 minutes. Accounts are due, and none is polled."
        ])
        yield* jump("1 minute")
        yield* notice
        assert.strictEqual((yield* read).status, "protected")
        assert.deepStrictEqual(yield* status(admins.owner.key), ["ok", null])
        assert.isNull(yield* fault)
      }))

    it.effect("are left alone by a process that has only just started", () =>
      Effect.gen(function*() {
        const { read } = yield* arrange()
        yield* jump("1 minute")
        yield* TestClock.adjust("9 minutes")
        const notice = yield* begin(noticeNoWorker)
        yield* TestClock.adjust("90 seconds")
        yield* notice
        assert.strictEqual((yield* read).status, "protected")
        yield* TestClock.adjust("1 second")
        yield* Effect.flip(notice)
        assert.strictEqual((yield* read).status, "status_unknown")
      }))

    it.effect("make workers unready, and every other process with a messenger says so", () =>
      Effect.gen(function*() {
        yield* arrange()
        yield* jump("1 minute")
        const process = (names: ReadonlyArray<string>, ownership: Layer.Layer<Ownership>) => {
          const done = (name: string, now: number) => ({
            name,
            last_done_at: new Date(now),
            last_failed_at: null,
            failure: null
          })
          const jobs = Effect.map(Clock.currentTimeMillis, (now) => names.map((name) => done(name, now)))
          return Effect.map(
            Effect.provide(
              BackgroundWork.watching({ watched: true }),
              Layer.merge(ownership, Layer.succeed(Background, { jobs }))
            ),
            Effect.exit
          )
        }
        const worker = yield* process([watchAccounts.name], Ownership.layerAlone)
        const api = yield* process([], Ownership.layerNever)
        assert.deepStrictEqual([yield* worker, yield* api], [Exit.succeed("active"), Exit.succeed(null)])
        yield* TestClock.adjust("163 seconds")
        assert.deepStrictEqual([yield* worker, yield* api], [
          Exit.fail(new ServiceUnavailable({})),
          Exit.succeed("none")
        ])
        yield* jump(0)
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual([yield* worker, yield* api], [Exit.succeed("active"), Exit.succeed(null)])
      }))
  })
})
