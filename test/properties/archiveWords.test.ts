import { describe, expect, layer } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs"
import * as path from "node:path"
import * as zlib from "node:zlib"
import { afterAll } from "vitest"
import { applyArchiveRetention } from "../../src/jobs/archive/apply_archive_retention.ts"
import { journalArchiveReads } from "../../src/jobs/archive/journal_archive_reads.ts"
import { makeArchiveManifests } from "../../src/jobs/archive/make_archive_manifests.ts"
import { runArchiveCleanups } from "../../src/jobs/archive/run_archive_cleanups.ts"
import * as FileBlobs from "../../src/layers/blobs/FileBlobs.ts"
import * as Mcp from "../mcp/support.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import { archivePassword, passwordHeader } from "../support/archive/archivePassword.ts"
import * as Archives from "../support/archive/archives.ts"
import { inParts } from "../support/archive/blobLaws.ts"
import { download } from "../support/archive/exportedArchive.ts"
import * as Searched from "../support/archive/searched.ts"
import * as Leaks from "../support/leaks.ts"
import * as Mails from "../support/mail/outbox.ts"
import { postgres } from "../support/postgres/database.ts"
import { scratch } from "../support/run/scratch.ts"
import { wordsIn } from "../support/wordLeaks.ts"
import * as World from "../support/world.ts"

const { chat, chatId, commit, seen } = Archives

const word = (what: string) => `Zyx${what}qwv`
const secrets = Object.fromEntries(
  ["text", "edit", "caption", "title", "name", "username", "member", "file", "forwarded", "content", "sought"]
    .map((what) => [what, word(what)])
)
const info = { title: word("title"), username: word("username"), members_count: 1 }
const from = { id: "1", name: word("name"), username: word("username") }

const directory = fs.mkdtempSync(path.join(scratch, "archive-words-"))
afterAll(() => fs.rmSync(directory, { recursive: true }))

const member = {
  id: "1",
  name: word("member"),
  username: null,
  phone: null,
  role: "member" as const,
  joined_at: null,
  last_seen_in_chat_at: null
}

/** Fails where a word stands in a row or in a file of the blob folder. */
const expectNone = Effect.fnUntraced(function*(organizationId: string, sought: Readonly<Record<string, string>>) {
  const files = fs.readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) =>
    path.join(directory, name)
  )
    .filter((file) => fs.statSync(file).isFile())
  const places = [
    ...yield* Leaks.dump(organizationId),
    ...files.flatMap((file) => [["name of a blob", file] as const, ["blob", fs.readFileSync(file)] as const])
  ]
  expect(places.flatMap(([place, said]) => wordsIn(said, sought).map((name) => [place, name]))).toEqual([])
  return files.length
})

