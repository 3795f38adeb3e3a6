import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Writer from "../../src/archive/Writer.ts"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import { collectBlobs } from "../../src/jobs/archive/collect_blobs.ts"
import { runArchiveCleanups } from "../../src/jobs/archive/run_archive_cleanups.ts"
import { ArchiveCleanups } from "../../src/ports/archive/ArchiveCleanups.ts"
import type { AccountArchive } from "../../src/ports/archive/ArchiveWriter.ts"
import { BlobStore } from "../../src/ports/archive/BlobStore.ts"
import { Db } from "../../src/ports/Db.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import { passwordHeader } from "../support/archive/archivePassword.ts"
import * as Archives from "../support/archive/archives.ts"
import { inParts, objectOf } from "../support/archive/blobLaws.ts"
import { miscounts } from "../support/archive/counters.ts"
import { placesOf } from "../support/archive/loosePages.ts"
import * as Searched from "../support/archive/searched.ts"
import { dying } from "../support/crashing.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const { beginning, chat, chatId, commit, seen } = Archives

const day = 86_400

const stage = Effect.gen(function*() {
  yield* TestClock.setTime(beginning)
  const { admins, id } = yield* World.makeOrganization({ archive_key_set: false })
  yield* setArchiveKey(id)
  return { id, key: admins.owner.key }
})

/** An account with a chat, and what its readers get of it. */
const makeAccount = Effect.fnUntraced(function*({ id, key }: Effect.Success<typeof stage>) {
  const accountId = AccountId.make(yield* World.makeAccount(id, { facts: { offboarded_at: new Date(0) } }))
  const account = { organizationId: OrganizationId.make(id), accountId }
  /** Ids that the list and the search of the chat have, each as often as it has them; both have the same. */
  const there = Effect.gen(function*() {
    const listed = yield* World.get(`/v1/archive/accounts/${accountId}/chats/${chatId}/messages?limit=100`, key)
    const ids: ReadonlyArray<number> = listed.body.data.map((message: { id: string }) => Number(message.id))
    const found = yield* World.send("POST", "/v1/archive/search", {
      key,
      body: { query: "harbour", account_ids: [accountId], limit: 100 }
    })
    const { complete, data, unreadable } = found.body
    expect([complete, unreadable, listed.body.unreadable]).toEqual([true, 0, 0])
    expect(data.map((message: { id: string }) => Number(message.id))).toEqual(ids)
    expect(yield* placesOf(id)).toMatchObject({ misplaced: 0, disordered: 0 })
    expect(yield* miscounts(id)).toEqual({ chats: 0, accounts: 0 })
    return ids.toReversed()
  })
  return { account, there }
})

type Account = Pick<Effect.Success<ReturnType<typeof makeAccount>>, "account">

/** Runs with a writer of a process of its own, which owns the account. */
const inProcess = <A, E, R>({ account }: Account, run: (writer: AccountArchive) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(Searched.own(account.organizationId, account.accountId), run)).pipe(
    Effect.provide(Layer.fresh(Writer.layer), { local: true })
  )

/** Messages of so many days, one after the other. */
const messages = (ids: ReadonlyArray<number>, days: number) =>
  ids.map((id, place) =>
    seen(id, (60 - (id - place) - Math.floor(place * days / ids.length)) * day - id, `harbour ${id}`)
  )

const idsFrom = (first: number, length: number) => Array.from({ length }, (_, n) => first + n)

/** Deletes four rows of the cleanup, as its job does; true while there is more. */
const deleteSome = Effect.fnUntraced(function*(organizationId: OrganizationId, id: string) {
  const cleanups = yield* ArchiveCleanups
  const now = new Date(beginning)
  const step = Effect.gen(function*() {
    const cleanup = yield* cleanups.take(organizationId, id, now)
    if (cleanup === null || cleanup.state === "done") return false
    if (cleanup.state === "queued") yield* cleanups.begin(cleanup, now)
    return yield* cleanups.deleteSome(cleanup, 4, now)
  })
  return yield* (yield* Db).transaction(organizationId, step)
})

