import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect, Exit, Redacted, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { exportLifetime, exportsOfAdmin } from "../../../src/domain/archive/ArchiveExport.ts"
import { chunkSize } from "../../../src/domain/archive/Blob.ts"
import { exportPartsAtOnce, exportPartsOfOrganization } from "../../../src/domain/Limits.ts"
import { OrganizationId } from "../../../src/domain/people/Access.ts"
import { forgetArchiveExports } from "../../../src/jobs/archive/forget_archive_exports.ts"
import { BlobStore, BlobStoreFailed } from "../../../src/ports/archive/BlobStore.ts"
import { ExportTurns } from "../../../src/ports/archive/ExportTurns.ts"
import * as Mcp from "../../mcp/support.ts"
import { passwordHeader } from "../../support/archive/archivePassword.ts"
import { only } from "../../support/archive/blobLaws.ts"
import { cleanUpAccount } from "../../support/archive/cleanups.ts"
import * as Deletions from "../../support/archive/deletions.ts"
import { codeOf, contents, download, makeExported } from "../../support/archive/exportedArchive.ts"
import { makeExport } from "../../support/archive/exports.ts"
import { entriesOfZip } from "../../support/archive/zips.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const manifestOf = (bytes: Buffer) => JSON.parse(entriesOfZip(bytes).at(-1)?.content.toString() ?? "")

const sha256 = (bytes: Uint8Array) => crypto.hash("sha256", bytes, "hex")

const after = (start: Uint8Array) => `1?after_bytes=${start.length}&after_sha256=${sha256(start)}`

/** Reads the part up to the piece with the text, which is the first by default, and goes away. */
const leave = Effect.fnUntraced(function*(key: Redacted.Redacted, exportId: string, text = "") {
  const handler = yield* World.handlerHere
  const { host, origin } = new URL(World.baseUrl)
  yield* Effect.promise(async () => {
    const headers = { host, authorization: `Bearer ${Redacted.value(key)}`, ...passwordHeader() }
    const response = await handler(new Request(`${origin}/v1/archive/exports/${exportId}/parts/1`, { headers }))
    const reader = response.body?.getReader()
    let piece = await reader?.read()
    while (piece?.value !== undefined && !Buffer.from(piece.value).includes(text)) piece = await reader?.read()
    await reader?.cancel()
  })
})

/** Messages that are counted as read, once the counts are written, which begins after the answer is closed. */
const countedMessages = Effect.fnUntraced(function*(id: string) {
  const counted = World.query<{ messages: number }>(
    id,
    (sql) => sql`select messages::integer as messages from archive_read where organization_id = ${id}`
  )
  yield* Effect.replicateEffect(Effect.andThen(counted, TestClock.adjust("1 second")), 20, { discard: true })
  return yield* counted
})

