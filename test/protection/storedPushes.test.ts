/** Pushes while the database is away, on a virtual clock. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, PubSub, Stream } from "effect"
import { TestClock } from "effect/testing"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { ServiceUnavailable } from "../../src/domain/Failure.ts"
import { MessengerEvent, SessionRef } from "../../src/domain/messenger/Messenger.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import { LiveSessions } from "../../src/messenger/OpenSessions.ts"
import { MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"
import { Ownership } from "../../src/ports/messenger/Ownership.ts"
import { Alarm } from "../../src/ports/protection/Alarm.ts"
import { Monitors } from "../../src/ports/protection/Monitors.ts"
import { silentLogins, silentSession } from "../support/messenger/silentSession.ts"

const account = {
  organizationId: OrganizationId.make("acme"),
  accountId: AccountId.make("00000000-0000-4000-8000-000000000001")
}
const ref = SessionRef.make("session")
const unused = Effect.die("unused")

interface Database {
  away: boolean
  /** For each push that was stored, whether it asks for a look. */
  readonly stored: Array<boolean>
}

const services = (events: PubSub.PubSub<MessengerEvent>, database: Database) =>
  Layer.mergeAll(
    Alarm.layer,
    Ownership.layerAlone,
    Layer.succeed(MessengerSession, {
      ...silentLogins,
      open: () => Effect.succeed({ ...silentSession, events: Stream.fromPubSub(events) })
    }),
    Layer.succeed(Monitors, {
      claim: () => unused,
      finish: () => unused,
      nextDue: unused,
      unwatched: () => unused,
      sessions: () => unused,
      push: (_, { look }) =>
        Effect.suspend(() =>
          database.away ? Effect.fail(new ServiceUnavailable()) : Effect.sync(() => void database.stored.push(look))
        )
    })
  )

describe("12.3 a push", () => {
  it.effect("that the database does not answer is stored within a second of its return, once, and those after it too", () =>
    Effect.gen(function*() {
      const events = yield* PubSub.unbounded<MessengerEvent>()
      const database: Database = { away: true, stored: [] }
      const layer = Layer.provide(LiveSessions.layer({ maxLive: 10 }), services(events, database))
      const sessions = Context.get(yield* Layer.build(layer), LiveSessions)
      yield* Effect.scoped(sessions.use(account, ref))
      yield* TestClock.adjust("1 second")
      yield* PubSub.publish(events, MessengerEvent.make({ _tag: "ProfileChanged" }))
      yield* TestClock.adjust("5 seconds")
      yield* PubSub.publish(events, MessengerEvent.make({ _tag: "CodeSent" }))
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(database.stored, [])
      database.away = false
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(database.stored, [true, false])
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(database.stored.length, 2)
    }).pipe(Effect.scoped))
})
