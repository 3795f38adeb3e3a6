import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { withoutCleaned } from "../../../src/capture/StoredPages.ts"
import { OrganizationId } from "../../../src/domain/people/Access.ts"
import { runArchiveCleanups } from "../../../src/jobs/archive/run_archive_cleanups.ts"
import { ArchiveCleanups } from "../../../src/ports/archive/ArchiveCleanups.ts"
import { ArchiveRecords } from "../../../src/ports/archive/ArchiveRecords.ts"
import { CaptureStore } from "../../../src/ports/archive/CaptureStore.ts"
import { Db } from "../../../src/ports/Db.ts"
import * as Archives from "../../support/archive/archives.ts"
import { makeHold } from "../../support/archive/cleanups.ts"
import * as Deletions from "../../support/archive/deletions.ts"
import { placesOf } from "../../support/archive/loosePages.ts"
import { forEachDatabase } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const { chatId, seen } = Archives

/** The day after the staged messages, on which tests begin. */
const today = "2026-03-02T00:00:00Z"

type Staged = Effect.Success<ReturnType<typeof Deletions.stage>>

const send = (path: string, key: NonNullable<World.Asking["key"]>, body: object) =>
  World.send("POST", path, { key, body })

const preview = ({ admins }: Staged, criteria: object, stop_saving = false) =>
  send("/v1/archive/cleanups", admins.owner.key, { criteria, stop_saving })

const confirm = (
  { admins }: Staged,
  { confirm_phrase, id }: { readonly confirm_phrase: string; readonly id: string }
) => send(`/v1/archive/cleanups/${id}/confirm`, admins.owner.key, { confirm_phrase })

const get = ({ admins }: Staged, id: string) =>
  Effect.map(World.get(`/v1/archive/cleanups/${id}`, admins.owner.key), ({ body }) => body)

/** Previews and confirms. */
const cleanUp = Effect.fnUntraced(function*(staged: Staged, criteria: object, stop = false) {
  const { body } = yield* preview(staged, criteria, stop)
  const confirmed = yield* confirm(staged, body)
  expect([confirmed.status, confirmed.body.state]).toEqual([200, "queued"])
  return body
})

const idsIn = (organizationId: string, table: "archive_page" | "archive_tail", accountId: string) =>
  Effect.map(
    World.query<{ id: string }>(
      organizationId,
      (sql) =>
        sql`select ${sql.literal(table === "archive_page" ? "page_id" : "tail_id")}::text as id from ${sql(table)}
          where organization_id = ${organizationId} and account_id = ${accountId} and kind <> 'chat' order by 1`
    ),
    (rows) => rows.map(({ id }) => id)
  )

/** Deletes at most so many rows, as the job does, and commits. */
const batch = (organizationId: string, id: string, limit: number) =>
  Effect.gen(function*() {
    const db = yield* Db
    const cleanups = yield* ArchiveCleanups
    const now = new Date(Archives.beginning)
    const within = OrganizationId.make(organizationId)
    return yield* db.transaction(
      within,
      Effect.gen(function*() {
        const cleanup = yield* cleanups.take(within, id, now)
        if (cleanup === null) return false
        if (cleanup.state === "queued") yield* cleanups.begin(cleanup, now)
        return yield* cleanups.deleteSome(cleanup, limit, now)
      })
    )
  })

