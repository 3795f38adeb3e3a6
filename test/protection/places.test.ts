import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { defaultReviewWindow } from "../../src/domain/Limits.ts"
import { serviceDevice, SessionRef } from "../../src/domain/messenger/Messenger.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import * as Outages from "../../src/jobs/protection/MessengerOutages.ts"
import * as Watch from "../../src/layers/sql/protection/MonitorStore.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { LiveSessions } from "../../src/messenger/OpenSessions.ts"
import { PlatformRefused } from "../../src/ports/messenger/MessengerSession.ts"
import { type ClaimedAccount, Monitors } from "../../src/ports/protection/Monitors.ts"
import { Engine } from "../../src/protection/PollLoop.ts"
import { RefusalLog } from "../../src/protection/RefusalLog.ts"
import { pglite } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const places = 256

const dueOf = (organization: string, place: number): ClaimedAccount => ({
  organizationId: OrganizationId.make(organization),
  accountId: AccountId.make(`00000000-0000-7000-8000-${String(place).padStart(12, "0")}`),
  fence: 1,
  epoch: 0,
  main: { id: String(place), session_ref: SessionRef.make(`${organization} ${place}`) },
  seen_mark: null,
  next_at: new Date(0),
  due_at: null,
  look_at: null,
  last_ok_at: null,
  failures: 0,
  last_poll_error: null
})

/** A messenger that takes its time, and accounts that are due: how many looks at once there are, and in which order. */
const slow = (due: Array<ClaimedAccount>) => {
  const running = new Map<string, number>()
  const looked: Array<string> = []
  let most = 0
  let mostBeside = 0
  const monitors = Layer.effect(
    Monitors,
    Effect.map(Monitors, (stored) =>
      Monitors.of({
        ...stored,
        claim: ({ free, room, rooms }) =>
          Effect.sync(() => {
            const left = new Map(rooms)
            const fair = due.filter(({ organizationId }) => {
              const more = left.get(organizationId) ?? room
              left.set(organizationId, more - 1)
              return more > 0
            })
            const accounts = [...new Set([...fair, ...due])].slice(0, free)
            for (const one of accounts) due.splice(due.indexOf(one), 1)
            return { accounts, pressing: null }
          })
      }))
  )
  const sessions = Layer.effect(
    LiveSessions,
    Effect.map(LiveSessions, (open) =>
      LiveSessions.of({
        ...open,
        use: ({ organizationId }) =>
          Effect.acquireUseRelease(
            Effect.sync(() => {
              running.set(organizationId, (running.get(organizationId) ?? 0) + 1)
              looked.push(organizationId)
              most = Math.max(most, [...running.values()].reduce((sum, count) => sum + count))
              if (due.some((one) => one.organizationId !== organizationId)) {
                mostBeside = Math.max(mostBeside, running.get(organizationId) ?? 0)
              }
            }),
            () => Effect.sleep("20 millis"),
            () => Effect.sync(() => void running.set(organizationId, (running.get(organizationId) ?? 0) - 1))
          ).pipe(Effect.andThen(Effect.fail(new PlatformRefused({ reason: "slow" }))))
      }))
  )
  const engine = Engine.layer({ reviewWindow: defaultReviewWindow, device: serviceDevice }).pipe(
    Layer.provide([monitors, sessions, Outages.layer, RefusalLog.layer, Watch.layer])
  )
  return { engine, looked, most: () => most, mostBeside: () => mostBeside }
}

const many = (organization: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, place) => dueOf(organization, from + place))

describe("12.4 how many accounts a process looks at at once", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(pglite))))((it) => {
    const pass = Effect.andThen(
      TestClock.adjust("5 millis"),
      Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1)))
    )

    const claimed = (due: Array<ClaimedAccount>) =>
      Effect.gen(function*() {
        const world = slow(due)
        const claims = Effect.provide(Effect.flatMap(Engine, ({ claim }) => claim), world.engine, { local: true })
        const fiber = yield* Effect.forkChild(claims, { startImmediately: true })
        while (fiber.pollUnsafe() === undefined) yield* pass
        return { started: yield* Fiber.join(fiber), ...world }
      })

    it.effect("no more than it has places, however many are due", () =>
      Effect.gen(function*() {
        const { looked, most, started } = yield* claimed(many("one", 500))
        assert.deepStrictEqual([started, looked.length, most()], [500, 500, places])
      }))

    it.effect("it is looking until the last of them is over", () =>
      Effect.gen(function*() {
        const { claim, isLooking } = yield* Engine
        assert.isFalse(isLooking())
        assert.strictEqual(yield* claim, 3)
        for (let waits = 0; waits < 2; waits++) {
          assert.isTrue(isLooking())
          yield* pass
        }
        while (isLooking()) yield* pass
      }).pipe(Effect.provide(slow(many("one", 3)).engine, { local: true })))

    it.effect("of one organization half as many while another waits, which waits for none of them", () =>
      Effect.gen(function*() {
        const { looked, most, mostBeside } = yield* claimed([...many("large", 400), ...many("small", 20, 400)])
        assert.deepStrictEqual([looked.length, most()], [420, places])
        assert.isAtMost(mostBeside(), places / 2)
        assert.isBelow(looked.lastIndexOf("small"), places)
      }))
  })
})
