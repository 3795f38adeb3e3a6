import { describe, expect, layer } from "@effect/vitest"
import { Array as Arr, Effect, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { listFiles } from "../../src/archive/FileReader.ts"
import { openLocally } from "../../src/archive/LocalOpening.ts"
import { findMessage, openAccount } from "../../src/archive/Reader.ts"
import type { MessageDetails } from "../../src/domain/archive/Records.ts"
import { ArchiveKeys } from "../../src/ports/archive/ArchiveKeys.ts"
import { ArchivePages } from "../../src/ports/archive/ArchivePages.ts"
import { ArchiveWriter } from "../../src/ports/archive/ArchiveWriter.ts"
import { Db } from "../../src/ports/Db.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import { archivePassword } from "../support/archive/archivePassword.ts"
import * as Archives from "../support/archive/archives.ts"
import { keyOf } from "../support/archive/deletions.ts"
import { download } from "../support/archive/exportedArchive.ts"
import { remoteArchive } from "../support/archive/remote.ts"
import { entriesOfZip } from "../support/archive/zips.ts"
import { postgres } from "../support/postgres/database.ts"
import * as Statements from "../support/postgres/statements.ts"
import * as World from "../support/world.ts"

const { beginning, chat, chatId, commit, file, seen } = Archives

/** A message that an edit has given other files, and requests for it. */
const stage = Effect.fnUntraced(function*(path: "live" | "sweep", before: MessageDetails, after: MessageDetails) {
  yield* TestClock.setTime(beginning)
  const { admins, id } = yield* World.makeOrganization({ archive_key_set: false })
  yield* setArchiveKey(id)
  const accountId = yield* World.makeAccount(id, { facts: { offboarded_at: new Date(0) } })
  const account = { organizationId: id, accountId }
  const writer = yield* (yield* ArchiveWriter).own(account, yield* keyOf(id), crypto.randomUUID())
  const edited_at = beginning / 1000 - 50
  yield* commit({ account }, writer.see(chat))
  yield* commit({ account }, writer.append(chatId, [seen(1, 90_000, "text", before)], path))
  yield* commit({ account }, writer.append(chatId, [seen(1, 90_000, "text", { ...after, edited_at })], path))
  const { key } = admins.owner
  const get = (path: string) => Effect.map(World.get(`/v1/archive/${path}`, key), ({ body }) => body)
  const statesOf = (files: ReadonlyArray<{ readonly name: string | null; readonly state: string }>) =>
    files.map(({ name, state }) => `${name} ${state}`).toSorted()
  const shown = Effect.map(get(`accounts/${accountId}/chats/${chatId}/messages/1`), ({ files }) => statesOf(files))
  const listed = Effect.map(get(`accounts/${accountId}/files`), ({ data, unreadable }) => [
    ...statesOf(data),
    unreadable
  ])
  const store = (fileId: string) =>
    writer.storeFile(fileId, { messengerFile: fileId, bytes: 7, content: Stream.make(new Uint8Array(7)) })
  return { account, get, key, listed, shown, statesOf, store, writer }
})

describe("files that an edit brings", () => {
  layer(World.world(postgres))((it) => {
    for (const path of ["live", "sweep"] as const) {
      it.effect(`are archived beside those that they replace (${path})`, () =>
        Effect.gen(function*() {
          const [first, second] = [file("first.png"), file("second.png")]
          const { get, listed, shown, store } = yield* stage(path, { files: [first] }, { files: [second] })
          expect(yield* listed).toEqual(["first.png pending", "second.png pending", 0])
          expect(yield* store(second.id)).toBe("stored")
          expect(yield* shown).toEqual(["second.png saved"])
          expect(yield* listed).toEqual(["first.png pending", "second.png saved", 0])
          expect(yield* get(`files/${second.id}`)).toMatchObject({
            name: "second.png",
            mime_type: "image/png",
            message_id: "1",
            state: "saved"
          })
        }))
    }

    it.effect("are archived where the message had none, and exported with it", () =>
      Effect.gen(function*() {
        const added = file("added.png")
        const { account, key, shown, store } = yield* stage("live", {}, { files: [added] })
        expect(yield* store(added.id)).toBe("stored")
        expect(yield* shown).toEqual(["added.png saved"])
        const criteria = { account_ids: [account.accountId] }
        const made = yield* World.send("POST", "/v1/archive/exports", { key, body: { criteria, format: "json" } })
        const { bytes } = yield* download(key, made.body.id)
        expect(entriesOfZip(bytes).map(({ path }) => path)).toContainEqual(expect.stringContaining("added.png"))
      }))

    it.effect("of many messages have their names by one statement, which reads each page of edits once", () =>
      Effect.gen(function*() {
        const { account, key, writer } = yield* stage("sweep", {}, {})
        const added = [2, 3, 4].map((id) => ({ id, files: [file(`${id}.png`), file(`${id} again.png`)] as const }))
        const edits = added.flatMap(({ files, id }) =>
          files.map((each, place) =>
            seen(id, 90_000, `edit ${place}`, { files: [each], edited_at: beginning / 1000 - 50 + place })
          )
        )
        yield* commit({ account }, writer.append(chatId, added.map(({ id }) => seen(id, 90_000, "text")), "sweep"))
        yield* commit({ account }, writer.append(chatId, edits, "sweep"))
        const list = World.get(`/v1/archive/accounts/${account.accountId}/files`, key)
        const { answer, said } = yield* Statements.recording(list)
        const names = answer.body.data.map(({ name }: { name: string }) => name)
        expect(names.toSorted()).toEqual(added.flatMap(({ files }) => files.map(({ name }) => name)).toSorted())
        const read = said.filter(({ sql }) => sql.includes("archive_change"))
        expect(read).toHaveLength(1)
        const messages = [1, 2, 3, 4].map((id) => ({ chatId, messageId: BigInt(id) }))
        const db = yield* Db
        const pages = (bytes: number) =>
          db.read(account.organizationId, ArchivePages.use((port) => port.editFrames(account, messages, 1000, bytes)))
        expect((yield* pages(1e9)).length).toBe(2)
        expect((yield* pages(1)).length).toBe(1)
      }))

    it.effect("have their names for a reader on the user's machine too", () =>
      Effect.gen(function*() {
        const [first, second] = [file("first.png"), file("second.png")]
        const { account, key, statesOf } = yield* stage("sweep", { files: [first] }, { files: [second] })
        const remote = yield* remoteArchive(key)
        const all = { after: null, chatId: null, kind: null, limit: 10, state: null }
        const read = Effect.gen(function*() {
          const keys = yield* ArchiveKeys
          const wrapped = yield* keys.wrapped(account.organizationId)
          if (!Arr.isReadonlyArrayNonEmpty(wrapped)) return yield* Effect.die(new Error("No archive key"))
          const open = openAccount(account, yield* openLocally(wrapped, Redacted.make(archivePassword)))
          return { found: yield* findMessage(open, chatId, 1n, 0), listed: yield* listFiles(open, all) }
        })
        const { found, listed } = yield* Effect.provide(Effect.scoped(read), remote.layer)
        expect(found?.message.files.map(({ name, state }) => [name, state])).toEqual([["second.png", "pending"]])
        expect(statesOf(listed?.files ?? [])).toEqual(["first.png pending", "second.png pending"])
        expect(listed?.unreadable).toBe(0)
      }))
  })
})
