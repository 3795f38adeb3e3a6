import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as MemoryBlobs from "../../src/layers/blobs/MemoryBlobs.ts"
import { BlobStore, BlobStoreFailed } from "../../src/ports/archive/BlobStore.ts"
import * as Captured from "../support/archive/captured.ts"
import { makeRule } from "../support/archive/rules.ts"
import { pglite } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

/** The failure of whatever is stored next, and how often something was. */
const faults: { why: BlobStoreFailed["why"] | null; puts: number } = { why: null, puts: 0 }

const store = Layer.effect(
  BlobStore,
  Effect.map(BlobStore, (objects) =>
    BlobStore.of({
      ...objects,
      put: (id, size, bytes) =>
        Effect.suspend(() => {
          faults.puts += 1
          return faults.why === null
            ? objects.put(id, size, bytes)
            : Effect.fail(new BlobStoreFailed({ why: faults.why, reason: "The disk is full" }))
        })
    }))
).pipe(Layer.provide(MemoryBlobs.layer))

const file = (name: string) => ({
  messengerFile: name,
  name,
  mimeType: "application/pdf",
  content: Buffer.from(name).toString("base64")
})

const files = (organizationId: string) =>
  Effect.map(
    World.query<{ state: string; attempts: number }>(
      organizationId,
      (sql) =>
        sql`select state, attempts from archive_file where organization_id = ${organizationId} order by message_id`
    ),
    (rows) => rows.map(({ attempts, state }) => [state, attempts])
  )

const messages = (organizationId: string) =>
  Effect.map(
    World.query<{ messages: number }>(
      organizationId,
      (sql) =>
        sql`select archive_messages::integer as messages from archive_state where organization_id = ${organizationId}`
    ),
    ([row]) => row?.messages
  )

/** A chat of three messages with a file each, and a run that an admin asks for while the store fails so. */
const failing = Effect.fnUntraced(function*(why: BlobStoreFailed["why"]) {
  const staged = yield* Captured.stageCapture()
  yield* makeRule(staged.id, "any", { live: false })
  const { chats, where } = yield* Captured.converse(staged, 1)
  for (const name of ["one", "two", "three"]) {
    yield* chats.send(where, { from: Captured.grace, text: name, kind: "document", files: [file(name)] })
  }
  const { key } = staged.admins.owner
  faults.why = why
  faults.puts = 0
  yield* World.send("POST", `/v1/accounts/${staged.account.id}/archive/backup`, { key })
  yield* runs
  return {
    staged,
    archive: Effect.map(World.get(`/v1/accounts/${staged.account.id}`, key), ({ body }) => body.archive)
  }
})

/** What `files` has of three alike. */
const three = (state: string, attempts: number) => Array.from({ length: 3 }, () => [state, attempts])

const runs = Effect.gen(function*() {
  const running = yield* Effect.forkChild(Captured.runs)
  yield* Captured.passes("5 seconds")
  yield* Fiber.join(running)
})

const backups = (organizationId: string) =>
  Effect.map(
    World.journal(organizationId),
    (events) =>
      events.flatMap(({ action, details }) =>
        action.startsWith("backup.") && action !== "backup.queued" ? [[action, details.error ?? null]] : []
      )
  )

describe("a store of files that fails", () => {
  layer(Captured.watch.pipe(Layer.provideMerge(World.world(pglite, undefined, undefined, undefined, store))))((it) => {
    it.effect("fails the run once its messages are archived, and the files are stored by a retry, which is journaled", () =>
      Effect.gen(function*() {
        const { archive, staged } = yield* failing("unavailable")
        expect([yield* files(staged.id), yield* messages(staged.id)]).toEqual([three("pending", 0), 4])
        // What reads it is the same for all.
        expect(faults.puts).toBeLessThanOrEqual(2)
        // More retries follow, the first within an hour.
        expect(yield* archive).toMatchObject({
          status: "idle",
          error: "file_store_failed",
          saving: { state: "check", reason: "error" }
        })
        expect(yield* backups(staged.id)).toEqual([["backup.failed", "file_store_failed"]])

        yield* TestClock.adjust("1 minute")
        yield* runs
        expect(yield* backups(staged.id)).toHaveLength(1)
        faults.why = null
        yield* TestClock.adjust("5 minutes")
        yield* runs
        expect(yield* files(staged.id)).toEqual(three("saved", 0))
        expect(yield* archive).toMatchObject({ status: "idle", error: null })
        expect(yield* backups(staged.id)).toEqual([["backup.failed", "file_store_failed"], ["backup.finished", null]])
      }))

    it.effect("for one file alone holds no other back", () =>
      Effect.gen(function*() {
        const { archive, staged } = yield* failing("exists")
        expect([yield* files(staged.id), yield* archive]).toEqual([
          three("pending", 1),
          expect.objectContaining({ status: "idle", error: null })
        ])
        faults.why = null
      }))
  })
})
