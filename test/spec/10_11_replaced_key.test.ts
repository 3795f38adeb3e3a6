import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { indexForReaders } from "../../src/archive/PageIndexing.ts"
import { ArchiveKeys } from "../../src/ports/archive/ArchiveKeys.ts"
import { ArchiveWriter } from "../../src/ports/archive/ArchiveWriter.ts"
import { Db } from "../../src/ports/Db.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import { passwordHeader } from "../support/archive/archivePassword.ts"
import * as Archives from "../support/archive/archives.ts"
import { inParts } from "../support/archive/blobLaws.ts"
import * as Deletions from "../support/archive/deletions.ts"
import { download } from "../support/archive/exportedArchive.ts"
import { archivedIds, fileContent, sealChats } from "../support/archive/sealedChats.ts"
import { entriesOfZip } from "../support/archive/zips.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const later = "meadow copper violin"

const [chat] = archivedIds.chat

/** The status of a download, and its text. */
const content = Effect.fnUntraced(function*(file: string, key: Redacted.Redacted, password?: string) {
  const handler = yield* World.handlerHere
  const { host } = new URL(World.baseUrl)
  return yield* Effect.promise(async () => {
    const response = await handler(
      new Request(`http://${host}/v1/archive/files/${file}/content`, {
        headers: { host, authorization: `Bearer ${Redacted.value(key)}`, ...passwordHeader(password) }
      })
    )
    return [response.status, await response.text()]
  })
})

/** An account with chats under a key that was replaced, and one with chats under the key after it. */
const stage = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization({
    archive_key_set: false,
    archive_first_record_at: new Date(0)
  })
  const [before, after] = [yield* World.makeAccount(id), yield* World.makeAccount(id)]
  const [file = ""] = yield* sealChats(id, before, "Harbour")
  yield* setArchiveKey(id, { password: later, replace: true })
  yield* sealChats(id, after, "Meadow")
  const { key } = admins.owner
  const list = (account: string, password?: string) =>
    Effect.map(
      World.send("GET", `/v1/archive/accounts/${account}/chats/${chat}/messages`, {
        key,
        headers: passwordHeader(password)
      }),
      ({ body, status }) => [status, body.data?.length, body.unreadable]
    )
  const found = (password?: string) =>
    Effect.map(
      World.send("POST", "/v1/archive/search", {
        key,
        headers: passwordHeader(password),
        body: { query: "edited" }
      }),
      ({ body }) => [...new Set(body.data.map((hit: { account_id: string }) => hit.account_id))]
    )
  const events = (action: string) =>
    Effect.map(World.journal(id), (all) => all.filter((event) => event.action === action))
  return { after, before, events, file, found, id, key, list }
})

