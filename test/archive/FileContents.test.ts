import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { openBlob, openFileKey } from "../../src/archive/BlobSealing.ts"
import { epochKeyOf } from "../../src/archive/OpenedFrames.ts"
import { collectBlobs } from "../../src/jobs/archive/collect_blobs.ts"
import { ArchiveFiles } from "../../src/ports/archive/ArchiveFiles.ts"
import type { AccountArchive } from "../../src/ports/archive/ArchiveWriter.ts"
import { BlobStore } from "../../src/ports/archive/BlobStore.ts"
import { Db } from "../../src/ports/Db.ts"
import * as Archives from "../support/archive/archives.ts"
import { inParts, objectOf, only } from "../support/archive/blobLaws.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const { chat, chatId, commit, seen } = Archives

const bytes = objectOf(150_000)

const content = <R = never>(messengerFile: string, stream: Stream.Stream<Uint8Array, unknown, R>) => ({
  messengerFile,
  bytes: bytes.length,
  content: stream
})

/** An archive with a writer and so many messages that each have a file. */
const stage = Effect.fnUntraced(function*(files: number) {
  const archive = yield* Archives.makeArchive()
  const writer = yield* Archives.write(archive)
  const records = Array.from({ length: files }, (_, n) => Archives.file(`file ${n}`))
  yield* commit(archive, writer.see(chat))
  const messages = records.map((file, n) => seen(n + 1, 100 - n, `text ${n}`, { files: [file] }))
  yield* commit(archive, writer.append(chatId, messages, "sweep"))
  return { archive, files: records.map(({ id }) => id), writer }
})

const rowsOf = ({ account }: Archives.Archive, table: string) =>
  World.query<Record<string, any>>(
    account.organizationId,
    (sql) => sql`select * from ${sql(table)} where account_id = ${account.accountId}`
  )

const statesOf = (archive: Archives.Archive) =>
  Effect.map(rowsOf(archive, "archive_blob"), (rows) => rows.map(({ state }) => state))

/** The content of a file as a reader with the password gets it. */
const read = Effect.fnUntraced(function*(archive: Archives.Archive, fileId: string) {
  const { account } = archive
  const store = yield* BlobStore
  const db = yield* Db
  const [found] = yield* db.read(
    account.organizationId,
    Effect.flatMap(ArchiveFiles, (files) => files.find(account.organizationId, [fileId]))
  )
  if (found === undefined || found.content === null) return null
  const { content } = found
  const { blobId, bytes, epochId, key } = content
  const epoch = yield* epochKeyOf(yield* Archives.open(archive), epochId)
  const fileKey = yield* openFileKey(epoch, blobId, key)
  return yield* Stream.mkUint8Array(
    openBlob(fileKey, { ...account, blobId }, bytes, (range) => store.get(content, range))
  )
})

const counters = Effect.fnUntraced(function*(archive: Archives.Archive) {
  const { account } = archive
  const [row] = yield* World.query<{ media: string; bytes: string }>(
    account.organizationId,
    (sql) =>
      sql`select archive_media as media, archive_bytes as bytes from archive_state where account_id = ${account.accountId}`
  )
  const chats = yield* rowsOf(archive, "archive_chat")
  return { media: Number(row?.media), bytes: Number(row?.bytes), files: Number(chats[0]?.["files"]) }
})

const store = <R = never>(
  writer: AccountArchive,
  file: string,
  stream: Stream.Stream<Uint8Array, unknown, R> = inParts(bytes),
  name = file
) => writer.storeFile(file, content(name, stream))

