import { assert, layer } from "@effect/vitest"
import { Array, Duration, Effect, Fiber, Layer, Logger, Redacted, Schedule, Stream } from "effect"
import * as crypto from "node:crypto"
import { AccountId } from "../../../../src/domain/accounts/Account.ts"
import { everySlot } from "../../../../src/domain/accounts/Slot.ts"
import { SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import * as Keys from "../../../../src/layers/memory/MessengerKeys.ts"
import * as Network from "../../../../src/layers/messenger/wire/Network.ts"
import * as Storage from "../../../../src/layers/messenger/wire/Storage.ts"
import { openLibrary } from "../../../../src/layers/messenger/wire/WireClient.ts"
import { LiveSessions } from "../../../../src/messenger/OpenSessions.ts"
import { MessengerAvailability } from "../../../../src/ports/messenger/MessengerAvailability.ts"
import { MessengerKeys } from "../../../../src/ports/messenger/MessengerKeys.ts"
import { type LiveSession, MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { Ownership } from "../../../../src/ports/messenger/Ownership.ts"
import { Alarm } from "../../../../src/ports/protection/Alarm.ts"
import { Monitors } from "../../../../src/ports/protection/Monitors.ts"
import type { DataCentre, Key } from "../../../support/dataCentre/DataCentre.ts"
import { type Fault, Refusal } from "../../../support/dataCentre/Faults.ts"
import * as Wire from "../../../support/dataCentre/index.ts"

/** The right to use keys, which a test takes away as a frozen process loses it: nobody is told. */
let term: number | null = 1
const ownership = Layer.succeed(Ownership, {
  term: () => term,
  owned: () => term === null ? new Set() : everySlot,
  changes: Stream.never,
  closing: () => Effect.void
})

const phone = "4915551120001"

const keysOf = (centre: DataCentre, ref: SessionRef): ReadonlyArray<Key> =>
  [...centre.keys.values()].filter(({ of }) => of["ref"] === ref || of["login"]?.ref === ref)

const until = (holds: () => boolean) =>
  Effect.repeat(Effect.sync(holds), { until: (held) => held, schedule: Schedule.spaced("20 millis") }).pipe(
    Effect.timeout("10 seconds")
  )

const said: Array<string> = []
const logger = Logger.layer([Logger.make(({ message }) => said.push(String(message)))])

const wire = Layer.provideMerge(Layer.provide(Wire.layerOf(2), Layer.merge(ownership, logger)), Keys.layer)

// The library has timers of its own, so that all of it is in real time.
layer(wire, { excludeTestServices: true })("a session's line", (it) => {
  const connected = Effect.gen(function*() {
    const { centre, world } = yield* Wire.Loopback
    const userId = yield* world.createAccount({
      phone: `49155512${Math.floor(centre.keys.size) + 10_000}`,
      first_name: "Ada"
    })
    const ref = yield* world.connect(userId, { created_at: new Date(Date.now() - 2 * 86_400_000) })
    const live = yield* (yield* MessengerSession).open(ref)
    assert.strictEqual((yield* live.profile).first_name, "Ada")
    const [key] = keysOf(centre, ref)
    return { centre, key: key!, live, userId, world }
  })

  it.effect("writes nothing after the right to its key has ended, and goes on under the next one", () =>
    Effect.gen(function*() {
      const { centre, key, live } = yield* connected
      const before = centre.packets(key)
      term = null
      const waiting = yield* Effect.forkScoped(live.profile)
      yield* until(() => centre.connections(key) === 0)
      yield* Effect.sleep("1500 millis")
      assert.strictEqual(centre.packets(key), before)
      assert.strictEqual(centre.connections(key), 0)
      term = 2
      assert.strictEqual((yield* Fiber.join(waiting)).first_name, "Ada")
      assert.isAbove(centre.packets(key), before)
    }).pipe(Effect.ensuring(Effect.sync(() => term = 1))))

  it.effect("is dropped at a request, before it is done and after: it is asked again, and done", () =>
    Effect.gen(function*() {
      const { centre, live } = yield* connected
      for (const when of ["before", "after"] as const) {
        for (const request of ["account.getAuthorizations", "account.updateProfile"]) {
          centre.faults.push({ request, does: `drop ${when}`, times: 1 })
          if (request === "account.updateProfile") {
            assert.strictEqual((yield* live.updateProfile({ about: when })).about, when)
          } else assert.lengthOf(yield* live.authorizations, 1)
          assert.lengthOf(centre.faults, 0)
        }
      }
    }))

  it.effect("waits for its turn behind the others, of which there are fewer than 200 a second, unless a request waits", () =>
    Effect.gen(function*() {
      const { centre } = yield* Wire.Loopback
      const address = { id: 1, ipAddress: "127.0.0.1", port: centre.port }
      const network = yield* Network.make(address)
      const connecting = Effect.promise(() => network.line(() => 1, { atOnce: false }).transport.connect(address))
      const taken = Effect.map(
        Effect.timed(Effect.all(Array.makeBy(61, () => connecting), { concurrency: "unbounded", discard: true })),
        ([time]) => Duration.toMillis(time)
      )
      const waited = Effect.timed(
        Effect.promise(() => network.line(() => 1, { atOnce: true }).transport.connect(address))
      )
      const together = yield* Effect.all([taken, waited], { concurrency: "unbounded" })
      assert.isAbove(together[0], 60 * 5)
      assert.isBelow(Duration.toMillis(together[1][0]), together[0])
    }))

  it.effect("asks at once when its key is made", () =>
    Effect.gen(function*() {
      const { centre, world } = yield* Wire.Loopback
      const waits: Array<number> = []
      for (const place of [1, 2, 3]) {
        const number = `491555112300${place}`
        yield* world.createAccount({ phone: number, first_name: "Ada" })
        const watched: Fault = {
          request: "auth.sendCode",
          which: ({ made }) => {
            waits.push(performance.now() - made)
            return false
          },
          does: "stay silent",
          times: 1
        }
        centre.faults.push(watched)
        yield* (yield* MessengerSession).begin(SessionRef.make(`first-${place}`), `+${number}`)
        centre.faults.splice(0)
      }
      assert.isBelow(Math.min(...waits), 500)
    }))

  it.effect("of a login moves to the data centre that has the account, and so does a paired session", () =>
    Effect.gen(function*() {
      const { centres, homes, world } = yield* Wire.Loopback
      const messenger = yield* MessengerSession
      const userId = yield* world.createAccount({ phone, first_name: "Grace" })
      const keysThere = () => [...centres[1]!.keys.values()].filter(({ of }) => of["userId"] === userId).length
      homes.set(phone, 2)
      const ref = SessionRef.make("moved")
      const { state } = yield* messenger.begin(ref, `+${phone}`)
      const { code } = (yield* world.codes).at(-1)!
      assert.strictEqual((yield* messenger.submitCode(state, code))._tag, "Connected")
      const live = yield* messenger.open(ref)
      assert.strictEqual((yield* live.profile).first_name, "Grace")
      const kept = yield* (yield* MessengerKeys).load(ref)
      assert.isTrue(kept!.values.has("key:2"))
      assert.strictEqual(keysThere(), 1)

      const second = SessionRef.make("moved-second")
      const { seenAs } = yield* live.pair(second, null)
      const paired = yield* messenger.open(second)
      assert.strictEqual((yield* paired.profile).first_name, "Grace")
      assert.isTrue((yield* live.authorizations).some(({ id }) => id === seenAs))
      assert.strictEqual(keysThere(), 2)
    }))

  for (const place of ["NETWORK", "USER"]) {
    it.effect(`of a login goes on where ${place}_MIGRATE sends it, and stays there`, () =>
      Effect.gen(function*() {
        const { centre, centres, world } = yield* Wire.Loopback
        const messenger = yield* MessengerSession
        const number = `49155511240${place.length}`
        const userId = yield* world.createAccount({ phone: number, first_name: "Grace" })
        const does = new Refusal(303, `${place}_MIGRATE_2`)
        centre.faults.push({ request: "auth.sendCode", does, times: 1 })
        const ref = SessionRef.make(`sent-${place}`)
        const { state } = yield* messenger.begin(ref, `+${number}`)
        const { code } = (yield* world.codes).at(-1)!
        assert.deepInclude(yield* messenger.submitCode(state, code), { _tag: "Connected", userId })
        const there = [...centres[1]!.keys.values()].filter(({ of }) => of["userId"] === userId)
        const here = [...centre.keys.values()].filter(({ of }) => of["userId"] === userId)
        assert.deepStrictEqual([here.length, there.length], [0, 1])
        assert.strictEqual((yield* (yield* messenger.open(ref)).profile).user_id, userId)
      }))
  }

  it.effect("forgets its key alone when it is to", () =>
    Effect.gen(function*() {
      const messenger = yield* MessengerSession
      const { world } = yield* Wire.Loopback
      const userId = yield* world.createAccount({ phone: "4915551120002", first_name: "Ida" })
      const [one, other] = [yield* world.connect(userId), yield* world.connect(userId)]
      yield* messenger.forget(one)
      assert.deepInclude(yield* Effect.flip(messenger.open(one)), { _tag: "NoSession", reason: "never" })
      assert.strictEqual((yield* (yield* messenger.open(other)).profile).first_name, "Ida")
      yield* messenger.forget(one)
    }))

  it.effect("is closed where more sessions are open than may be, and that is no other than is used next", () =>
    Effect.gen(function*() {
      const { centre, world } = yield* Wire.Loopback
      const { use } = yield* LiveSessions
      const accounts = yield* Effect.forEach([1, 2, 3], (one) =>
        Effect.gen(function*() {
          const userId = yield* world.createAccount({ phone: `491555112100${one}`, first_name: "Ada" })
          return {
            ref: yield* world.connect(userId),
            organizationId: OrganizationId.make("acme"),
            accountId: AccountId.make(crypto.randomUUID())
          }
        }))
      const opened = new Set<LiveSession>()
      for (let round = 0; round < 4; round++) {
        for (const { ref, ...account } of accounts) {
          yield* Effect.scoped(Effect.flatMap(use(account, ref), (live) => {
            opened.add(live)
            return live.profile
          }))
        }
      }
      const open = () => accounts.map(({ ref }) => centre.connections(keysOf(centre, ref)[0]!))
      yield* until(() => open().join() === "0,1,1")
      // Of 12 uses. Where the one that was used longest ago is closed, each of them opens a session.
      assert.strictEqual(opened.size, 7)
    }).pipe(Effect.provide(
      LiveSessions.layer({ maxLive: 2 }).pipe(
        Layer.provide([Alarm.layer, Layer.mock(Monitors)({ push: () => Effect.void })]),
        Layer.provide(ownership)
      )
    )))

  it.effect("keeps no list of its requests, which the library would only word warnings by", () =>
    Effect.gen(function*() {
      const { centre } = yield* Wire.Loopback
      const dataCentre = { id: 1, ipAddress: "127.0.0.1", port: centre.port }
      const network = yield* Network.make(dataCentre)
      const client = yield* openLibrary(
        { applicationId: 1, applicationHash: Redacted.make("0".repeat(32)), dataCentre, version: "1" },
        {
          line: network.line(() => 1, { atOnce: true }),
          storage: Storage.make(null, { save: async () => {}, doubted: () => {} }),
          pushes: false
        }
      )
      yield* Effect.promise(() => client.connect())
      for (let call = 0; call < 3; call++) yield* Effect.promise(() => client.call({ _: "help.getConfig" }))
      const [connection] = client.network["_primaryDc"]?.main._connections ?? []
      const { _lastMessageId, recentOutgoingMsgIds } = connection!._session
      assert.isFalse(_lastMessageId.isZero())
      assert.isFalse(recentOutgoingMsgIds.has(_lastMessageId))
    }))

  it.effect("is reported while its data centre is away, and made again when it is back", () =>
    Effect.gen(function*() {
      const { centre, live } = yield* connected
      const reach = yield* MessengerAvailability
      yield* Effect.promise(centre.down)
      const waiting = yield* Effect.forkScoped(live.profile)
      yield* Effect.repeat(reach.away, { until: (away) => away.includes(1), schedule: Schedule.spaced("20 millis") })
      yield* Effect.promise(centre.up)
      assert.strictEqual((yield* Fiber.join(waiting)).first_name, "Ada")
      assert.deepEqual(yield* reach.away, [])
      const named = `The messenger's data centre 1 at 127.0.0.1:${centre.port}`
      assert.deepEqual(said, [`${named} cannot be reached: it is tried until it answers`, `${named} is reached`])
    }))
})
