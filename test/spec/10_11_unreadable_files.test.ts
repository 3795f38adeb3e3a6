import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Latch, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { ServiceUnavailable } from "../../src/domain/Failure.ts"
import { Caller } from "../../src/domain/people/Access.ts"
import { noteUnreadableFiles } from "../../src/kernel/runners/UnreadableNotes.ts"
import { ArchiveFiles } from "../../src/ports/archive/ArchiveFiles.ts"
import { ArchiveUnreadables } from "../../src/ports/archive/ArchiveUnreadables.ts"
import { BlobStore, BlobStoreFailed } from "../../src/ports/archive/BlobStore.ts"
import { Epochs } from "../../src/ports/archive/Epochs.ts"
import { Credentials } from "../../src/ports/credentials/Credentials.ts"
import { Db } from "../../src/ports/Db.ts"
import { passwordHeader } from "../support/archive/archivePassword.ts"
import { only } from "../support/archive/blobLaws.ts"
import { contents, download, makeExported } from "../support/archive/exportedArchive.ts"
import * as Fixtures from "../support/fixtures.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const events = (id: string) =>
  Effect.map(
    World.journal(id),
    (all) =>
      all.filter(({ action }) => action === "archive.unreadable").map(({ account_id, details }) => ({
        account_id,
        details
      }))
  )

/** Downloads a file; its bytes, or null where they end early. */
const fetchFile = Effect.fnUntraced(function*(key: Redacted.Redacted, file: string, headers = {}) {
  const handler = yield* World.handlerHere
  const { host } = new URL(World.baseUrl)
  return yield* Effect.promise(async () => {
    const response = await handler(
      new Request(`http://${host}/v1/archive/files/${file}/content`, {
        headers: { host, authorization: `Bearer ${Redacted.value(key)}`, ...passwordHeader(), ...headers }
      })
    )
    return await response.arrayBuffer().then((bytes) => bytes.byteLength, () => null)
  })
})

const blobOf = (id: string, file: string) =>
  Effect.map(
    World.query<{ blob: string }>(
      id,
      (sql) => sql`select blob_id::text as blob from archive_file where file_id = ${file}`
    ),
    ([row]) => row?.blob ?? ""
  )

const stage = Effect.gen(function*() {
  const made = yield* makeExported
  const store = yield* BlobStore
  const [first, second, third] = made.files.map(({ id }) => id)
  const remove = (file = "") => Effect.flatMap(blobOf(made.id, file), (blob) => store.remove(only(blob)))
  /** Changes the last byte of an object of so many bytes. */
  const damage = Effect.fnUntraced(function*(file: string, size: number) {
    const blob = yield* blobOf(made.id, file)
    const parts = yield* Stream.runCollect(store.get(only(blob), { start: 0, end: size }))
    const bytes = Buffer.concat(parts)
    bytes[size - 1] = (bytes[size - 1] ?? 0) ^ 1
    yield* remove(file)
    yield* store.put(blob, size, Stream.make(bytes))
  })
  const states = Effect.map(
    World.get(`/v1/archive/accounts/${made.accountId}/files`, made.key),
    ({ body }) => body.data.map(({ state }: { state: string }) => state)
  )
  return { ...made, first: first ?? "", second: second ?? "", third: third ?? "", damage, remove, states }
})