describe("the content of a file", () => {
  layer(World.core(postgres))((it) => {
    it.effect("is sealed as it comes, counted, and opened with the password alone", () =>
      Effect.gen(function*() {
        const { archive, files: [file = ""], writer } = yield* stage(1)
        const before = yield* counters(archive)
        expect(yield* store(writer, file)).toBe("stored")
        const [row] = yield* rowsOf(archive, "archive_blob")
        expect(row).toMatchObject({ state: "saved", plain_bytes: bytes.length, stored_bytes: bytes.length + 3 * 16 })
        expect(Buffer.from(row?.["sha256"])).toEqual(crypto.createHash("sha256").update(bytes).digest())
        expect(Buffer.compare((yield* read(archive, file))!, bytes)).toBe(0)
        const stored = yield* Stream.mkUint8Array(
          (yield* BlobStore).get(only(row?.["blob_id"]), { start: 0, end: row?.["stored_bytes"] })
        )
        expect(Buffer.from(stored).includes(Buffer.from(bytes.subarray(0, 32)))).toBe(false)
        expect(yield* counters(archive)).toEqual({
          media: before.media + 1,
          files: before.files + 1,
          bytes: before.bytes + bytes.length + 3 * 16
        })
        expect(yield* store(writer, file)).toBe("gone")
      }))

    it.effect("that the account has already is not read again, and that of another account is", () =>
      Effect.gen(function*() {
        const { archive, files: [one = "", two = ""], writer } = yield* stage(2)
        yield* store(writer, one, undefined, "same")
        const first = yield* counters(archive)
        expect(yield* store(writer, two, Stream.die("It is read"), "same")).toBe("known")
        expect(yield* counters(archive)).toEqual({ ...first, media: 2, files: 2 })
        expect(Buffer.compare((yield* read(archive, two))!, bytes)).toBe(0)
        expect(yield* statesOf(archive)).toEqual(["saved"])
        const other = yield* stage(1)
        expect(yield* store(other.writer, other.files[0]!, undefined, "same")).toBe("stored")
      }))

    it.effect("that comes twice at a time is kept once", () =>
      Effect.gen(function*() {
        const { archive, files, writer } = yield* stage(3)
        const outcomes = yield* Effect.forEach(files, (file) => store(writer, file, undefined, "same"), {
          concurrency: "unbounded"
        })
        expect(outcomes.toSorted()).toEqual(["known", "known", "stored"])
        expect(yield* statesOf(archive)).toEqual(["saved"])
        for (const file of files) expect(Buffer.compare((yield* read(archive, file))!, bytes)).toBe(0)
      }))

    it.effect("that fails, or has another size than announced, leaves no key, and can be stored later", () =>
      Effect.gen(function*() {
        const { archive, files: [file = ""], writer } = yield* stage(1)
        const before = yield* counters(archive)
        const failing = [
          Stream.concat(Stream.make(bytes.subarray(0, 100_000)), Stream.fail("away")),
          Stream.make(bytes.subarray(1)),
          Stream.make(bytes, bytes)
        ]
        const given = { state: "deleting", key: null }
        for (const [at, stream] of failing.entries()) {
          expect(Exit.isFailure(yield* Effect.exit(store(writer, file, stream)))).toBe(true)
          expect(yield* rowsOf(archive, "archive_blob")).toMatchObject(Array.from({ length: at + 1 }, () => given))
          expect(yield* counters(archive)).toEqual(before)
        }
        expect(yield* store(writer, file)).toBe("stored")
      }))

    it.effect("whose file is gone by then, or was never there, is not kept", () =>
      Effect.gen(function*() {
        const { archive, files: [file = ""], writer } = yield* stage(1)
        expect(yield* store(writer, crypto.randomUUID())).toBe("gone")
        const deleted = World.query(
          archive.account.organizationId,
          (sql) => sql`update archive_file set state = 'deleted' where file_id = ${file}::uuid`
        )
        const stream = Stream.concat(inParts(bytes), Stream.fromEffectDrain(deleted))
        expect(yield* store(writer, file, stream)).toBe("gone")
        expect(yield* rowsOf(archive, "archive_blob")).toEqual([])
      }))

    it.effect("whose file the rules leave out by then is not kept", () =>
      Effect.gen(function*() {
        const { archive, files: [file = ""], writer } = yield* stage(1)
        const before = yield* counters(archive)
        const skipped = World.query(
          archive.account.organizationId,
          (sql) => sql`update archive_file set state = 'skipped', reason = 'rule' where file_id = ${file}::uuid`
        )
        const stream = Stream.concat(inParts(bytes), Stream.fromEffectDrain(skipped))
        expect(yield* store(writer, file, stream)).toBe("gone")
        expect(yield* rowsOf(archive, "archive_blob")).toEqual([])
        expect(yield* counters(archive)).toEqual(before)
      }))

    it.effect("whose file was given up meanwhile is kept", () =>
      Effect.gen(function*() {
        const { archive, files: [file = ""], writer } = yield* stage(1)
        const failed = World.query(
          archive.account.organizationId,
          (sql) => sql`update archive_file set state = 'failed', reason = 'gone' where file_id = ${file}::uuid`
        )
        const stream = Stream.concat(inParts(bytes), Stream.fromEffectDrain(failed))
        expect(yield* store(writer, file, stream)).not.toBe("gone")
        expect(yield* rowsOf(archive, "archive_file")).toMatchObject([{ state: "saved", reason: null }])
      }))

    it.effect("of a writer that was replaced meanwhile is not kept", () =>
      Effect.gen(function*() {
        const { archive, files: [file = ""], writer } = yield* stage(1)
        const stream = Stream.concat(inParts(bytes), Stream.fromEffectDrain(Archives.write(archive)))
        expect(yield* Effect.flip(store(writer, file, stream))).toMatchObject({ _tag: "WriterReplaced" })
        expect(yield* rowsOf(archive, "archive_blob")).toMatchObject([{ state: "deleting", key: null }])
      }))
  })
})

