import { Duration, Effect } from "effect"
import { after, before, now } from "../../domain/Moments.ts"
import { ArchiveBlobs, type BlobDue } from "../../ports/archive/ArchiveBlobs.ts"
import { BlobStore } from "../../ports/archive/BlobStore.ts"
import { Db } from "../../ports/Db.ts"
import * as Job from "../Job.ts"

/**
 * The time after which nobody writes an object any more whose row was not renewed. It passes twice: until the row is
 * given up, and until the object is removed, which a writer that was late may have finished between.
 */
const silence = Duration.hours(1)
/** The time after which a store is asked again that has refused to remove an object. */
const refusalPause = Duration.days(1)
const objectsPerRun = 200

/**
 * Object first, row last: a process that ends between has the object removed again, which is no fault. The row of an object
 * that is locked waits until the lock ends.
 */
const remove = Effect.fnUntraced(function*(blob: BlobDue) {
  const blobs = yield* ArchiveBlobs
  const db = yield* Db
  const store = yield* BlobStore
  const time = yield* now
  yield* store.remove(blob).pipe(
    Effect.flatMap((kept) =>
      db.transaction(blob.organizationId, kept === null ? blobs.forget(blob) : blobs.leave(blob, kept, time))
    ),
    Effect.catchTag("BlobStoreFailed", (failure) =>
      Effect.andThen(
        Effect.logWarning("An object of a deleted file cannot be removed yet", failure),
        db.transaction(
          blob.organizationId,
          failure.why === "refused"
            ? blobs.leave(blob, { version: blob.version, lockedUntil: after(time, refusalPause) }, time)
            : blobs.postpone(blob, time)
        )
      ))
  )
})

const collect = Effect.fnUntraced(function*(blob: BlobDue, silent: Date) {
  const blobs = yield* ArchiveBlobs
  const db = yield* Db
  if (blob.state === "deleting") return yield* remove(blob)
  const time = yield* now
  yield* db.transaction(blob.organizationId, blobs.abandon(blob, silent, time))
})

/** The keys of what is deleted are gone already: nothing that is still there can be read. */
export const collectBlobs = Job.make("collect_blobs", {
  period: "1 minute",
  does: "removes the objects of deleted files, and of those whose writer has ended",
  run: Effect.gen(function*() {
    const blobs = yield* ArchiveBlobs
    const time = yield* now
    const silent = before(time, silence)
    for (const blob of yield* blobs.due(silent, time, objectsPerRun)) yield* collect(blob, silent)
  })
})
