import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Worker from "../../src/layers/Worker.ts"
import * as Captured from "../support/archive/captured.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const texts = (messages: ReadonlyArray<{ readonly id: string; readonly text: string | null }>) =>
  messages.map(({ id, text }) => `${id} ${text}`)

describe("a run over an account", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect("archives everything that the account sees of the chats that the rules select", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* Captured.addRule(staged.id)
        const { where } = yield* Captured.converse(staged, 250)
        yield* Captured.runs
        console.log(yield* World.query(staged.id, (sql) => sql`select * from archive_run`), yield* World.query(staged.id, (sql) => sql`select next_at from monitor`), yield* World.query(staged.id, (sql) => sql`select archive_error, archive_retry_at, session_ref, archive_next_backup_at from account`), yield* World.query(staged.id, (sql) => sql`select * from archive_chat`))
        const found = yield* Captured.archived(staged, where.chatId)
        expect(texts(found)).toEqual(texts(yield* Captured.visible(staged, where.chatId)))
        expect(found).toHaveLength(250)
      }))
  })
})