describe("a cleanup of the archive", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S4.16-06: deletes what its preview counted, and neither what came later nor anybody else's", () =>
        Effect.gen(function*() {
          const staged = yield* Deletions.stage()
          const { archives: [one, other], id } = staged
          const { accountId } = one!.account
          const before = yield* Deletions.snapshot(id, other!.account.accountId)
          const { body } = yield* preview(staged, { account_ids: [accountId] })
          expect(body).toMatchObject({
            state: "previewed",
            messages: one!.messages,
            chats: 1,
            confirm_phrase: `delete ${one!.messages} messages from 1 account`
          })
          yield* Archives.commit(one!, one!.writer.append(chatId, [seen(5000, 1, "late")], "live"))
          yield* Archives.commit(one!, one!.writer.append(chatId, [seen(5001, 1, "late")], "sweep"))
          expect((yield* confirm(staged, { ...body, confirm_phrase: "delete all" })).body.error.code)
            .toBe("confirm_phrase_invalid")
          expect((yield* confirm(staged, body)).body.state).toBe("queued")
          expect((yield* confirm(staged, body)).status).toBe(200)
          yield* runArchiveCleanups.run
          const done = yield* get(staged, body.id)
          expect(done).toMatchObject({ state: "done", deleted_messages: one!.messages, error: null })
          expect(done.deleted_bytes).toBe(body.bytes)
          const left = yield* Effect.scoped(
            World.query<{ message: string }>(
              id,
              (sql) => sql`select message_id::text as message from archive_tail where account_id = ${accountId}`
            )
          )
          expect([left, (yield* idsIn(id, "archive_page", accountId)).length]).toEqual([[{ message: "5000" }], 1])
          expect(yield* Deletions.countIn(id, "archive_change", accountId)).toBe(0)
          expect(yield* Deletions.countIn(id, "archive_file", accountId)).toBe(0)
          yield* Deletions.recount(id)
          expect(yield* Deletions.snapshot(id, other!.account.accountId)).toEqual(before)
          const events = (yield* World.journal(id)).filter(({ action, outcome }) =>
            action.startsWith("cleanup.") && outcome === "done"
          )
          expect(events.map(({ account_id, action, actor_type }) => [action, actor_type, account_id])).toEqual([
            ["cleanup.previewed", "admin", accountId],
            ["cleanup.confirmed", "admin", accountId],
            ["cleanup.finished", "service", accountId]
          ])
          const gone = yield* Deletions.countIn(id, "archive_gone", accountId)
          expect(events.at(-1)?.details).toMatchObject({ pages: gone, messages: one!.messages })
        }))

      it.effect("names accounts of the organization alone, and chats of one account", () =>
        Effect.gen(function*() {
          const [own, other] = [yield* Deletions.stage(2), yield* Deletions.stage(1)]
          const accounts = own.archives.map(({ account }) => account.accountId)
          const foreign = yield* preview(own, { account_ids: [accounts[0], other.archives[0]!.account.accountId] })
          expect([foreign.status, foreign.body.error.param]).toEqual([404, "criteria"])
          const chats = yield* preview(own, { account_ids: accounts, chat_ids: [String(chatId)] })
          expect([chats.status, chats.body.error.param]).toEqual([400, "criteria"])
          const one = yield* preview(own, { account_ids: accounts.slice(0, 1), chat_ids: [String(chatId)] })
          expect([one.status, one.body.messages]).toEqual([200, own.archives[0]!.messages])
          const none = yield* preview(own, { account_ids: accounts.slice(0, 1), chat_ids: ["404"] })
          expect(none.body.error.code).toBe("archive_empty")
        }))

      it.effect("keeps what it deleted from being archived again, and not what a run has yet to reach between it", () =>
        Effect.gen(function*() {
          const staged = yield* Deletions.stage(1)
          const { archives: [one], id } = staged
          const { account, writer } = one!
          for (const ids of [[2001, 2003], [2700, 2703]]) {
            yield* Archives.commit(one!, writer.append(chatId, ids.map((id) => seen(id, 1, "seen")), "sweep"))
          }
          // Message 2002 was gone when it was read; the run that goes back is at 2700, and of 1 to 120 nothing is promised.
          yield* World.query<object>(
            id,
            (sql) =>
              sql`update archive_chat set ref = 'chat', covered = '{[2001,2004),[2700,3000)}' where chat_id = ${chatId}`
          )
          yield* cleanUp(staged, { account_ids: [account.accountId] })
          yield* runArchiveCleanups.run
          const fetched = [5, 120, 500, 2001, 2002, 2003, 2004, 2699, 2700, 2701, 2703, 2704].map((id) => ({
            chatId,
            record: seen(id, 1, "seen"),
            editHidden: false,
            expiresAt: null,
            files: []
          }))
          const kept = yield* Archives.commit(
            one!,
            Effect.gen(function*() {
              const [chat] = yield* (yield* CaptureStore).chats(account, [chatId])
              return yield* withoutCleaned(account, chat!, fetched)
            })
          )
          expect(kept.map(({ record }) => Number(record.id))).toEqual([500, 2004, 2699, 2704])
        }))

      it.effect("with a day deletes the days before it, and the chat begins with what is left", () =>
        Effect.gen(function*() {
          const staged = yield* Deletions.stage(1)
          const { archives: [one], id } = staged
          const { accountId } = one!.account
          yield* Archives.commit(one!, one!.writer.append(chatId, [seen(6000, 5, "today")], "sweep"))
          const body = yield* cleanUp(staged, { account_ids: [accountId], before: "2026-03-02T09:30:00Z" })
          expect([body.criteria.before, body.messages]).toEqual([new Date(today).toISOString(), one!.messages])
          yield* runArchiveCleanups.run
          const chats = yield* World.query<{ first_id: string; messages: string }>(
            id,
            (sql) =>
              sql`select first_id::text, messages::text from archive_chat where account_id = ${accountId} and messages > 0`
          )
          expect(chats).toEqual([{ first_id: "6000", messages: "1" }])
          yield* Deletions.recount(id)
        }))

      it.effect("is refused and stopped by a hold on its days, and by no other", () =>
        Effect.gen(function*() {
          const staged = yield* Deletions.stage(1)
          const { admins, archives: [one], id } = staged
          const criteria = { account_ids: [one!.account.accountId], before: today }
          yield* makeHold(id, { released: null, since: "2026-03-02" })
          yield* makeHold(id, { released: null, accounts: [crypto.randomUUID()] })
          const { body } = yield* preview(staged, criteria, true)
          const stopped = World.query<object>(id, (sql) => sql`select 1 from archive_chat where stopped_by is not null`)
          const placed = yield* send("/v1/archive/holds", admins.owner.key, { name: "Case", until: "2026-02-01" })
          expect([placed.status, placed.body.account_ids]).toEqual([200, null])
          expect((yield* confirm(staged, body)).body.error.code).toBe("archive_held")
          expect((yield* preview(staged, criteria)).body.error.code).toBe("archive_held")
          const release = World.post(`/v1/archive/holds/${placed.body.id}/release`, admins.owner.key)
          expect((yield* release).body.released_at).not.toBe(null)
          expect((yield* release).body.error.code).toBe("not_held")
          const released = (yield* World.journal(id)).filter(({ action }) => action === "archive_hold.released")
          expect(released.map(({ details, outcome, target_id }) => [outcome, target_id, details])).toEqual([
            ["done", placed.body.id, { name: "Case" }]
          ])
          expect((yield* confirm(staged, body)).status).toBe(200)
          expect(yield* batch(id, body.id, 50)).toBe(true)
          const rows = yield* Deletions.rowsOf(id)
          expect((yield* stopped).length).toBe(1)
          yield* send("/v1/archive/holds", admins.owner.key, { name: "Case", account_ids: criteria.account_ids })
          yield* runArchiveCleanups.run
          expect(yield* get(staged, body.id)).toMatchObject({ state: "failed", error: "archive_held" })
          expect(yield* Deletions.rowsOf(id)).toBe(rows)
          expect((yield* stopped).length).toBe(0)
          yield* Deletions.recount(id)
        }))

      it.effect("goes on where it was, and is cancelled between batches", () =>
        Effect.gen(function*() {
          const staged = yield* Deletions.stage(1)
          const { admins, archives: [one], id } = staged
          const { accountId } = one!.account
          const body = yield* cleanUp(staged, { account_ids: [accountId] }, true)
          const stopped = () =>
            World.query<object>(id, (sql) => sql`select 1 from archive_chat where stopped_by is not null`)
          expect((yield* stopped()).length).toBe(1)
          expect(yield* batch(id, body.id, 50)).toBe(true)
          yield* Deletions.recount(id)
          const running = World.query<object>(
            id,
            (sql) =>
              sql`select archive_cleanup_running, archive_chats_stopped from archive_state where account_id = ${accountId}`
          )
          expect(yield* running).toEqual([{ archive_cleanup_running: true, archive_chats_stopped: 1 }])
          const cancel = World.post(`/v1/archive/cleanups/${body.id}/cancel`, admins.owner.key)
          expect((yield* cancel).body).toMatchObject({ state: "cancelled", deleted_messages: 50 })
          expect((yield* cancel).status).toBe(200)
          expect((yield* stopped()).length).toBe(0)
          expect(yield* running).toEqual([{ archive_cleanup_running: false, archive_chats_stopped: 0 }])
          const rows = yield* Deletions.rowsOf(id)
          yield* runArchiveCleanups.run
          expect(yield* Deletions.rowsOf(id)).toBe(rows)
          expect((yield* confirm(staged, body)).body.error.code).toBe("not_previewed")

          const again = yield* cleanUp(staged, { account_ids: [accountId] })
          expect(yield* batch(id, again.id, 30)).toBe(true)
          yield* runArchiveCleanups.run
          expect(yield* get(staged, again.id)).toMatchObject({ state: "done", deleted_messages: one!.messages - 50 })
          expect((yield* preview(staged, { account_ids: [accountId] })).body.error.code).toBe("archive_empty")
          yield* Deletions.recount(id)
        }))

      it.effect("keeps no word of a deleted page in a vocabulary, and lets its other pages be indexed anew", () =>
        Effect.gen(function*() {
          const staged = yield* Deletions.stage(1)
          const { archives: [one], id } = staged
          const { accountId } = one!.account
          yield* Archives.commit(one!, one!.writer.append(chatId, [seen(6000, 5, "today")], "sweep"))
          const pages = yield* idsIn(id, "archive_page", accountId)
          yield* Deletions.addRow("archive_block", id, {
            account_id: accountId,
            block_id: 77n,
            first_at: new Date(0),
            last_at: new Date(Archives.beginning),
            pages: pages.map(BigInt),
            epoch_id: 1n,
            fold: 1,
            sealed: Uint8Array.of(1)
          })
          yield* World.query<object>(id, (sql) => sql`delete from archive_loose where account_id = ${accountId}`)
          yield* cleanUp(staged, { account_ids: [accountId], before: today })
          yield* runArchiveCleanups.run
          expect(yield* Deletions.countIn(id, "archive_block", accountId)).toBe(0)
          expect(yield* placesOf(id)).toEqual({ blocks: [], loose: 1, misplaced: 0, disordered: 0 })
        }))

      it.effect("of media deletes contents alone, and their keys with them", () =>
        Effect.gen(function*() {
          const staged = yield* Deletions.stage(1)
          const { archives: [one], id } = staged
          const { accountId } = one!.account
          const messages = yield* Deletions.countIn(id, "archive_tail", accountId)
          yield* World.query<object>(
            id,
            (sql) =>
              sql`update archive_file set state = 'saved', at = ${new Date(0)}, blob_id = (
                select blob_id from archive_blob where archive_blob.account_id = ${accountId} limit 1)
                where account_id = ${accountId}`
          )
          const body = yield* cleanUp(staged, { account_ids: [accountId], what: "media" })
          expect([body.messages, body.confirm_phrase]).toEqual([0, `delete ${body.files} files from 1 account`])
          yield* runArchiveCleanups.run
          expect(yield* get(staged, body.id)).toMatchObject({ state: "done", deleted_messages: 0, deleted_bytes: 17 })
          const blobs = yield* World.query<{ key: unknown; state: string }>(
            id,
            (sql) => sql`select key, state from archive_blob where account_id = ${accountId}`
          )
          expect(blobs).toEqual([{ key: null, state: "deleting" }])
          const files = yield* World.query<{ state: string }>(
            id,
            (sql) => sql`select distinct state from archive_file where account_id = ${accountId}`
          )
          expect(files).toEqual([{ state: "deleted" }])
          expect(yield* Deletions.countIn(id, "archive_tail", accountId)).toBe(messages)
        }))

      it.effect("is confirmed for 15 minutes, and a preview that has ended keeps no tail open", () =>
        Effect.gen(function*() {
          const staged = yield* Deletions.stage(1)
          const { admins, archives: [one], id } = staged
          const { body } = yield* preview(staged, { account_ids: [one!.account.accountId] })
          yield* TestClock.adjust("16 minutes")
          expect((yield* confirm(staged, body)).body.error.code).toBe("cleanup_expired")
          const list = yield* World.get("/v1/archive/cleanups?state=expired", admins.owner.key)
          expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([body.id])
          yield* runArchiveCleanups.run
          const rows = yield* World.query<{ state: string }>(id, (sql) => sql`select state from archive_cleanup`)
          expect(rows).toEqual([{ state: "expired" }])
        }))

      it.effect("deletes tail rows that were to be closed into a page when it was previewed", () =>
        Effect.gen(function*() {
          const staged = yield* Deletions.stage(1)
          const { archives: [one], id } = staged
          const { account } = one!
          yield* Archives.commit(one!, one!.writer.append(chatId, [seen(6000, 5, "today")], "live"))
          const [epoch] = yield* World.query<{ id: string }>(
            id,
            (sql) =>
              sql`select epoch_id::text as id from archive_epoch where closed_at is null and organization_id = ${id}`
          )
          const group = { chatId, day: "2026-03-02", kind: "messages" as const, sentDay: null }
          const taken = Archives.commit(
            one!,
            Effect.flatMap(ArchiveRecords, (records) => records.takeTail(account, group, BigInt(epoch!.id), 100))
          )
          expect((yield* taken).map(({ messageId }) => messageId)).toContain(6000n)
          yield* preview(staged, { account_ids: [account.accountId] })
          expect(yield* taken).toEqual([])
        }))

      it.effect("by two processes at once, beside a writer, deletes each record once and none of the new ones", () =>
        Effect.gen(function*() {
          const staged = yield* Deletions.stage(1)
          const { archives: [one], id } = staged
          const body = yield* cleanUp(staged, { account_ids: [one!.account.accountId] })
          const writing = Effect.forEach(
            Array.from({ length: 20 }, (_, n) => 7000 + n),
            (n) => Archives.commit(one!, one!.writer.append(chatId, [seen(n, 1, "late")], "live"))
          )
          yield* Effect.all([runArchiveCleanups.run, runArchiveCleanups.run, writing], { concurrency: "unbounded" })
          yield* runArchiveCleanups.run
          expect(yield* get(staged, body.id)).toMatchObject({ state: "done", deleted_messages: one!.messages })
          expect(yield* Deletions.countIn(id, "archive_tail", one!.account.accountId)).toBe(20)
          yield* Deletions.recount(id)
        }))
    })
  })
})