describe("a process that dies after any of its commits", () => {
  layer(World.world(postgres))((it) => {
    it.effect(
      "while it packs, closes and indexes an archive loses no message and doubles none",
      () =>
        Effect.gen(function*() {
          const staged = yield* stage
          const [left, swept, live] = [idsFrom(1, 3), idsFrom(4, 16), idsFrom(20, 4)]
          let lived = false
          let blocks = 0
          let calls = 0
          for (; !lived; calls++) {
            const one = yield* makeAccount(staged)
            const told: Array<number> = []
            const write =
              (ids: ReadonlyArray<number>, days: number, path: "live" | "sweep") => (writer: AccountArchive) =>
                Effect.andThen(
                  commit(one, writer.append(chatId, messages(ids, days), path)),
                  Effect.sync(() => void told.push(...ids))
                )
            // A process before it left a tail, whose epoch key went with it.
            yield* inProcess(one, (writer) => commit(one, writer.see(chat)))
            expect(yield* dying(3, inProcess(one, write(left, 2, "live")))).toBe(false)
            expect([told, yield* one.there]).toEqual([[], left])
            const process = inProcess(one, (writer) =>
              Effect.gen(function*() {
                yield* write(swept, 16, "sweep")(writer)
                yield* write(live, 2, "live")(writer)
                yield* writer.close("all")
              }))
            lived = yield* dying(calls, process)
            const there = yield* one.there
            expect([calls, there]).toEqual([calls, [...new Set(there)].toSorted((a, b) => a - b)])
            expect([...left, ...told].filter((id) => !there.includes(id))).toEqual([])
            // What was not told to be stored is stored again, and is not there twice.
            yield* process
            expect(yield* one.there).toEqual([...left, ...swept, ...live])
            blocks = (yield* placesOf(staged.id)).blocks.length
          }
          expect(calls).toBeGreaterThan(10)
          expect(blocks).toBeGreaterThan(calls / 2)
        }),
      60_000
    )

    it.effect(
      "while it cleans up deletes each message once, leaves none readable in part, and keeps what is above the watermark",
      () =>
        Effect.gen(function*() {
          const staged = yield* stage
          const { id, key } = staged
          const [swept, live, late] = [idsFrom(1, 16), idsFrom(17, 4), idsFrom(21, 2)]
          let lived = false
          let calls = 0
          for (; !lived; calls++) {
            const one = yield* makeAccount(staged)
            const write = (ids: ReadonlyArray<number>, path: "live" | "sweep") => (writer: AccountArchive) =>
              commit(one, writer.append(chatId, messages(ids, ids.length), path))
            yield* inProcess(one, (writer) =>
              Effect.andThen(commit(one, writer.see(chat)), write(swept, "sweep")(writer)))
            expect(yield* dying(3, inProcess(one, write(live, "live")))).toBe(false)
            const { body } = yield* World.send("POST", "/v1/archive/cleanups", {
              key,
              body: { criteria: { account_ids: [one.account.accountId] }, stop_saving: false }
            })
            expect(yield* dying(3, inProcess(one, write(late.slice(0, 1), "live")))).toBe(false)
            expect(yield* dying(3, inProcess(one, write(late.slice(1), "sweep")))).toBe(false)
            yield* World.send("POST", `/v1/archive/cleanups/${body.id}/confirm`, {
              key,
              body: { confirm_phrase: body.confirm_phrase }
            })
            const process = Effect.andThen(
              Effect.repeat(deleteSome(OrganizationId.make(id), body.id), {
                while: (more) =>
                  more
              }),
              runArchiveCleanups.run
            )
            lived = yield* dying(calls, process)
            expect(yield* one.there).toEqual(expect.arrayContaining([...late]))
            yield* process
            expect(yield* one.there).toEqual(late)
            const done = yield* World.get(`/v1/archive/cleanups/${body.id}`, key)
            expect(done.body).toMatchObject({ state: "done", messages: 20, deleted_messages: 20 })
          }
          expect(calls).toBeGreaterThan(5)
        }),
      60_000
    )

    it.effect(
      "while it stores a file leaves it whole or missing, and nothing of it that no file has",
      () =>
        Effect.gen(function*() {
          const staged = yield* stage
          const { id, key } = staged
          const store = yield* BlobStore
          const bytes = objectOf(70_000)
          const handler = yield* World.handlerHere
          const begun = new Set<string>()
          const rows = Effect.tap(
            World.query<{ blob: string; state: string }>(
              id,
              (sql) => sql`select blob_id::text as blob, state from archive_blob where organization_id = ${id}`
            ),
            (all) => Effect.sync(() => all.forEach(({ blob }) => begun.add(blob)))
          )
          let lived = false
          let calls = 0
          for (; !lived; calls++) {
            const one = yield* makeAccount(staged)
            const file = { ...Archives.file("plan.png"), bytes: bytes.length }
            yield* inProcess(one, (writer) =>
              Effect.andThen(
                commit(one, writer.see(chat)),
                commit(one, writer.append(chatId, [seen(1, 60, "harbour", { files: [file] })], "sweep"))
              ))
            const process = inProcess(
              one,
              (writer) =>
                writer.storeFile(file.id, { messengerFile: file.id, bytes: bytes.length, content: inParts(bytes) })
            )
            lived = yield* dying(calls, process)
            yield* rows
            const { body } = yield* World.get(`/v1/archive/files/${file.id}`, key)
            if (body.state !== "saved") expect([body.state, yield* process]).toEqual(["pending", "stored"])
            const answer = yield* Effect.promise(() =>
              handler(
                new Request(`${World.baseUrl}/v1/archive/files/${file.id}/content`, {
                  headers: {
                    host: new URL(World.baseUrl).host,
                    authorization: `Bearer ${Redacted.value(key)}`,
                    ...passwordHeader()
                  }
                })
              )
            )
            const read = Buffer.from(yield* Effect.promise(() => answer.arrayBuffer()))
            expect([answer.status, read.equals(bytes)]).toEqual([200, true])
            yield* rows
          }
          expect(calls).toBeGreaterThan(5)
          expect(begun.size).toBeGreaterThan(calls)
          for (let hours = 0; hours < 3; hours++) {
            yield* TestClock.adjust("61 minutes")
            yield* collectBlobs.run
          }
          const left = yield* rows
          expect(left.map(({ state }) => state)).toEqual(Array.from({ length: calls }, () => "saved"))
          const kept = new Set(left.map(({ blob }) => blob))
          for (const blob of begun) expect([blob, yield* store.exists(blob)]).toEqual([blob, kept.has(blob)])
        }),
      60_000
    )
  })
})
