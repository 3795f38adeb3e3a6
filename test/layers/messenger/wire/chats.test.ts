import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Randomness from "../../../../src/layers/crypto/Randomness.ts"
import { Vault } from "../../../../src/layers/crypto/Vault.ts"
import * as KeysSql from "../../../../src/layers/sql/messenger/MessengerKeys.ts"
import * as Captured from "../../../support/archive/captured.ts"
import { makeRule } from "../../../support/archive/rules.ts"
import * as DataCentre from "../../../support/dataCentre/index.ts"
import { pglite } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const messenger = DataCentre.layerOver.pipe(
  Layer.provide(KeysSql.layer),
  Layer.provide(Layer.merge(Vault.layer, Randomness.layer)),
  Layer.orDie
)

const texts = (messages: ReadonlyArray<{ readonly id: string; readonly text: string | null }>) =>
  messages.map(({ id, text }) => `${id} ${text}`)

const person = 901n
const group = -1_000_000_007_002n

describe("chats over the messenger's own protocol", () => {
  layer(Captured.watch.pipe(Layer.provideMerge(World.world(pglite, undefined, messenger))))((it) => {
    it.effect("are archived as the account sees them, and what is pushed soon after", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* makeRule(staged.id, "any")
        const { chats, where } = yield* Captured.converse(staged, 130, { chatId: person })
        const team = yield* Captured.converse(staged, 5, { chatId: group, shared: true })
        yield* Captured.runs
        for (const chatId of [person, group]) {
          const found = yield* Captured.archived(staged, chatId)
          expect(texts(found)).toEqual(texts(yield* Captured.visible(staged, chatId)))
          expect(found.length).toBeGreaterThan(4)
        }
        yield* Captured.passes("1 second")
        const unsent = yield* chats.send(where, { from: Captured.grace, text: "unsent soon" })
        yield* chats.remove(where, [unsent])
        yield* chats.edit(team.where, 2n, "edited")
        yield* Captured.passes("3 seconds")
        const found = yield* Captured.archived(staged, person)
        expect(found.at(-1)).toMatchObject({ id: String(unsent), text: "unsent soon" })
        expect(found.at(-1)?.deleted_at).not.toBeNull()
        const edited = (yield* Captured.archived(staged, group)).find(({ id }) => id === "2")
        expect(edited).toMatchObject({ text: "edited", edits: 1 })
      }))
  })
})
