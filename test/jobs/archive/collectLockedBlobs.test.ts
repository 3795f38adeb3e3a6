import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { collectBlobs } from "../../../src/jobs/archive/collect_blobs.ts"
import { deleteArchives } from "../../../src/jobs/archive/delete_archives.ts"
import { ArchiveDeletions } from "../../../src/ports/archive/ArchiveDeletions.ts"
import * as Archives from "../../support/archive/archives.ts"
import { asOwner, postgres } from "../../support/postgres/database.ts"
import { planOutside, rowsRead } from "../../support/postgres/plans.ts"
import { recording } from "../../support/postgres/statements.ts"
import { makeS3Server, type S3Server } from "../../support/s3/s3Server.ts"
import { key, storeAt } from "../../support/s3/s3Stores.ts"
import * as World from "../../support/world.ts"

/** The test's bucket, whose objects are locked for 7 days. */
class Bucket extends Context.Service<Bucket, S3Server>()("test/jobs/archive/Bucket") {}

const bucket = Layer.effect(Bucket, makeS3Server("files", key, { hasLocks: true }))
const blobs = Layer.unwrap(
  Effect.map(Bucket, (server) => storeAt(server, { lock: { mode: "compliance", amount: 7, unit: "day" } }))
).pipe(Layer.provide(bucket))

const { chat, chatId, commit, seen } = Archives

const content = new Uint8Array(1000).fill(7)

/** An archive with the files of one message, of which none is stored. */
const stage = Effect.fnUntraced(function*() {
  const archive = yield* Archives.makeArchive()
  const writer = yield* Archives.write(archive)
  const files = [Archives.file("one"), Archives.file("two")]
  yield* commit(archive, writer.see(chat))
  yield* commit(archive, writer.append(chatId, [seen(1, 10, "text", { files })], "sweep"))
  const store = <R = never>(
    fileId: string,
    name: string = fileId,
    stream: Stream.Stream<Uint8Array, never, R> = Stream.make(content)
  ) => writer.storeFile(fileId, { messengerFile: name, bytes: content.length, content: stream })
  const [one, two] = files.map(({ id }) => id)
  return { archive, one: one ?? "", two: two ?? "", store }
})

interface Row {
  readonly blob: string
  readonly state: string
  readonly key: Uint8Array | null
  readonly version: string | null
  readonly locked_until: Date | null
}

const rowsOf = ({ account }: Archives.Archive) =>
  World.query<Row>(
    account.organizationId,
    (sql) =>
      sql`select blob_id::text as blob, state, key, version, locked_until from archive_blob
        where account_id = ${account.accountId} order by at, blob_id`
  )

const deleteArchive = ({ account }: Archives.Archive, now: Date) =>
  Effect.andThen(
    commit(
      { account },
      Effect.flatMap(
        ArchiveDeletions,
        (deletions) => deletions.beginAccount(account.organizationId, account.accountId, now)
      )
    ),
    deleteArchives.run
  )

const dayLater = (days: number) => new Date(Archives.beginning + days * 24 * 60 * 60 * 1000)

/** An archive that is deleted after one of its files was stored. */
const stageDeleted = Effect.fnUntraced(function*() {
  const { archive, one, store } = yield* stage()
  yield* store(one)
  yield* deleteArchive(archive, dayLater(0))
  return archive
})

/** The requests to the store, and what the bucket has then, after a run. */
const run = Effect.fnUntraced(function*() {
  const { requests, versions } = yield* Bucket
  const from = requests.length
  yield* collectBlobs.run
  return { asked: requests.slice(from).map((one) => one.split(" ")[0]), versions: versions.length }
})

