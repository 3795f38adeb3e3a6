import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { slotOf } from "../../src/domain/accounts/Slot.ts"
import type { SessionRef } from "../../src/domain/messenger/Messenger.ts"
import * as Randomness from "../../src/layers/crypto/Randomness.ts"
import { Vault } from "../../src/layers/crypto/Vault.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as KeysSql from "../../src/layers/sql/messenger/MessengerKeys.ts"
import { MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"
import * as Captured from "../support/archive/captured.ts"
import { makeRule } from "../support/archive/rules.ts"
import * as DataCentre from "../support/dataCentre/index.ts"
import * as Logins from "../support/logins/logins.ts"
import { pglite } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const person = 7001n

const wire = DataCentre.layerOver.pipe(
  Layer.provide(KeysSql.layer),
  Layer.provide(Layer.merge(Vault.layer, Randomness.layer)),
  Layer.orDie
)

describe.each([
  ["in the simulation", undefined],
  ["over the messenger's own protocol", wire]
])("an account whose session was lost and that signs in again, %s", (_name, messenger) => {
  layer(Captured.watch.pipe(Layer.provideMerge(World.world(pglite, undefined, messenger))))((it) => {
    /** The watch finds that the session has ended. */
    const finds = ({ id, sessionRef }: { readonly id: string; readonly sessionRef: SessionRef }) =>
      Effect.gen(function*() {
        const { open } = yield* MessengerSession
        const look = Effect.flatMap(open(sessionRef, slotOf(AccountId.make(id))), (live) => live.profile)
        expect(yield* Effect.flip(look)).toMatchObject({ _tag: "NoSession" })
      }).pipe(Effect.scoped)

    /** An account that was archived once, and whose session has ended since. */
    const stage = Effect.fnUntraced(function*(live: boolean) {
      const group = live ? -1_000_000_007_012n : -1_000_000_007_013n
      const staged = yield* Captured.stageCapture()
      yield* makeRule(staged.id, "any", { live })
      const own = yield* Captured.converse(staged, 3, { chatId: person })
      const team = yield* Captured.converse(staged, 3, { chatId: group, shared: true })
      yield* Captured.runs
      yield* Captured.passes("1 second")
      const positions = World.query<{ position: number }>(
        staged.id,
        (sql) =>
          sql`
          select position from archive_state where organization_id = ${staged.id}
          union all select position from archive_chat where organization_id = ${staged.id} and position is not null`
      )
      const platform = yield* SimulatedPlatform
      const before = yield* positions
      yield* platform.revokeService(staged.account.userId)
      yield* finds(staged.account)
      for (const { chats, where } of [own, team]) {
        yield* chats.send(where, { from: Captured.grace, text: "while it was away" })
        yield* chats.edit(where, 1n, "edited")
        yield* chats.remove(where, [2n])
      }
      return { ...staged, before, group, own, positions, team }
    })
    type Staged = Effect.Success<ReturnType<typeof stage>>

    const signsIn = Effect.fnUntraced(function*({ account, admins }: Staged) {
      const { code, relogin } = Logins.actor(admins.owner.key)
      const { body } = yield* relogin(account.id)
      const platform = yield* SimulatedPlatform
      const sent = (yield* platform.codes).findLast(({ phone }) => phone === account.phone)
      const answer = yield* code(body.id, sent === undefined ? "none" : Redacted.value(sent.code))
      expect(answer.body).toMatchObject({ state: "completed" })
    })

    const isWhole = Effect.fnUntraced(function*(staged: Staged) {
      for (const chatId of [person, staged.group]) {
        const found = yield* Captured.archived(staged, chatId)
        expect(found.map(({ deleted_at, id, text }) => [id, text, deleted_at !== null])).toEqual([
          ["1", "edited", false],
          ["2", "word 2", true],
          ["3", "word 3", false],
          ["4", "while it was away", false]
        ])
      }
    })

    it.effect("keeps its positions, and the first run finds what has changed in every chat", () =>
      Effect.gen(function*() {
        const staged = yield* stage(false)
        yield* signsIn(staged)
        expect(yield* staged.positions).toEqual(staged.before)
        yield* TestClock.adjust("1 day")
        yield* Captured.runsInTime
        yield* isWhole(staged)
      }))

    it.effect("has what is pushed archived soon after, and what was missed meanwhile", () =>
      Effect.gen(function*() {
        const staged = yield* stage(true)
        yield* signsIn(staged)
        for (let seconds = 0; seconds < 60; seconds += 5) {
          yield* Captured.runs
          yield* Captured.passes("5 seconds")
        }
        yield* isWhole(staged)
        const { chats, where } = staged.own
        const unsent = yield* chats.send(where, { from: Captured.grace, text: "unsent soon" })
        yield* chats.remove(where, [unsent])
        yield* Captured.passes("5 seconds")
        expect((yield* Captured.archived(staged, person)).at(-1)).toMatchObject({ text: "unsent soon" })
      }), 30_000)
  })
})