/** An archive with a file whose content is being written, and the first half of it is. */
const writingHalf = Effect.gen(function*() {
  const made = yield* stage(1)
  const { archive, files: [file = ""], writer } = made
  const begun = yield* Deferred.make<void>()
  const hanging = Stream.concat(
    Stream.make(bytes.subarray(0, 100_000)),
    Stream.concat(Stream.fromEffectDrain(Deferred.succeed(begun, undefined)), Stream.never)
  )
  const writing = yield* Effect.forkChild(store(writer, file, hanging))
  yield* Deferred.await(begun)
  const [row] = yield* rowsOf(archive, "archive_blob")
  return { archive, blobId: String(row?.["blob_id"]), row, writing }
})

const hour = TestClock.adjust("61 minutes")

describe("collect_blobs", () => {
  layer(World.core(postgres))((it) => {
    it.effect("gives up what a dead writer has begun after an hour, and removes its object an hour later", () =>
      Effect.gen(function*() {
        const { archive, blobId, row, writing } = yield* writingHalf
        const objects = yield* BlobStore
        yield* Fiber.interrupt(writing)
        // A process that was killed would have left the row as it was, and perhaps the object.
        yield* World.query(
          archive.account.organizationId,
          (sql) => sql`update archive_blob set state = 'writing', key = ${row?.["key"]} where blob_id = ${blobId}::uuid`
        )
        yield* objects.put(blobId, 3, Stream.make(objectOf(3)))
        yield* TestClock.adjust("59 minutes")
        yield* collectBlobs.run
        expect(yield* statesOf(archive)).toEqual(["writing"])
        yield* TestClock.adjust("2 minutes")
        yield* collectBlobs.run
        yield* collectBlobs.run
        const [given] = yield* rowsOf(archive, "archive_blob")
        expect([given, yield* objects.exists(blobId)]).toMatchObject([{ state: "deleting", key: null }, true])
        yield* hour
        yield* collectBlobs.run
        expect([yield* statesOf(archive), yield* objects.exists(blobId)]).toEqual([[], false])
      }))

    it.effect("removes after an hour what the store has stored once its writer had ended", () =>
      Effect.gen(function*() {
        const { archive, blobId, writing } = yield* writingHalf
        const objects = yield* BlobStore
        yield* Fiber.interrupt(writing)
        yield* objects.put(blobId, 3, Stream.make(objectOf(3)))
        yield* TestClock.adjust("59 minutes")
        yield* collectBlobs.run
        const [given] = yield* rowsOf(archive, "archive_blob")
        expect([given, yield* objects.exists(blobId)]).toMatchObject([{ state: "deleting", key: null }, true])
        yield* TestClock.adjust("2 minutes")
        yield* collectBlobs.run
        expect([yield* statesOf(archive), yield* objects.exists(blobId)]).toEqual([[], false])
      }))

    it.effect("leaves what a writer still writes, however long it takes", () =>
      Effect.gen(function*() {
        const { archive, writing } = yield* writingHalf
        const renewed = Effect.map(rowsOf(archive, "archive_blob"), ([row]) => Number(row?.["at"]))
        for (let turn = 0; turn < 7; turn++) {
          const before = yield* renewed
          yield* TestClock.adjust("10 minutes")
          yield* Effect.repeat(renewed, { until: (at) => at > before })
          yield* collectBlobs.run
        }
        expect(yield* statesOf(archive)).toEqual(["writing"])
        yield* Fiber.interrupt(writing)
        expect(yield* statesOf(archive)).toEqual(["deleting"])
      }))

    it.effect("stops a writer whose row was given up, which then waits for another hour", () =>
      Effect.gen(function*() {
        const { archive, blobId, writing } = yield* writingHalf
        yield* World.query(
          archive.account.organizationId,
          (sql) => sql`update archive_blob set state = 'deleting', key = null where blob_id = ${blobId}::uuid`
        )
        yield* TestClock.adjust("10 minutes")
        expect(yield* Effect.flip(Fiber.join(writing))).toMatchObject({ _tag: "WriterReplaced" })
        yield* TestClock.adjust("59 minutes")
        yield* collectBlobs.run
        expect(yield* statesOf(archive)).toEqual(["deleting"])
        yield* TestClock.adjust("1 minute")
        yield* collectBlobs.run
        expect(yield* statesOf(archive)).toEqual([])
      }))
  })
})