describe("a request for a part of an export", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is answered over HTTP and as a tool with one ZIP, which has the saved files as they were", () =>
      Effect.gen(function*() {
        const { create, key } = yield* makeExported
        for (const format of ["json", "html"]) {
          const { body } = yield* create(format)
          expect(body).toMatchObject({ messages: 3, files: 3, part_count: 1 })
          const { bytes, headers, status } = yield* download(key, body.id)
          expect([status, headers.get("content-type"), headers.get("accept-ranges")])
            .toEqual([200, "application/zip", "none"])
          expect(headers.get("content-disposition")).toContain(`archive-export-${body.id.slice(0, 8)}-1-of-1.zip`)
          const found = entriesOfZip(bytes).filter(({ path }) => path.includes("/files/"))
          expect(found).toHaveLength(3)
          for (const [place, { content, path }] of found.entries()) {
            expect(path).toContain(`/files/${place + 1}-1_plan ${place}.png`)
            expect(Buffer.compare(content, contents[place] ?? Buffer.alloc(0))).toBe(0)
          }
          const answer = yield* Mcp.call("download_archive_export_part", { export_id: body.id, number: 1 }, { key })
          const [, { resource }] = answer.body.result.content
          expect(resource.mimeType).toBe("application/zip")
          expect(Buffer.from(resource.blob, "base64").equals(bytes)).toBe(true)
        }
        const { body } = yield* create("json", { media: false })
        const { bytes } = yield* download(key, body.id)
        expect(entriesOfZip(bytes).filter(({ path }) => path.includes("/files/"))).toEqual([])
      }))

    it.effect("is refused without the archive password, for a part or an export that is not there, and once it has expired", () =>
      Effect.gen(function*() {
        const { create, key } = yield* makeExported
        const other = yield* makeExported
        const { body } = yield* create("json")
        expect(codeOf(yield* download(key, body.id, "1", passwordHeader("another one"))))
          .toEqual([403, "archive_password_invalid"])
        expect(codeOf(yield* download(key, body.id, "2"))).toEqual([404, "resource_missing"])
        expect(codeOf(yield* download(key, body.id, "0"))).toEqual([400, "parameter_invalid"])
        expect(codeOf(yield* download(key, crypto.randomUUID()))).toEqual([404, "resource_missing"])
        expect(codeOf(yield* download(other.key, body.id))).toEqual([404, "resource_missing"])
        expect((yield* World.get(`/v1/archive/exports/${body.id}`, other.key)).status).toBe(404)
        yield* TestClock.adjust(exportLifetime)
        expect(codeOf(yield* download(key, body.id))).toEqual([409, "export_expired"])
      }))

    it.effect("that comes after a cleanup gets what is left, and the manifest counts what was deleted since", () =>
      Effect.gen(function*() {
        const { accountId, create, key } = yield* makeExported
        const { body: made } = yield* create("json")
        yield* cleanUpAccount(key, accountId)
        const { bytes, status } = yield* download(key, made.id)
        expect([status, manifestOf(bytes)]).toMatchObject([200, {
          planned: { messages: 3, files: 3 },
          found: { messages: 0, files: 0 },
          deleted_since: { messages: 3, files: 3 }
        }])
      }))

    it.effect("gets what opens of damaged and missing files, in every format, and the manifest names them; a store that is down ends it", () =>
      Effect.gen(function*() {
        const { create, id, key } = yield* makeExported
        const store = yield* BlobStore
        const rows = yield* World.query<{ blob: string; size: string }>(
          id,
          (sql) =>
            sql`select blob_id::text as blob, stored_bytes::text as size from archive_blob order by plain_bytes desc`
        )
        const [damaged = { blob: "", size: "0" }, missing = damaged] = rows
        const range = { start: 0, end: Number(damaged.size) }
        const sealed = yield* Stream.mkUint8Array(store.get(only(damaged.blob), range))
        yield* store.remove(only(damaged.blob))
        yield* store.put(damaged.blob, range.end, Stream.make(sealed.with(sealed.length - 1, (sealed.at(-1) ?? 0) ^ 1)))
        yield* store.remove(only(missing.blob))
        for (const format of ["json", "html", "eml", "rsmf"]) {
          const { body } = yield* create(format)
          const { bytes, status } = yield* download(key, body.id)
          const manifest = manifestOf(bytes)
          expect([status, manifest.unreadable.files, manifest.found.files]).toEqual([200, 2, 3])
          expect(manifest.unreadable_files).toMatchObject([
            { size: 150_000, bytes: 2 * chunkSize, reason: "changed" },
            { size: 900, bytes: 0, reason: "missing" }
          ])
          const entries = entriesOfZip(bytes)
          expect(manifest.files.map(({ sha256 }: { sha256: string }) => sha256))
            .toEqual(entries.slice(0, -1).map(({ content }) => crypto.hash("sha256", content, "hex")))
          const [{ attachment, path }] = manifest.unreadable_files
          const isMail = format === "eml" || format === "rsmf"
          expect(attachment).toBe(isMail ? "1-1_plan 0.png" : null)
          const found = entries.find((entry) => entry.path === path)
          if (!isMail) {
            expect(Buffer.compare(found?.content ?? Buffer.of(), contents[0].subarray(0, 2 * chunkSize))).toBe(0)
          }
          expect(found).toBeDefined()
          expect((yield* download(key, body.id)).bytes.equals(bytes)).toBe(true)
        }
        const { body } = yield* create("json")
        const down = BlobStore.of({
          ...store,
          get: (found, { end, start }) =>
            Stream.concat(
              store.get(found, { start, end: Math.min(end, start + 5) }),
              Stream.fail(new BlobStoreFailed({ why: "unavailable", reason: "The test says so" }))
            )
        })
        const ended = yield* Effect.exit(Effect.provideService(download(key, body.id), BlobStore, down))
        expect(Exit.isFailure(ended)).toBe(true)
        expect((yield* World.get(`/v1/archive/exports/${body.id}`, key)).body.parts[0]).toMatchObject({
          unreadable: null,
          latest_download: { state: "stopped", reason: "storage_unavailable", messages: 3 }
        })
      }))

    it.effect("waits its turn: a third part of an organization at a time is answered 503, and another organization's is made", () =>
      Effect.gen(function*() {
        const [own, other] = [yield* makeExported, yield* makeExported]
        const turns = yield* ExportTurns
        const scope = yield* Scope.make()
        for (let taken = 0; taken < exportPartsOfOrganization; taken++) {
          yield* Scope.provide(turns.take(own.id), scope)
        }
        const [{ body: mine }, { body: theirs }] = [yield* own.create("json"), yield* other.create("json")]
        const refused = yield* download(own.key, mine.id)
        expect([codeOf(refused), refused.headers.get("retry-after")]).toEqual([[503, "service_unavailable"], "5"])
        expect((yield* download(other.key, theirs.id)).status).toBe(200)
        yield* Scope.close(scope, Exit.void)
        for (let times = 0; times <= exportPartsOfOrganization; times++) {
          expect((yield* download(own.key, mine.id)).status).toBe(200)
        }
      }))

    it.effect("has its turn in an organization that has none while others hold all", () =>
      Effect.scoped(Effect.gen(function*() {
        const { create, id, key } = yield* makeExported
        const turns = yield* ExportTurns
        for (let other = 0; other < exportPartsAtOnce / exportPartsOfOrganization; other++) {
          const holder = OrganizationId.make((yield* World.makeOrganization()).id)
          yield* Effect.replicateEffect(turns.take(holder), exportPartsOfOrganization)
        }
        const { body } = yield* create("json")
        expect((yield* download(key, body.id)).status).toBe(200)
        yield* turns.take(id)
        expect(codeOf(yield* download(key, body.id))).toEqual([503, "service_unavailable"])
      })))

    it.effect("is forgotten with the names of its accounts 30 days after it has ended", () =>
      Effect.gen(function*() {
        const { create, id } = yield* makeExported
        yield* create("json")
        const kept = (table: string) => Deletions.countIn(id, table)
        for (const [days, exports] of [[36, 1], [2, 0]] as const) {
          yield* TestClock.adjust(Duration.days(days))
          yield* forgetArchiveExports.run
          expect([yield* kept("archive_export"), yield* kept("archive_export_part")]).toEqual([exports, exports])
        }
      }))

    it.effect("is not even made for an admin with as many exports as may be, until one of them has expired", () =>
      Effect.gen(function*() {
        const { accountId, admins, create, id } = yield* makeExported
        yield* Effect.replicateEffect(makeExport(id, [accountId], admins.owner.id), exportsOfAdmin - 1)
        expect((yield* create("json")).status).toBe(200)
        expect(World.refusal(yield* create("json"))).toEqual([409, "too_many_exports"])
        yield* TestClock.adjust(exportLifetime)
        expect((yield* create("json")).status).toBe(200)
      }))

    it.effect("whose download broke off goes on after any byte of it, and is journaled as a whole with where it went on", () =>
      Effect.gen(function*() {
        const { admins, create, id, key } = yield* makeExported
        const { body: made } = yield* create("json")
        const latest = Effect.map(World.get(`/v1/archive/exports/${made.id}`, key), ({ body }) => body.parts[0])
        expect(yield* latest).toMatchObject({ downloaded_by: null, latest_download: null })
        yield* leave(key, made.id)
        expect(yield* latest).toMatchObject({
          bytes: null,
          latest_download: { state: "stopped", reason: "connection_lost", admin_id: admins.owner.id }
        })
        const { bytes: whole } = yield* download(key, made.id)
        for (const cut of [1, 100, 70_000, whole.length - 1, whole.length]) {
          const rest = yield* download(key, made.id, after(whole.subarray(0, cut)))
          expect([rest.status, rest.bytes.equals(whole.subarray(cut))]).toEqual([200, true])
          expect((yield* World.journal(id)).at(-1)).toMatchObject({
            action: "archive_export.downloaded",
            details: { bytes: whole.length, sha256: sha256(whole), after_bytes: cut }
          })
        }
        expect(yield* latest).toMatchObject({
          sha256: sha256(whole),
          downloaded_by: admins.owner.id,
          unreadable: 0,
          latest_download: { state: "sent", reason: null, bytes: whole.length, messages: 3, files: 3 }
        })
      }))

    it.effect("counts as a read before anything is sent, and its messages as far as they were sent, each once, although its client goes away", () =>
      Effect.gen(function*() {
        const { create, id, key } = yield* makeExported
        const { body: made } = yield* create("json")
        expect(yield* countedMessages(id)).toEqual([])
        yield* leave(key, made.id)
        expect(yield* countedMessages(id)).toMatchObject([{}])
        const { body: other } = yield* create("html")
        const [{ messages: before } = { messages: 0 }] = yield* countedMessages(id)
        yield* leave(key, other.id, "pages.txt")
        expect((yield* World.journal(id)).map(({ action }) => action)).not.toContain("archive_export.downloaded")
        expect(yield* countedMessages(id)).toEqual([{ messages: before + 3 }])
        const { bytes: whole } = yield* download(key, other.id)
        expect(yield* countedMessages(id)).toEqual([{ messages: before + 6 }])
        for (const cut of [whole.length - 1, whole.length]) {
          yield* download(key, other.id, after(whole.subarray(0, cut)))
          expect(yield* countedMessages(id)).toEqual([{ messages: before + 6 }])
        }
        yield* download(key, other.id, after(whole.subarray(0, 1)))
        expect(yield* countedMessages(id)).toEqual([{ messages: before + 9 }])
      }))

    it.effect("that goes on gets nothing where something of it was deleted meanwhile, or after other bytes, and no entry of the journal says that it was sent", () =>
      Effect.gen(function*() {
        const { accountId, create, id, key } = yield* makeExported
        const { body: made } = yield* create("html")
        const { bytes: whole } = yield* download(key, made.id)
        const last = Effect.map(World.journal(id), (events) => events.at(-1)?.sequence)
        const before = yield* last
        const reason = Effect.map(
          World.get(`/v1/archive/exports/${made.id}`, key),
          ({ body }) => body.parts[0].latest_download.reason
        )
        const refused = (number: string) => Effect.map(Effect.exit(download(key, made.id, number)), Exit.isFailure)
        expect(yield* refused(after(Buffer.alloc(100)))).toBe(true)
        expect(yield* refused(after(Buffer.concat([whole, Buffer.alloc(1)])))).toBe(true)
        expect([yield* reason, yield* last]).toEqual(["changed", before])
        yield* cleanUpAccount(key, accountId)
        expect(yield* refused(after(whole.subarray(0, 3000)))).toBe(true)
        expect(yield* reason).toBe("changed")
        for (const one of ["after_bytes=5", `after_sha256=${"0".repeat(64)}`, "after_bytes=0&after_sha256=0"]) {
          expect(codeOf(yield* download(key, made.id, `1?${one}`))).toEqual([400, "parameter_invalid"])
        }
      }))
  })
})
