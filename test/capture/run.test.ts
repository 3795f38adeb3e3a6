import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Capture } from "../../src/capture/Capture.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import { passwordHeader } from "../support/archive/archivePassword.ts"
import { beginning } from "../support/archive/archives.ts"
import * as Captured from "../support/archive/captured.ts"
import * as Deletions from "../support/archive/deletions.ts"
import { makeRule } from "../support/archive/rules.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const texts = (messages: ReadonlyArray<{ readonly id: string; readonly text: string | null }>) =>
  messages.map(({ id, text }) => `${id} ${text}`)

describe("a run over an account", () => {
  layer(Captured.watch.pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect("archives everything that the account sees of the chats that the rules select", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* makeRule(staged.id, "any")
        const { where } = yield* Captured.converse(staged, 250)
        yield* Captured.runs
        const found = yield* Captured.archived(staged, where.chatId)
        expect(texts(found)).toEqual(texts(yield* Captured.visible(staged, where.chatId)))
        expect(found).toHaveLength(250)
        yield* Deletions.recount(staged.id)
      }))

    it.effect("archives nothing of a chat that the rules skip, and nothing without a rule", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* makeRule(staged.id, "private", { effect: "skip" })
        yield* Captured.converse(staged, 3)
        yield* Captured.converse(staged, 3, { chatId: -1_000_000_007_002n, shared: true })
        yield* Captured.runs
        const chats = yield* World.query<{ effect: string; messages: number }>(
          staged.id,
          (sql) => sql`select effect, messages::int from archive_chat order by effect`
        )
        expect(chats).toEqual([{ effect: "review", messages: 0 }, { effect: "skip", messages: 0 }])
      }))

    it.effect("a second run asks for nothing that is archived, and finds what is new", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* makeRule(staged.id, "any", { live: false })
        const { chats, where } = yield* Captured.converse(staged, 120)
        yield* Captured.runs
        yield* chats.send(where, { from: Captured.grace, text: "later" })
        yield* chats.edit(where, 7n, "edited")
        yield* chats.remove(where, [9n])
        yield* TestClock.adjust("1 day")
        yield* Captured.runsInTime
        const found = yield* Captured.archived(staged, where.chatId)
        expect(found).toHaveLength(121)
        expect(found.at(-1)?.text).toBe("later")
        expect(found.find(({ id }) => id === "7")).toMatchObject({ text: "edited", edits: 1 })
        expect(found.find(({ id }) => id === "9")?.deleted_at).not.toBeNull()
      }))

    it.effect("6.5: is journaled where it is the first or was asked for, and no other night's", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* makeRule(staged.id, "any")
        yield* Captured.converse(staged, 3)
        const events = Effect.map(
          World.journal(staged.id),
          (all) =>
            all.filter(({ action }) => action.startsWith("backup.")).map(
              ({ account_id, action, actor_type, details }) => {
                expect(account_id).toBe(staged.account.id)
                return [action, actor_type, details]
              }
            )
        )
        const finished = (first: boolean) => ["backup.finished", "service", { first, messages: 3 }]
        yield* Captured.runs
        expect(yield* events).toEqual([finished(true)])
        yield* TestClock.adjust("1 day")
        yield* Captured.runsInTime
        expect(yield* events).toEqual([finished(true)])
        const path = `/v1/accounts/${staged.account.id}/archive/backup`
        expect((yield* World.send("POST", path, { key: staged.admins.owner.key })).status).toBe(200)
        yield* Captured.runs
        const all = yield* events
        expect(all.map(([action]) => action).toSorted()).toEqual([
          "backup.finished",
          "backup.finished",
          "backup.queued"
        ])
        expect(all).toContainEqual(finished(false))
      }))

    it.effect("6.5: finds messages that count as archived and are missing, archives them, and journals how many", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* makeRule(staged.id, "any")
        const { where } = yield* Captured.converse(staged, 3)
        yield* Captured.runs
        for (const table of ["archive_page", "archive_loose"]) {
          yield* World.query<object>(
            staged.id,
            (sql) => sql`delete from ${sql(table)} where organization_id = ${staged.id} and kind = 'messages'`
          )
        }
        yield* TestClock.adjust("1 day")
        yield* Captured.runsInTime
        expect(texts(yield* Captured.archived(staged, where.chatId))).toEqual(["1 word 1", "2 word 2", "3 word 3"])
        const drifted = (yield* World.journal(staged.id)).filter(({ action }) => action === "archive.drifted")
        expect(drifted.map(({ account_id, actor_type, details }) => [account_id, actor_type, details])).toEqual([
          [staged.account.id, "service", { messages: 3 }]
        ])
      }))

    it.effect("is followed by one in the next night of the organization's time zone", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* makeRule(staged.id, "any")
        yield* World.set(staged.id, "organization", staged.id, { time_zone: "Pacific/Auckland" })
        yield* Captured.runs
        const [next] = yield* World.query<{ hour: number; days: number }>(
          staged.id,
          (sql) =>
            sql`select extract(hour from archive_next_backup_at at time zone 'Pacific/Auckland')::integer as hour,
              floor(extract(epoch from archive_next_backup_at - ${new Date(beginning)}) / 86400)::integer as days
            from archive_state where account_id = ${staged.account.id}`
        )
        expect(next?.days).toBe(0)
        expect(next?.hour).toBeLessThan(6)
      }))

    it.effect("seals under the epoch of the nights before, where each look would begin one", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* makeRule(staged.id, "any", { live: false })
        const { chats, where } = yield* Captured.converse(staged, 3)
        const count = (what: string) =>
          Effect.map(
            World.query<{ count: number }>(
              staged.id,
              (sql) => sql`select count(*)::integer as count from ${sql.literal(what)}`
            ),
            ([row]) => row?.count
          )
        const counts = Effect.all([count("archive_epoch"), count("archive_page where kind = 'chat'")])
        const night = (n: number) =>
          Effect.gen(function*() {
            for (let turn = 0; turn < 4; turn++) {
              yield* Captured.passes("500 millis")
              yield* TestClock.adjust("6 hours")
              yield* Effect.flatMap(Capture, ({ tend }) => tend)
            }
            yield* chats.send(where, { from: Captured.grace, text: `night ${n}` })
            yield* Captured.runs
          })
        yield* Captured.runs
        expect(yield* counts).toEqual([1, 1])
        yield* night(1)
        yield* night(2)
        // A jump of the clock may end a call that is under way, and its epoch.
        for (const counted of yield* counts) expect(counted).toBeLessThan(3)
        expect(yield* Captured.archived(staged, where.chatId)).toHaveLength(5)
      }))

    it.effect("seals what is pushed to the organization's new key, where it was replaced after the run", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* makeRule(staged.id, "any")
        const { chats, where } = yield* Captured.converse(staged, 2)
        yield* Captured.runs
        yield* Captured.passes("1 second")
        yield* setArchiveKey(staged.id, { replace: true })
        yield* chats.send(where, { from: Captured.grace, text: "under another key" })
        yield* Captured.passes("2 seconds")
        const keys = yield* World.query<{ current: boolean; messages: number }>(
          staged.id,
          (sql) =>
            sql`select retired_at is null as current, count(archive_tail)::integer as messages
              from archive_key join archive_epoch using (organization_id, key_id)
              left join archive_tail using (organization_id, account_id, epoch_id)
              where closed_at is null group by 1`
        )
        expect(keys).toEqual([{ current: true, messages: 1 }])
      }))

    it.effect("archives who is in a group", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* makeRule(staged.id, "any")
        const group = { chatId: -1_000_000_007_003n, shared: true }
        yield* Captured.converse(staged, 2, group)
        yield* Captured.runs
        const path = `/v1/archive/accounts/${staged.account.id}/chats/${group.chatId}/members`
        const names = Effect.map(
          World.send("GET", path, { key: staged.admins.owner.key, headers: passwordHeader() }),
          ({ body }) => body.data.map(({ name, role }: { name: string; role: string }) => `${name} ${role}`)
        )
        expect(yield* names).toEqual(["Grace Hopper member"])
      }))

    it.effect("what is pushed is archived within a second, and what is unsent at once stays", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* makeRule(staged.id, "any")
        const { chats, where } = yield* Captured.converse(staged, 2)
        yield* Captured.runs
        yield* Captured.passes("1 second")
        const id = yield* chats.send(where, { from: Captured.grace, text: "unsent soon" })
        yield* chats.remove(where, [id])
        yield* Captured.passes("2 seconds")
        const found = yield* Captured.archived(staged, where.chatId)
        expect(found.at(-1)).toMatchObject({ id: String(id), text: "unsent soon", deleted_reason: "deleted" })
        expect(found.at(-1)?.deleted_at).not.toBeNull()
        yield* Deletions.recount(staged.id)
      }))
  })
})
