import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted, Schema, Stream } from "effect"
import * as crypto from "node:crypto"
import { ExportManifest } from "../../../src/archive/exports/ExportManifest.ts"
import { concat } from "../../../src/domain/archive/Bytes.ts"
import { Caller } from "../../../src/domain/people/Access.ts"
import { api } from "../../../src/operations/index.ts"
import { Credentials } from "../../../src/ports/credentials/Credentials.ts"
import { archivePassword } from "../../support/archive/archivePassword.ts"
import { sealChats } from "../../support/archive/sealedChats.ts"
import { entriesOfZip } from "../../support/archive/zips.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const sha256 = (bytes: Uint8Array) => crypto.createHash("sha256").update(bytes).digest("hex")

const stage = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization({ archive_first_record_at: new Date(0) })
  const account = yield* World.makeAccount(id)
  yield* sealChats(id, account, "Harbour <b>text</b>")
  const key = admins.owner.key
  const caller = {
    ...(yield* (yield* Credentials).authenticate(key, `${World.baseUrl}/v1`)),
    via: "embedded" as const,
    ip: null,
    requestId: null,
    extras: { archivePassword: Redacted.make(archivePassword) }
  }
  const create = (format: string) =>
    Effect.map(
      World.send("POST", "/v1/archive/exports", { key, body: { criteria: { account_ids: [account] }, format } }),
      ({ body }) => body
    )
  const download = Effect.fnUntraced(function*(exportId: string) {
    const content = yield* Effect.provideService(
      api.download_archive_export_part.call({ export_id: exportId, number: 1 }),
      Caller,
      caller
    )
    const pieces = yield* Stream.runCollect(content.bytes())
    return Buffer.from(concat(...pieces))
  })
  return { account, create, download, id, key }
})

describe("a part of an export", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is the same bytes each time, in every format, and its manifest has the hash of each file; the journal has that of the whole", () =>
      Effect.gen(function*() {
        const { create, download, id, key } = yield* stage
        const files: Record<string, ReadonlyArray<string>> = {}
        for (const format of ["json", "html", "rsmf", "eml"]) {
          const made = yield* create(format)
          expect(made).toMatchObject({ messages: 4, part_count: 1, format })
          const bytes = yield* download(made.id)
          expect((yield* download(made.id)).equals(bytes)).toBe(true)
          const entries = entriesOfZip(bytes)
          const manifest = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(ExportManifest))(
            entries.at(-1)?.content.toString() ?? ""
          )
          expect(manifest.files).toEqual(
            entries.slice(0, -1).map(({ content, path }) => ({ path, bytes: content.length, sha256: sha256(content) }))
          )
          expect(manifest).toMatchObject({
            planned: { messages: 4, files: 2 },
            found: { messages: 4, edits: 2 },
            deleted_since: { messages: 0 },
            unreadable: { messages: 0, edits: 0, titles: 0, files: 0 },
            unreadable_files: []
          })
          files[format] = entries.map(({ path }) => path)
          const { body } = yield* World.get(`/v1/archive/exports/${made.id}`, key)
          expect(body.parts[0]).toMatchObject({ bytes: bytes.length, sha256: sha256(bytes) })
          const [event] = (yield* World.journal(id)).slice(-1)
          expect(event).toMatchObject({ action: "archive_export.downloaded" })
          expect(event?.details).toMatchObject({ part: 1, bytes: bytes.length, sha256: sha256(bytes), messages: 4 })
        }
        expect(files).toMatchInlineSnapshot(`
          {
            "eml": [
              "chats/chat_7001_Harbour _b_text__b_ 7001/1970-01-02.eml",
              "chats/chat_7002_Harbour _b_text__b_ 7002/1970-01-02.eml",
              "pages.txt",
              "manifest.json",
            ],
            "html": [
              "chats/chat_7001_Harbour _b_text__b_ 7001/messages.html",
              "chats/chat_7001_Harbour _b_text__b_ 7001/files/12-1_Harbour _b_text__b_.txt",
              "chats/chat_7002_Harbour _b_text__b_ 7002/messages.html",
              "chats/chat_7002_Harbour _b_text__b_ 7002/files/12-1_Harbour _b_text__b_.txt",
              "index.html",
              "pages.txt",
              "manifest.json",
            ],
            "json": [
              "chats/chat_7001_Harbour _b_text__b_ 7001/result.json",
              "chats/chat_7001_Harbour _b_text__b_ 7001/files/12-1_Harbour _b_text__b_.txt",
              "chats/chat_7002_Harbour _b_text__b_ 7002/result.json",
              "chats/chat_7002_Harbour _b_text__b_ 7002/files/12-1_Harbour _b_text__b_.txt",
              "pages.txt",
              "manifest.json",
            ],
            "rsmf": [
              "chats/chat_7001_Harbour _b_text__b_ 7001/1970-01-02.rsmf",
              "chats/chat_7002_Harbour _b_text__b_ 7002/1970-01-02.rsmf",
              "pages.txt",
              "manifest.json",
            ],
          }
        `)
      }))

    it.effect("is refused to a role that may not read the archive, and not there for a reader who did not make it", () =>
      Effect.gen(function*() {
        const { create, id } = yield* stage
        const made = yield* create("json")
        const path = `/v1/archive/exports/${made.id}/parts/`
        const refusal = (number: number, by: Redacted.Redacted) =>
          Effect.map(
            World.send("GET", `${path}${number}`, { key: by }),
            ({ body, status }) => [status, body.error.code]
          )
        const admin = yield* World.makePerson(id, "admin")
        const reader = yield* World.makePerson(id, "archive")
        expect(yield* refusal(1, admin.key)).toEqual([403, "role_forbidden"])
        expect(yield* refusal(1, reader.key)).toEqual([404, "resource_missing"])
      }))
  })
})
