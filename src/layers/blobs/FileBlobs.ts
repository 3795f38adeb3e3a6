/** Objects as files of a directory that this process, or processes with a shared file system, have for themselves. */
import { Effect, Layer, Stream } from "effect"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { isBlobId, sealedChunkSize } from "../../domain/archive/Blob.ts"
import { BlobStore, BlobStoreFailed } from "../../ports/archive/BlobStore.ts"

/** Whole sealed chunks, so that none has to be put together from two reads. */
const readSize = 4 * sealedChunkSize

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unknown"

const whys: Readonly<Record<string, BlobStoreFailed["why"]>> = { EEXIST: "exists", ENOENT: "missing" }

/** The failure by the system's code; paths are left out. */
const failure = (what: string) => (cause: unknown) =>
  cause instanceof BlobStoreFailed
    ? cause
    : new BlobStoreFailed({ why: whys[codeOf(cause)] ?? "unavailable", reason: `${what}: ${codeOf(cause)}` })

const attempt = <A>(what: string, run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: failure(what) })

const wrongSize = () => new BlobStoreFailed({ why: "size", reason: "An object has not the size that it was to have" })

const notThere = () => new BlobStoreFailed({ why: "missing", reason: "An object is not there" })

/** Names are on the disk only once their directory is. */
const syncDirectory = async (directory: string) => {
  const handle = await fs.open(directory, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const writeAll = async (handle: fs.FileHandle, bytes: Uint8Array) => {
  for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at)).bytesWritten
}

const exists = (file: string) =>
  fs.access(file).then(() => true, (cause: unknown) => {
    if (codeOf(cause) === "ENOENT") return false
    throw cause
  })

/** The directory of objects in a data directory. */
export const within = (directory: string): string => path.join(directory, "blobs")

/** The store in the directory, which it creates; nobody else may read it. */
export const layer = (root: string) =>
  Layer.sync(BlobStore, () => {
    /** Objects are spread over 256 directories. */
    const placeOf = Effect.fnUntraced(function*(id: string) {
      if (!isBlobId(id)) return yield* notThere()
      const directory = path.join(root, id.slice(0, 2))
      return { directory, file: path.join(directory, id), part: path.join(directory, `${id}.part`) }
    })

    const prepare = async (directory: string) => {
      const made = await fs.mkdir(directory, { recursive: true, mode: 0o700 })
      if (made !== undefined) await syncDirectory(path.dirname(made))
      if (made !== undefined && made !== directory) await syncDirectory(path.dirname(directory))
    }

    return BlobStore.of({
      isConfigured: true,
      put: Effect.fnUntraced(function*<E, R>(id: string, size: number, bytes: Stream.Stream<Uint8Array, E, R>) {
        const { directory, file, part } = yield* placeOf(id)
        yield* attempt("An object's directory was not made", () => prepare(directory))
        // Another process that writes the same object has its part, and fails this one.
        const opened = attempt("An object was not begun", () => fs.open(part, "wx", 0o600))
        const write = Effect.fnUntraced(function*(handle: fs.FileHandle) {
          let written = 0
          yield* Stream.runForEach(bytes, (chunk) => {
            written += chunk.length
            return written > size
              ? Effect.fail(wrongSize())
              : attempt("An object was not written", () => writeAll(handle, chunk))
          })
          if (written !== size) return yield* wrongSize()
          yield* attempt("An object was not written", async () => {
            await handle.sync()
            if (await exists(file)) {
              throw new BlobStoreFailed({ why: "exists", reason: "There is such an object already" })
            }
            await fs.rename(part, file)
            await syncDirectory(directory)
          })
          return { version: null, lockedUntil: null }
        })
        return yield* Effect.acquireUseRelease(opened, write, (handle) =>
          Effect.ignore(attempt("An object's part was not removed", async () => {
            await handle.close()
            // It is there only where the write has failed.
            await fs.rm(part, { force: true })
          })))
      }),

      get: ({ blobId }, { end, start }) =>
        Stream.unwrap(Effect.gen(function*() {
          const { file } = yield* placeOf(blobId)
          const handle = yield* Effect.acquireRelease(
            attempt("An object was not opened", () =>
              fs.open(file, "r")),
            (handle) =>
              Effect.ignore(attempt("An object was not closed", () =>
                handle.close()))
          )
          const next = async (at: number) => {
            const buffer = Buffer.allocUnsafeSlow(Math.min(readSize, end - at))
            const { bytesRead } = await handle.read(buffer, 0, buffer.length, at)
            if (bytesRead === 0) throw wrongSize()
            return [buffer.subarray(0, bytesRead), at + bytesRead] as const
          }
          return Stream.unfold(start, (at) =>
            at >= end ? Effect.succeed(undefined) : attempt("An object was not read", () => next(at)))
        })),

      remove: ({ blobId }) =>
        placeOf(blobId).pipe(
          Effect.flatMap(({ directory, file, part }) =>
            attempt("An object was not removed", async () => {
              await fs.rm(part, { force: true })
              await fs.rm(file, { force: true })
              if (await exists(directory)) await syncDirectory(directory)
            })
          ),
          Effect.catchIf(({ why }) => why === "missing", () => Effect.void),
          Effect.as(null)
        ),

      exists: (id) =>
        placeOf(id).pipe(
          Effect.flatMap(({ file }) => attempt("An object was not looked for", () => exists(file))),
          Effect.catchIf(({ why }) => why === "missing", () => Effect.succeed(false))
        )
    })
  })
