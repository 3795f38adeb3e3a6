import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as FileBlobs from "../../../src/layers/blobs/FileBlobs.ts"
import * as MemoryBlobs from "../../../src/layers/blobs/MemoryBlobs.ts"
import { BlobStore } from "../../../src/ports/archive/BlobStore.ts"
import { laws, names, objectOf, only } from "../../support/archive/blobLaws.ts"

const inDirectory = <A, E>(use: (directory: string) => Effect.Effect<A, E, BlobStore>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "blobs-"))),
    (made) => {
      const directory = path.join(made, "data", "blobs")
      return Effect.provide(use(directory), FileBlobs.layer(directory))
    },
    (made) => Effect.sync(() => fs.rmSync(made, { recursive: true }))
  )

const filesIn = (directory: string): ReadonlyArray<string> =>
  fs.existsSync(directory)
    ? fs.readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      .map(({ name }) => name)
    : []

describe("objects", () => {
  it.effect("in memory keep the laws", () => Effect.provide(laws, MemoryBlobs.layer))

  it.effect("as files keep the laws, and leave nothing where they fail", () =>
    inDirectory((directory) =>
      Effect.gen(function*() {
        yield* laws
        expect(filesIn(directory)).toEqual([])
        expect(fs.readdirSync(path.dirname(path.dirname(directory)))).toEqual(["data"])
        expect(fs.readdirSync(path.dirname(directory))).toEqual(["blobs"])
        expect(names.length).toBeGreaterThan(3)
      })
    ))

  it.effect("as files are for the service's user alone", () =>
    inDirectory((directory) =>
      Effect.gen(function*() {
        const store = yield* BlobStore
        const id = crypto.randomUUID()
        yield* store.put(id, 3, Stream.make(objectOf(3)))
        const file = path.join(directory, id.slice(0, 2), id)
        expect([file, path.dirname(file), directory].map((name) => (fs.statSync(name).mode & 0o777).toString(8)))
          .toEqual(["600", "700", "700"])
      })
    ))

  it.effect("as files are not there before they are whole, and not after their writer was interrupted", () =>
    inDirectory((directory) =>
      Effect.gen(function*() {
        const store = yield* BlobStore
        const id = crypto.randomUUID()
        const begun = yield* Deferred.make<void>()
        const bytes = Stream.concat(
          Stream.make(objectOf(5)),
          Stream.concat(Stream.fromEffectDrain(Deferred.succeed(begun, undefined)), Stream.never)
        )
        const writing = yield* Effect.forkChild(store.put(id, 10, bytes))
        yield* Deferred.await(begun)
        expect([yield* store.exists(id), filesIn(directory)]).toEqual([false, [`${id}.part`]])
        // Whoever else writes the same object is refused, and does not touch what is there.
        expect(yield* Effect.flip(store.put(id, 3, Stream.make(objectOf(3))))).toMatchObject({ why: "exists" })
        yield* Fiber.interrupt(writing)
        expect([yield* store.exists(id), filesIn(directory)]).toEqual([false, []])
      })
    ))

  it.effect("as files that a crash left half written are removed by their id", () =>
    inDirectory((directory) =>
      Effect.gen(function*() {
        const store = yield* BlobStore
        const id = crypto.randomUUID()
        fs.mkdirSync(path.join(directory, id.slice(0, 2)), { recursive: true })
        fs.writeFileSync(path.join(directory, id.slice(0, 2), `${id}.part`), "half")
        expect(yield* store.exists(id)).toBe(false)
        yield* store.remove(only(id))
        expect(filesIn(directory)).toEqual([])
      })
    ))

  it.effect("that were cut off on the disk end with a failure", () =>
    inDirectory((directory) =>
      Effect.gen(function*() {
        const store = yield* BlobStore
        const id = crypto.randomUUID()
        yield* store.put(id, 100, Stream.make(objectOf(100)))
        fs.truncateSync(path.join(directory, id.slice(0, 2), id), 50)
        const read = yield* Effect.flip(Stream.runDrain(store.get(only(id), { start: 0, end: 100 })))
        expect(read).toMatchObject({ why: "size" })
      })
    ))
})
