/** Sessions that are opened because this process has got their slots, on a virtual clock. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, PubSub, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { Slot, slotOf } from "../../src/domain/accounts/Slot.ts"
import { ServiceUnavailable } from "../../src/domain/Failure.ts"
import { SessionRef } from "../../src/domain/messenger/Messenger.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import { LiveSessions } from "../../src/messenger/OpenSessions.ts"
import { PlatformUnavailable } from "../../src/ports/messenger/MessengerSession.ts"
import { Ownership } from "../../src/ports/messenger/Ownership.ts"
import { Alarm } from "../../src/ports/protection/Alarm.ts"
import { Monitors, type OpenSession } from "../../src/ports/protection/Monitors.ts"
import * as SessionOpening from "../../src/protection/SessionOpening.ts"
import { tried } from "../support/drawn.ts"
import { silentSession } from "../support/messenger/silentSession.ts"

const slots = [0, 1, 2].map((slot) => Slot.make(slot))

/** Accounts of the three slots, in the order of their deadlines. */
const accountsOf = (count: number): ReadonlyArray<OpenSession> =>
  Array.from({ length: count }, (_, place) => {
    const accountId = AccountId.make(
      `00000000-0000-4000-8000-${place.toString(16).padStart(9, "0")}00${place % slots.length}`
    )
    return { organizationId: OrganizationId.make("acme"), accountId, ref: SessionRef.make(`session ${place}`) }
  })

interface Use {
  readonly ref: string
  readonly slot: Slot
  readonly term: number | null
}

/** What happens to a slot, and the time until the next thing happens, in ms. */
const happening = fc.record({
  slot: fc.constantFrom(...slots),
  gained: fc.boolean(),
  away: fc.constantFrom(false, false, true),
  then: fc.constantFrom(0, 100, 900, 2500)
})

const play = Effect.fnUntraced(function*(
  count: number,
  maxLive: number,
  takes: number,
  happenings: ReadonlyArray<typeof happening extends fc.Arbitrary<infer A> ? A : never>
) {
  const accounts = accountsOf(count)
  const terms = new Map<Slot, number>()
  const uses: Array<Use> = []
  /** The accounts that were made due. */
  const due: Array<string> = []
  const open = new Set<string>()
  const changes = yield* PubSub.unbounded<ReadonlySet<Slot>>()
  let [away, last, together, most] = [false, 0, 0, 0]
  const term = (slot?: Slot) => slot === undefined ? null : terms.get(slot) ?? null
  const unused = Effect.die("unused")
  const services = Layer.mergeAll(
    Alarm.layer,
    Layer.succeed(Ownership, {
      term,
      owned: () => new Set(terms.keys()),
      changes: Stream.fromPubSub(changes),
      closing: () => Effect.void
    }),
    Layer.succeed(Monitors, {
      claim: () => unused,
      finish: () => unused,
      nextDue: unused,
      push: (pushed) =>
        Effect.sync(() => {
          for (const { accountId } of pushed) {
            assert.isTrue(open.has(accountId))
            due.push(accountId)
          }
        }),
      unwatched: () => unused,
      sessions: (asked, limit) =>
        Effect.suspend(() =>
          away
            ? Effect.fail(new ServiceUnavailable())
            : Effect.succeed(accounts.filter(({ accountId }) => asked.has(slotOf(accountId))).slice(0, limit))
        )
    }),
    Layer.succeed(LiveSessions, {
      use: ({ accountId }, ref) =>
        Effect.gen(function*() {
          const slot = slotOf(accountId)
          uses.push({ ref, slot, term: term(slot) })
          most = Math.max(most, ++together)
          yield* Effect.sleep(takes)
          together--
          // Every seventh cannot be opened.
          if (Number(ref.split(" ")[1]) % 7 === 0) return yield* new PlatformUnavailable()
          open.add(accountId)
          return silentSession
        }),
      isUsed: () => false,
      close: () => unused,
      closeUnwatched: unused,
      forget: () => unused,
      takeCodes: () => unused,
      keepCodes: () => unused,
      heard: unused
    })
  )
  yield* Layer.build(Layer.provide(SessionOpening.layer({ maxLive }), services))
  for (const { away: isAway, gained, slot, then } of happenings) {
    away = isAway
    if (gained === terms.has(slot)) continue
    if (gained) terms.set(slot, ++last)
    else terms.delete(slot)
    yield* PubSub.publish(changes, new Set([slot]))
    yield* TestClock.adjust(then)
  }
  away = false
  yield* TestClock.adjust((count + 10) * (takes + 1000))
  return { accounts, due, most, terms, uses }
})

describe("12.4 the sessions of slots that a process has got", () => {
  it.effect("are opened once a term, and their accounts due, some at a time, none after its slot is lost, and none is left out", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 0, max: 250 }),
          fc.constantFrom(20, 1000),
          fc.constantFrom(0, 5, 700),
          fc.array(happening, { maxLength: 12 }),
          (count, maxLive, takes, happenings) =>
            Effect.runPromise(
              Effect.gen(function*() {
                const { accounts, due, most, terms, uses } = yield* play(count, maxLive, takes, happenings)
                assert.isAtMost(most, SessionOpening.openedTogether)
                assert.isTrue(uses.every(({ term }) => term !== null))
                const keys = uses.map(({ ref, term }) => `${ref} ${term}`)
                assert.strictEqual(new Set(keys).size, keys.length)
                const expectedDue = uses.flatMap(({ ref }) => {
                  const place = Number(ref.split(" ")[1])
                  return place % 7 === 0 ? [] : [String(accounts[place]?.accountId)]
                })
                assert.deepStrictEqual(due.toSorted(), expectedDue.toSorted())
                for (const [slot, term] of terms) {
                  const expected = accounts.filter(({ accountId }) => slotOf(accountId) === slot).slice(0, maxLive)
                  const opened = uses.filter((use) => use.slot === slot && use.term === term).map(({ ref }) => ref)
                  assert.deepStrictEqual(opened, expected.map(({ ref }) => ref))
                }
              }).pipe(Effect.provide(TestClock.layer()), Effect.scoped)
            )
        ),
        tried(60)
      )
    ))
})
