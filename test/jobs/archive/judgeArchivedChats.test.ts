import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { judgeArchivedChats } from "../../../src/jobs/archive/judge_archived_chats.ts"
import * as Captured from "../../support/archive/captured.ts"
import * as Deletions from "../../support/archive/deletions.ts"
import { accountTarget, makeRule } from "../../support/archive/rules.ts"
import { forEachDatabase } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const chatId = 7001n

/** Two accounts whose chat a rule of the organization archives, which has more chats than one change judges. */
const stage = Effect.gen(function*() {
  const staged = yield* Captured.stageCapture()
  const { account, admins, id } = staged
  const { key } = admins.owner
  const rule = yield* makeRule(id, "any")
  const talk = yield* Captured.converse(staged, 1)
  yield* Captured.runs
  const other = yield* World.makeAccount(id)
  yield* Deletions.addRow("archive_chat", id, {
    account_id: other,
    chat_id: chatId,
    type: "private",
    ref: "chat",
    effect: "archive",
    rule_id: rule
  })
  yield* World.query<object>(
    id,
    (sql) => sql`update archive_state set archive_chats_discovered = 5000 where account_id = ${other}::uuid`
  )
  return {
    account,
    decide: (effect: string) => World.send("PATCH", `/v1/archive/rules/${rule}`, { key, body: { effect } }),
    effects: Effect.map(
      World.query<{ effect: string }>(
        id,
        (sql) => sql`select effect from archive_chat where chat_id = ${chatId} order by account_id = ${other}::uuid`
      ),
      (rows) => rows.map(({ effect }) => effect)
    ),
    key,
    other,
    selected: Effect.map(
      World.get(`/v1/accounts/${account.id}`, key),
      ({ body: { archive } }) => [archive.status, archive.chats.selected]
    ),
    staged,
    talk
  }
})

describe("a changed rule of more chats than its change judges", () => {
  forEachDatabase((_, database) => {
    layer(Captured.watch.pipe(Layer.provideMerge(World.world(database))))((it) => {
      it.effect("has them judged afterwards, account by account", () =>
        Effect.gen(function*() {
          const { decide, effects, selected } = yield* stage
          expect((yield* decide("skip")).body).toMatchObject({ object: "archive_rule", effect: "skip" })
          expect([yield* effects, yield* selected]).toEqual([["archive", "archive"], ["idle", 1]])
          yield* judgeArchivedChats.run
          expect([yield* effects, yield* selected]).toEqual([["skip", "skip"], ["disabled", 0]])
          yield* decide("archive")
          yield* judgeArchivedChats.run
          expect([yield* effects, yield* selected]).toEqual([["archive", "archive"], ["idle", 1]])
          yield* judgeArchivedChats.run
        }))

      it.effect("archives nothing more of what it skips, though its chats were not judged yet", () =>
        Effect.gen(function*() {
          const { account, decide, effects, key, staged, talk: { chats, where } } = yield* stage
          yield* decide("skip")
          yield* chats.send(where, { from: Captured.grace, text: "afterwards" })
          yield* World.send("POST", `/v1/accounts/${account.id}/archive/backup`, { key })
          yield* TestClock.adjust("1 second")
          yield* Captured.runs
          expect((yield* Captured.archived(staged, chatId)).map(({ text }) => text)).toEqual(["word 1"])
          expect(yield* effects).toEqual(["skip", "archive"])
          yield* judgeArchivedChats.run
          expect(yield* effects).toEqual(["skip", "skip"])
        }))

      it.effect("archives nothing that is pushed of what it skips, though its chats were not judged yet", () =>
        Effect.gen(function*() {
          const { decide, effects, staged, talk: { chats, where } } = yield* stage
          yield* Captured.passes("2 seconds")
          yield* chats.send(where, { from: Captured.grace, text: "before" })
          yield* Captured.passes("2 seconds")
          yield* decide("skip")
          yield* chats.send(where, { from: Captured.grace, text: "afterwards" })
          yield* Captured.passes("2 seconds")
          expect((yield* Captured.archived(staged, chatId)).map(({ text }) => text)).toEqual(["word 1", "before"])
          expect(yield* effects).toEqual(["skip", "archive"])
        }))

      it.effect("is followed by a change for one of the accounts, which judges that one by all rules", () =>
        Effect.gen(function*() {
          const { decide, effects, key, other } = yield* stage
          yield* decide("skip")
          yield* World.send("POST", "/v1/archive/rules", {
            key,
            body: { ...accountTarget(other), selector: { chat_type: "group", chat_id: null }, effect: "archive" }
          })
          expect(yield* effects).toEqual(["archive", "skip"])
        }))
    })
  })
})