describe("the words of an archive", () => {
  layer(World.world(postgres, undefined, undefined, undefined, FileBlobs.layer(directory)))((it) => {
    it.effect("stand in no column of any table, in the tail and in pages", () =>
      Effect.gen(function*() {
        const archive = yield* Archives.makeArchive()
        const { organizationId } = archive.account
        const scope = yield* Scope.make()
        const writer = yield* Effect.provideService(Archives.write(archive), Scope.Scope, scope)
        const details = {
          caption: word("caption"),
          forwarded_from: word("forwarded"),
          files: [Archives.file(word("file"))]
        }
        yield* commit(archive, writer.see({ ...chat, info }))
        yield* commit(archive, writer.setMembers(chatId, [member]))
        for (const path of ["live", "sweep"] as const) {
          const id = path === "live" ? 1 : 2
          yield* commit(archive, writer.append(chatId, [{ ...seen(id, 60, word("text"), details), from }], path))
          const edited = seen(id, 60, word("edit"), { edited_at: 1_800_000_000 })
          yield* commit(archive, writer.append(chatId, [edited], path))
          yield* commit(archive, writer.mark(chatId, [BigInt(id)], "deleted", path))
        }
        yield* expectNone(organizationId, secrets)
        yield* TestClock.adjust("2 days")
        yield* writer.close("due")
        yield* Scope.close(scope, Exit.void)
        yield* expectNone(organizationId, secrets)
        // The search would find one.
        const name = zlib.deflateRawSync(word("text").toLowerCase()).toString("hex")
        yield* World.set(organizationId, "organization", organizationId, { name })
        expect(wordsIn((yield* Leaks.dump(organizationId)).get("organization") ?? "", secrets)).toEqual(["text"])
      }))

    it.effect(
      "and its passwords are in no row, file, mail, log line or span, while it is written, read, searched, exported, redacted and deleted",
      () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(Archives.beginning)
          const wrong = "Zyxwrong lantern archive"
          const sought = { ...secrets, password: archivePassword, wrong }
          const sinks = Leaks.makeSinks()
          const id = yield* Effect.provide(
            Effect.gen(function*() {
              const { admins, id } = yield* World.makeOrganization({ archive_key_set: false })
              const { key } = admins.owner
              yield* setArchiveKey(id)
              const accountId = yield* World.makeAccount(id)
              const archive = { account: { organizationId: id, accountId } }
              const content = Buffer.from(`${word("content")} `.repeat(9000))
              const files = [1, 2].map((place) => ({
                ...Archives.file(`${word("file")} ${place}.png`),
                bytes: content.length
              }))
              const messages = [1, 2, 3].map((place) => ({
                ...seen(place, 90 - place, word("text"), {
                  caption: word("caption"),
                  forwarded_from: word("forwarded"),
                  files: files.slice(place - 1, place)
                }),
                from
              }))
              yield* Effect.scoped(Effect.gen(function*() {
                const writer = yield* Searched.own(id, accountId)
                yield* commit(archive, writer.see({ ...chat, info }))
                yield* commit(archive, writer.setMembers(chatId, [member]))
                yield* commit(archive, writer.append(chatId, messages, "sweep"))
                const edited = seen(3, 87, word("edit"), { edited_at: 1_800_000_000 })
                yield* commit(archive, writer.append(chatId, [edited], "live"))
                for (const file of files) {
                  const stored = { messengerFile: file.id, bytes: content.length, content: inParts(content) }
                  yield* writer.storeFile(file.id, stored)
                }
              }))
              const chats = `/v1/archive/accounts/${accountId}/chats`
              const found = yield* World.send("POST", "/v1/archive/search", { key, body: { query: word("text") } })
              expect(found.body.data).toHaveLength(3)
              yield* World.send("POST", "/v1/archive/search", { key, body: { query: word("sought") } })
              yield* Mcp.call("search_messages", { query: word("edit") }, { key, headers: passwordHeader() })
              const listed = yield* World.get(`${chats}/${chatId}/messages`, key)
              expect(JSON.stringify(listed.body)).toContain(word("edit"))
              for (const rest of ["", `/${chatId}`, `/${chatId}/members`, `/${chatId}/messages/3/edits`]) {
                expect((yield* World.get(`${chats}${rest}`, key)).status).toBe(200)
              }
              const refused = yield* World.send("GET", chats, { key, headers: passwordHeader(wrong) })
              expect(refused.body.error.code).toBe("archive_password_invalid")
              const exported = yield* World.send("POST", "/v1/archive/exports", {
                key,
                body: { criteria: { account_ids: [accountId] }, format: "json" }
              })
              expect((yield* download(key, exported.body.id)).status).toBe(200)
              const redacted = yield* World.send("POST", `${chats}/${chatId}/redactions`, {
                key,
                body: { message_ids: ["1"], reason: "A card number" }
              })
              expect(redacted.status).toBe(200)
              yield* makeArchiveManifests.run
              expect((yield* World.send("POST", "/v1/archive/verify", { key, body: {} })).status).toBe(200)
              expect(yield* expectNone(id, sought)).toBe(2)
              yield* World.send("PUT", "/v1/archive/retention", { key, body: { days: 36 } })
              const cleanup = yield* World.send("POST", "/v1/archive/cleanups", {
                key,
                body: { criteria: { account_ids: [accountId] } }
              })
              const { confirm_phrase } = cleanup.body
              yield* World.send("POST", `/v1/archive/cleanups/${cleanup.body.id}/confirm`, {
                key,
                body: { confirm_phrase }
              })
              yield* runArchiveCleanups.run
              expect((yield* World.get(`/v1/archive/cleanups/${cleanup.body.id}`, key)).body.deleted_messages).toBe(3)
              yield* TestClock.adjust("8 days")
              yield* applyArchiveRetention.run
              yield* journalArchiveReads.run
              return id
            }),
            sinks.layer
          )
          yield* expectNone(id, sought)
          const mails = JSON.stringify(yield* Mails.waiting(id))
          expect(mails).toContain("retention")
          for (const said of [mails, sinks.log(), sinks.trace()]) expect(wordsIn(said, sought)).toEqual([])
          // The run has been through what it says.
          expect(sinks.log()).toContain("/redactions")
          expect(sinks.trace()).toContain("search_messages")
        })
    )
  })
})