describe("10.11 an archive key that was replaced", () => {
  layer(World.world(postgres))((it) => {
    it.effect("opens by its own password what is sealed to it, and that alone", () =>
      Effect.gen(function*() {
        const { after, before, file, found, key, list } = yield* stage
        expect([yield* list(before), yield* list(after)]).toEqual([[200, 2, 0], [200, 0, 2]])
        expect([yield* list(before, later), yield* list(after, later)]).toEqual([[200, 0, 2], [200, 2, 0]])
        expect([yield* found(), yield* found(later)]).toEqual([[before], [after]])
        expect(yield* content(file, key)).toEqual([200, fileContent])
        expect(yield* content(file, key, later)).toEqual([409, expect.stringContaining("content_unreadable")])
        expect(yield* content(file, key, "a third password")).toEqual([
          403,
          expect.stringContaining("archive_password_invalid")
        ])
      }))

    it.effect("exports what it opens; the manifest says which contents are sealed to the key after it, and none is noted", () =>
      Effect.gen(function*() {
        const { events, id, key } = yield* stage
        const accountId = yield* World.makeAccount(id)
        const account = { organizationId: id, accountId }
        const writers = yield* ArchiveWriter
        const files = ["before", "after"].map((name) => ({ ...Archives.file(`${name}.txt`), bytes: 6 }))
        const messages = files.map((file, place) => Archives.seen(place + 1, 100, "text", { files: [file] }))
        const [before, current] = (yield* Effect.flatMap(Db, (db) =>
          Effect.flatMap(ArchiveKeys, (keys) => db.read(id, keys.wrapped(id))))).map(({ key }) =>
            key
          ).toReversed()
        const own = (of = current) =>
          of === undefined ? Effect.die("no key") : writers.own(account, of, crypto.randomUUID())
        const store = (writer: Effect.Success<ReturnType<typeof own>>, { id = "" }: { readonly id?: string } = {}) =>
          writer.storeFile(id, { messengerFile: id, bytes: 6, content: inParts(Buffer.from("meadow")) })
        const first = yield* own(before)
        yield* Archives.commit({ account }, first.see(Archives.chat))
        yield* Archives.commit({ account }, first.append(Archives.chatId, messages, "sweep"))
        yield* store(first, files[0])
        yield* store(yield* own(), files[1])
        const { body } = yield* World.send("POST", "/v1/archive/exports", {
          key,
          body: { criteria: { account_ids: [accountId] }, format: "json", media: true }
        })
        const { bytes } = yield* download(key, body.id)
        const entries = entriesOfZip(bytes)
        const manifest = JSON.parse(entries.at(-1)?.content.toString() ?? "")
        expect([manifest.found.messages, manifest.found.files, manifest.unreadable.files]).toEqual([2, 2, 1])
        expect(manifest.unreadable_files).toMatchObject([{ size: 6, bytes: 0, reason: "sealed" }])
        expect(entries.filter(({ path }) => path.includes("/files/")).map(({ content }) => content.toString()))
          .toEqual(["meadow", ""])
        expect((yield* World.get(`/v1/archive/exports/${body.id}`, key)).body.parts[0]).toMatchObject({
          bytes: bytes.length,
          sha256: crypto.hash("sha256", bytes, "hex"),
          unreadable: 1
        })
        expect(yield* events("archive.unreadable")).toEqual([])
      }))

    it.effect("counts nothing as unreadable for good that the key after it opens", () =>
      Effect.gen(function*() {
        const { after, before, events, found, key, list } = yield* stage
        yield* list(after)
        yield* found()
        expect(yield* events("archive.unreadable")).toEqual([])
        yield* list(before, later)
        expect((yield* events("archive.unreadable")).map(({ account_id }) => account_id)).toEqual([before])
        expect((yield* World.get("/v1/status", key)).body.saving.unreadable_messages).toBe(2)
      }))

    it.effect("costs a wrong password one attempt", () =>
      Effect.gen(function*() {
        const { before, events, list } = yield* stage
        for (let attempt = 0; attempt < 10; attempt++) {
          expect((yield* list(before, `a wrong password ${attempt}`))[0]).toBe(403)
        }
        expect((yield* list(before, "one more password"))[0]).toBe(429)
        expect((yield* events("archive_password.failed")).length).toBe(10)
      }))

    it.effect("lifts no limit of guessing the current password by its own, which costs no attempt", () =>
      Effect.gen(function*() {
        const { before, id, list } = yield* stage
        const attempts = World.query<{ opened: boolean; times: number }>(
          id,
          (sql) =>
            sql`
            select bool_or(opened_at is not null) as opened, sum(cardinality(times))::integer as times
            from archive_attempt where organization_id = ${id}`
        )
        yield* list(before)
        expect(yield* attempts).toEqual([{ opened: false, times: 0 }])
        yield* list(before, later)
        expect(yield* attempts).toEqual([{ opened: true, times: 0 }])
      }))

    it.effect("leaves no words of what it opens to the key after it", () =>
      Effect.gen(function*() {
        const { archives: [one], id } = yield* Deletions.stage(1)
        const { account, writer } = one!
        const days = Array.from({ length: 20 }, (_, day) => Archives.seen(5000 + day, 86_400 * (day + 3), `word${day}`))
        yield* Archives.commit(one!, writer.append(Archives.chatId, days, "sweep"))
        const opened = yield* Deletions.openEpochs(account)
        const key = yield* Deletions.keyOf(account.organizationId)
        const archive = (isReplaced: boolean) => ({
          key,
          isReplaced,
          epochKey: () => Effect.die("asked again"),
          keptEpoch: (_: object, epoch: bigint) => opened.get(epoch)
        })
        const vocabularies = Deletions.countIn(id, "archive_block", account.accountId)
        yield* indexForReaders([account.accountId], archive(true))
        expect(yield* vocabularies).toBe(0)
        yield* indexForReaders([account.accountId], archive(false))
        expect(yield* vocabularies).toBe(1)
      }))

    it.effect("opens nothing any more once the whole archive was deleted", () =>
      Effect.gen(function*() {
        const { before, id, key, list } = yield* stage
        yield* World.send("POST", "/v1/archive/delete", { key, body: { confirm_phrase: `delete archive ${id}` } })
        yield* TestClock.adjust("1 minute")
        expect((yield* list(before))[0]).toBe(409)
      }))
  })
})
