/** ZIP files as they lie on a disk, read an entry at a time. */
import { Effect, Schema } from "effect"
import * as yauzl from "yauzl"

/** The file is no ZIP, or is not whole. */
export class ZipBroken extends Schema.TaggedError<ZipBroken>()("ZipBroken", { reason: Schema.String }) {}

const broken = (error: unknown) => new ZipBroken({ reason: error instanceof Error ? error.message : String(error) })

/** An entry while it is read. */
export interface ZipFile {
  readonly path: string
  /** Passes each piece of the content to `take`, until the end. */
  readonly read: (take: (piece: Uint8Array) => void) => Effect.Effect<void, ZipBroken>
}

const openZip = (file: string) =>
  Effect.callback<yauzl.ZipFile, ZipBroken>((resume) => {
    // Names are only compared, and never become a path on the disk: each is read as it is.
    yauzl.open(
      file,
      { autoClose: false, decodeStrings: true, lazyEntries: true, validateEntrySizes: true },
      (error, zip) => {
        resume(error === null ? Effect.succeed(zip) : Effect.fail(broken(error)))
      }
    )
  })

/** The next entry; null at the end. */
const nextEntry = (zip: yauzl.ZipFile) =>
  Effect.callback<yauzl.Entry | null, ZipBroken>((resume) => {
    const end = (answer: Effect.Effect<yauzl.Entry | null, ZipBroken>) => {
      zip.removeAllListeners("entry").removeAllListeners("end").removeAllListeners("error")
      resume(answer)
    }
    zip.once("entry", (entry: yauzl.Entry) => end(Effect.succeed(entry)))
    zip.once("end", () => end(Effect.succeed(null)))
    zip.once("error", (error: unknown) => end(Effect.fail(broken(error))))
    zip.readEntry()
  })

const readEntry = (zip: yauzl.ZipFile, entry: yauzl.Entry): ZipFile["read"] => (take) =>
  Effect.callback<void, ZipBroken>((resume) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error !== null) {
        resume(Effect.fail(broken(error)))
        return
      }
      stream.on("data", take)
      stream.once("error", (cause) => resume(Effect.fail(broken(cause))))
      stream.once("end", () => resume(Effect.void))
    })
  })

/** Runs for each entry, in the order of the list at the file's end; an entry that is not read is passed over. */
export const forEachEntry = <E, R>(file: string, run: (entry: ZipFile) => Effect.Effect<void, E, R>) =>
  Effect.acquireUseRelease(
    openZip(file),
    (zip) =>
      Effect.gen(function*() {
        for (let entry = yield* nextEntry(zip); entry !== null; entry = yield* nextEntry(zip)) {
          yield* run({ path: entry.fileName, read: readEntry(zip, entry) })
        }
      }),
    (zip) => Effect.sync(() => zip.close())
  )
