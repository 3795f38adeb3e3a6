import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Alarms from "../../../../src/layers/sql/protection/Alarms.ts"
import { Ownership } from "../../../../src/ports/messenger/Ownership.ts"
import { Alarm } from "../../../../src/ports/protection/Alarm.ts"
import { postgresUrl } from "../../../support/postgres/database.ts"
import { postgresLayer } from "../../../support/postgres/databaseRoles.ts"
import { superuser } from "../../../support/postgres/superuser.ts"
import { running } from "../../../support/replicas.ts"

/** A process with connections of its own. */
const process = (url: string, ownership: Layer.Layer<Ownership>) =>
  running(Alarms.layer.pipe(Layer.provideMerge(Layer.mergeAll(Alarm.layer, ownership, postgresLayer(url)))))

/** Waits while the alarm is not heard, and answers whether it is in the end; time goes on by itself. */
const hears = Effect.gen(function*() {
  const heard = yield* Effect.forkChild(Effect.flatMap(Alarm, (alarm) => alarm.heard), { startImmediately: true })
  for (let tries = 0; tries < 60 && heard.pollUnsafe() === undefined; tries++) {
    yield* TestClock.adjust("100 millis")
    yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10)))
  }
  const done = heard.pollUnsafe() !== undefined
  yield* Fiber.interrupt(heard)
  return done
})

const ring = Effect.flatMap(Alarm, (alarm) => alarm.ring)

describe("12.4 what another process was asked", () => {
  it.effect("is heard of by the one that watches, over one connection, and again after that was lost", () =>
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const asked = yield* process(url, Ownership.layerNever)
      const watches = yield* process(url, Ownership.layerAlone)
      const client = yield* superuser(url)
      // What was told before it listened is not known.
      assert.isTrue(yield* watches(hears))
      assert.isFalse(yield* watches(hears))
      yield* asked(ring)
      assert.isTrue(yield* watches(hears))
      assert.isTrue(yield* asked(hears))
      const { rowCount } = yield* Effect.promise(() =>
        client.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where query like 'LISTEN%' and datname = current_database()"
        )
      )
      assert.strictEqual(rowCount, 1)
      assert.isTrue(yield* watches(hears))
      yield* asked(ring)
      assert.isTrue(yield* watches(hears))
      assert.isFalse(yield* watches(hears))
    }))

  it.effect("is sent once for all that comes together, and not by the process that watches", () =>
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const asked = yield* process(url, Ownership.layerNever)
      const watches = yield* process(url, Ownership.layerAlone)
      const client = yield* superuser(url)
      let notified = 0
      client.on("notification", () => notified += 1)
      yield* Effect.promise(() => client.query("listen console_due"))
      yield* watches(hears)
      yield* watches(ring)
      assert.isTrue(yield* watches(hears))
      assert.isFalse(yield* watches(hears))
      assert.strictEqual(notified, 0)
      for (let times = 0; times < 5; times++) yield* asked(ring)
      assert.isTrue(yield* watches(hears))
      assert.strictEqual(notified, 1)
    }))
})
