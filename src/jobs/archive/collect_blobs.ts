import { Duration, Effect } from "effect"
import { removeBlob } from "../../archive/BlobRemoval.ts"
import { after, before, now } from "../../domain/Moments.ts"
import { ArchiveBlobs, type BlobDue } from "../../ports/archive/ArchiveBlobs.ts"
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

/** Removes the object and its row; one that cannot be removed is behind the others that are due. */
const remove = (blob: BlobDue) =>
  Effect.catchTag(removeBlob(blob), "BlobStoreFailed", (failure) =>
    Effect.gen(function*() {
      yield* Effect.logWarning("An object of a deleted file cannot be removed yet", failure)
      const time = yield* now
      const lockedUntil = failure.why === "refused" ? after(time, refusalPause) : null
      const blobs = yield* ArchiveBlobs
      const db = yield* Db
      yield* db.transaction(blob.organizationId, blobs.leave(blob, { version: blob.version, lockedUntil }, time))
    }))

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