describe("objects that are locked", () => {
  layer(Layer.merge(World.core(postgres, undefined, undefined, undefined, blobs), bucket))((it) => {
    it.effect("lose their keys first, and are removed when their lock ends, without a question before", () =>
      Effect.gen(function*() {
        const { archive, one, store } = yield* stage()
        expect(yield* store(one)).toBe("stored")
        const [saved] = yield* rowsOf(archive)
        const [version] = (yield* Bucket).versions
        expect(saved).toMatchObject({ state: "saved", version: version?.id, locked_until: dayLater(7) })
        yield* deleteArchive(archive, dayLater(0))
        expect(yield* rowsOf(archive)).toMatchObject([{ state: "deleting", key: null }])
        yield* World.query(
          archive.account.organizationId,
          (sql) => sql`delete from account where id = ${archive.account.accountId}`
        )
        expect(yield* run()).toEqual({ asked: [], versions: 1 })
        yield* TestClock.adjust("6 days")
        expect(yield* run()).toEqual({ asked: [], versions: 1 })
        yield* TestClock.adjust("1 day")
        expect(yield* run()).toEqual({ asked: ["HEAD", "DELETE"], versions: 0 })
        expect(yield* rowsOf(archive)).toEqual([])
      }))

    it.effect("are passed over, not one by one however many there are, and others are removed meanwhile", () =>
      Effect.gen(function*() {
        const archive = yield* stageDeleted()
        const { organizationId } = archive.account
        const waiting = Array.from({ length: 3000 }, () => crypto.randomUUID())
        yield* World.query(
          organizationId,
          (sql) =>
            sql`insert into archive_blob (organization_id, account_id, blob_id, messenger_file, epoch_id, state, plain_bytes,
              stored_bytes, sha256, version, locked_until, writer, at)
            select organization_id, account_id, waiting, messenger_file, epoch_id, state, plain_bytes, stored_bytes, sha256,
              version, locked_until, writer, at - interval '1 hour'
            from archive_blob, unnest(${waiting}::uuid[]) as waiting`
        )
        yield* World.query(
          organizationId,
          (sql) => sql`update archive_blob set locked_until = null where not blob_id = any(${waiting}::uuid[])`
        )
        yield* asOwner((sql) => sql`analyze archive_blob`)
        const { versions } = yield* Bucket
        for (const version of versions) version.lock = null
        const { said } = yield* recording(run())
        expect([versions, (yield* rowsOf(archive)).length]).toEqual([[], 3000])
        const [due, ...others] = said.filter(({ sql }) => sql.includes("greatest"))
        expect(others).toEqual([])
        expect(rowsRead(yield* planOutside("select 1", due!))).toBeLessThan(10)
        yield* World.query(
          organizationId,
          (sql) => sql`delete from archive_blob where organization_id = ${organizationId}`
        )
      }))

    it.effect("of files that have their content already wait without a key, and are removed when their lock ends", () =>
      Effect.gen(function*() {
        const { archive, one, store, two } = yield* stage()
        const both = Effect.forEach([one, two], (file) => store(file, "same"), { concurrency: "unbounded" })
        expect((yield* both).toSorted()).toEqual(["known", "stored"])
        const waiting = { state: "deleting", key: null, locked_until: dayLater(7) }
        expect((yield* rowsOf(archive)).toSorted((a, b) => a.state < b.state ? -1 : 1))
          .toMatchObject([waiting, { state: "saved" }])
        const versions = (yield* Bucket).versions.map(({ id }) => id)
        expect((yield* rowsOf(archive)).map(({ version }) => version).toSorted()).toEqual(versions.toSorted())
        yield* TestClock.adjust("6 days")
        expect(yield* run()).toEqual({ asked: [], versions: 2 })
        yield* TestClock.adjust("1 day")
        expect(yield* run()).toEqual({ asked: ["HEAD", "DELETE"], versions: 1 })
        expect(yield* rowsOf(archive)).toMatchObject([{ state: "saved" }])
        yield* deleteArchive(archive, dayLater(7))
        expect(yield* run()).toEqual({ asked: ["HEAD", "DELETE"], versions: 0 })
      }))

    it.effect("of a dead writer are asked for once, and then wait", () =>
      Effect.gen(function*() {
        const { archive, one, store } = yield* stage()
        yield* store(one)
        yield* World.query(
          archive.account.organizationId,
          (sql) =>
            sql`update archive_blob set state = 'writing', sha256 = null, version = null, locked_until = null
              where account_id = ${archive.account.accountId}`
        )
        yield* TestClock.adjust("1 hour")
        expect(yield* run()).toEqual({ asked: [], versions: 1 })
        expect(yield* rowsOf(archive)).toMatchObject([{ state: "deleting", key: null }])
        yield* TestClock.adjust("1 hour")
        expect(yield* run()).toEqual({ asked: ["HEAD"], versions: 1 })
        const [version] = (yield* Bucket).versions
        expect(yield* rowsOf(archive)).toMatchObject([{ version: version?.id, locked_until: dayLater(7) }])
        expect(yield* run()).toEqual({ asked: [], versions: 1 })
        yield* TestClock.adjust("7 days")
        expect(yield* run()).toEqual({ asked: ["HEAD", "DELETE"], versions: 0 })
        expect(yield* rowsOf(archive)).toEqual([])
      }))

    it.effect("of a writer that was replaced wait with their version, without a question before", () =>
      Effect.gen(function*() {
        const { archive, one, store } = yield* stage()
        const replaced = Stream.concat(
          Stream.make(content),
          Stream.fromEffectDrain(Effect.orDie(Archives.write(archive)))
        )
        expect(yield* Effect.flip(store(one, one, replaced))).toMatchObject({ _tag: "WriterReplaced" })
        const [version] = (yield* Bucket).versions
        expect(yield* rowsOf(archive))
          .toMatchObject([{ state: "deleting", key: null, version: version?.id, locked_until: dayLater(7) }])
        yield* TestClock.adjust("6 days")
        expect(yield* run()).toEqual({ asked: [], versions: 1 })
        yield* TestClock.adjust("1 day")
        expect(yield* run()).toEqual({ asked: ["HEAD", "DELETE"], versions: 0 })
        expect(yield* rowsOf(archive)).toEqual([])
      }))

    it.effect("that the store refuses to remove are asked for again a day later", () =>
      Effect.gen(function*() {
        const archive = yield* stageDeleted()
        yield* TestClock.adjust("7 days")
        const { faults } = yield* Bucket
        faults.push(["DELETE", "forbidden"])
        expect(yield* run()).toEqual({ asked: ["HEAD", "DELETE"], versions: 1 })
        yield* TestClock.adjust("23 hours")
        expect(yield* run()).toEqual({ asked: [], versions: 1 })
        yield* TestClock.adjust("1 hour")
        expect(yield* run()).toEqual({ asked: ["HEAD", "DELETE"], versions: 0 })
        expect(yield* rowsOf(archive)).toEqual([])
      }))

    it.effect("longer than they were wait until their new time", () =>
      Effect.gen(function*() {
        const archive = yield* stageDeleted()
        const [version] = (yield* Bucket).versions
        if (version !== undefined) version.lock = { mode: "COMPLIANCE", until: Number(dayLater(9)) }
        yield* TestClock.adjust("7 days")
        expect(yield* run()).toEqual({ asked: ["HEAD"], versions: 1 })
        expect(yield* rowsOf(archive)).toMatchObject([{ locked_until: dayLater(9) }])
        expect(yield* run()).toEqual({ asked: [], versions: 1 })
        yield* TestClock.adjust("2 days")
        expect(yield* run()).toEqual({ asked: ["HEAD", "DELETE"], versions: 0 })
      }))
  })
})