describe("10.11 files whose contents are missing or damaged", () => {
  layer(World.world(postgres))((it) => {
    it.effect("end their download early, stay saved, and are journaled once for all readers", () =>
      Effect.gen(function*() {
        const { accountId, damage, first, id, key, remove, second, states, third } = yield* stage
        expect(yield* fetchFile(key, third)).toBe(contents[2].length)
        expect(yield* events(id)).toEqual([])
        const one = { account_id: accountId, details: { files: 1 } }
        yield* remove(second)
        for (let reader = 0; reader < 2; reader++) expect(yield* fetchFile(key, second)).toBe(null)
        expect(yield* events(id)).toEqual([one])
        // Three chunks, of which the last is damaged: parts before it are read.
        const size = contents[0].length + 3 * 16
        yield* damage(first, size)
        expect(yield* fetchFile(key, first, { range: "bytes=0-99999" })).toBe(100_000)
        expect(yield* events(id)).toEqual([one])
        expect(yield* fetchFile(key, first)).toBe(null)
        expect(yield* events(id)).toEqual([one, one])
        expect(yield* states).toEqual(["saved", "saved", "saved"])
      }))

    it.effect("are found by an export too, which names them in its manifest", () =>
      Effect.gen(function*() {
        const { accountId, create, id, key, remove, second, third } = yield* stage
        yield* remove(second)
        yield* remove(third)
        const { body } = yield* create("json", { media: true })
        for (let reader = 0; reader < 2; reader++) expect((yield* download(key, body.id)).status).toBe(200)
        expect(yield* events(id)).toEqual([{ account_id: accountId, details: { files: 2 } }])
        yield* fetchFile(key, second)
        expect(yield* events(id)).toHaveLength(1)
      }))

    it.effect("are found after any number that are known already", () =>
      Effect.gen(function*() {
        const { accountId, first, id, key } = yield* stage
        const known = yield* (yield* Credentials).authenticate(key, `${World.baseUrl}/v1`)
        const caller = Caller.of({ ...known, via: "rest", ip: null, requestId: null })
        const others = Array.from({ length: 1000 }, () => crypto.randomUUID())
        yield* noteUnreadableFiles(caller, accountId, [...others, first])
        expect(yield* events(id)).toEqual([{ account_id: accountId, details: { files: 1 } }])
      }))

    it.effect("are not noted while the store does not answer", () =>
      Effect.gen(function*() {
        const { first, id, key } = yield* stage
        const away = BlobStore.of({
          ...(yield* BlobStore),
          get: () => Stream.fail(new BlobStoreFailed({ why: "unavailable", reason: "The test says so" }))
        })
        expect(yield* Effect.provideService(fetchFile(key, first), BlobStore, away)).toBe(null)
        expect(yield* events(id)).toEqual([])
      }))

    it.effect("are not noted while the database does not answer for their key, which is 503", () =>
      Effect.gen(function*() {
        const { first, id, key } = yield* stage
        const db = yield* Db
        const away = Effect.die("The database is away")
        const answer = World.send("GET", `/v1/archive/files/${first}/content`, { key, headers: passwordHeader() }).pipe(
          Effect.provideService(ArchiveFiles, { ...(yield* ArchiveFiles), frames: () => Effect.succeed([]) }),
          Effect.provideService(Epochs, { ...(yield* Epochs), sealed: () => away }),
          Effect.provideService(Db, {
            ...db,
            read: (organizationId, effect) =>
              Effect.catchDefect(db.read(organizationId, effect), () => Effect.fail(new ServiceUnavailable()))
          })
        )
        const { body, status } = yield* answer
        expect([status, body.error.code]).toEqual([503, "service_unavailable"])
        expect(yield* events(id)).toEqual([])
      }))

    it.effect("are noted once where two readers find one at the same time, and after a writer of the account's archive has ended", () =>
      Effect.gen(function*() {
        const { accountId, first, id } = yield* stage
        const sql = yield* SqlClient.SqlClient
        const unreadables = yield* ArchiveUnreadables
        const account = { organizationId: id, accountId }
        const written = yield* Latch.make()
        const end = yield* Latch.make()
        const waiting = sql`select 1 from pg_locks where not granted
          and pid in (select pid from pg_stat_activity where datname = current_database())`
        const writer = yield* Effect.forkChild(Fixtures.within(
          id,
          Effect.gen(function*() {
            yield* sql`select 1 from archive_state where account_id = ${accountId} for no key update`
            yield* written.open
            yield* end.await
          })
        ))
        yield* written.await
        const reader = Fixtures.within(id, unreadables.noteFiles(account, [first], new Date(0)))
        const readers = yield* Effect.forkChild(Effect.all([reader, reader], { concurrency: 2 }))
        expect(yield* Effect.repeat(waiting, { until: (rows) => rows.length === 2, times: 1000 })).toHaveLength(2)
        yield* end.open
        yield* Fiber.join(writer)
        expect((yield* Fiber.join(readers)).toSorted()).toEqual([0, 1])
      }))

    it.effect("are noted for at most 100 of an account in an hour", () =>
      Effect.gen(function*() {
        const { accountId, id } = yield* makeExported
        yield* World.query<object>(
          id,
          (sql) =>
            sql`
            insert into archive_file (organization_id, account_id, file_id, chat_id, message_id, day, blob_id, state, at)
            select organization_id, account_id, gen_random_uuid(), chat_id, message_id, day, blob_id, state, at
            from archive_file, generate_series(1, 100)`
        )
        const files = yield* World.query<{ file: string }>(
          id,
          (sql) => sql`select file_id::text as file from archive_file where organization_id = ${id}`
        )
        const account = { organizationId: id, accountId }
        const note = Effect.fnUntraced(function*(at: number) {
          const unreadables = yield* ArchiveUnreadables
          const db = yield* Db
          return yield* db.transaction(id, unreadables.noteFiles(account, files.map(({ file }) => file), new Date(at)))
        })
        expect([files.length, yield* note(0), yield* note(0), yield* note(3_599_999)]).toEqual([303, 100, 0, 0])
        expect(yield* note(3_600_000)).toBe(100)
      }))
  })
})
