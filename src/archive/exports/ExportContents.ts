/** The contents of archived files, as exports read them. */
import { Effect, Redacted, Schema, Stream } from "effect"
import { BlobStore } from "../../ports/archive/BlobStore.ts"
import { ExportRecords } from "../../ports/archive/ExportRecords.ts"
import { Db } from "../../ports/Db.ts"
import { openBlob, openFileKey } from "../BlobSealing.ts"
import { epochKeyOf, type OpenAccount } from "../OpenedFrames.ts"
import type { ExportedFile } from "./ExportedChat.ts"

/** A content is not there or does not open, from a place of it on; `sealed` is one that another archive key may open. */
export class ContentUnreadable extends Schema.TaggedError<ContentUnreadable>()("ContentUnreadable", {
  reason: Schema.Literals(["deleted", "missing", "changed", "sealed"])
}) {}

/** The store of files does not answer now. */
export class StoreSilent extends Schema.TaggedError<StoreSilent>()("StoreSilent", {}) {}

const unreadable = (reason: ContentUnreadable["reason"]) => new ContentUnreadable({ reason })

/**
 * Reads the content of a file; `lost` is called for one that is missing or does not open. A store that does not answer now
 * ends the export, which is then to be gone on with; its content is not unreadable.
 */
export const readContent = (open: OpenAccount, lost: (fileId: string) => void) => (file: ExportedFile) =>
  Stream.unwrap(Effect.gen(function*() {
    const db = yield* Db
    const exports = yield* ExportRecords
    const store = yield* BlobStore
    const { account } = open
    const found = yield* db.read(account.organizationId, exports.content(account, file.id))
    if (found === null) return yield* unreadable("deleted")
    const opened = Effect.flatMap(
      epochKeyOf(open, found.epochId),
      (epoch) => openFileKey(epoch, found.blobId, found.key)
    )
    const key = yield* Effect.mapError(
      opened,
      (failure) =>
        failure._tag === "ArchiveUnreadable" ? unreadable(failure.part === "epoch" ? "sealed" : "changed") : failure
    )
    const bytes = openBlob(
      key,
      { ...account, blobId: found.blobId },
      found.size,
      (range) =>
        Stream.mapError(
          store.get(found, range),
          ({ why }) =>
            why === "unavailable"
              ? new StoreSilent({})
              : unreadable(why === "missing" ? "missing" : "changed")
        )
    ).pipe(Stream.catchTag("ContentBroken", () => Stream.fail(unreadable("changed"))))
    return Stream.ensuring(bytes, Effect.sync(() => void Redacted.value(key).fill(0)))
  })).pipe(
    Stream.tapError((failure) =>
      Effect.sync(() => {
        if (failure._tag === "ContentUnreadable" && failure.reason !== "deleted") lost(file.id)
      })
    )
  )
