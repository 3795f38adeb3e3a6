/** The contents of archived files, as exports read them. */
import { Effect, Redacted, Stream } from "effect"
import { ContentBroken } from "../../domain/Content.ts"
import { BlobStore } from "../../ports/archive/BlobStore.ts"
import { ExportRecords } from "../../ports/archive/ExportRecords.ts"
import { Db } from "../../ports/Db.ts"
import { openBlob, openFileKey } from "../BlobSealing.ts"
import { epochKeyOf, type OpenAccount } from "../OpenedFrames.ts"
import type { ExportedFile } from "./ExportedChat.ts"

const broken = (reason: string) => new ContentBroken({ reason })

/** Reads the content of a file; it breaks where the content is gone, was changed, or cannot be read. */
export const readContent = (open: OpenAccount) => (file: ExportedFile) =>
  Stream.unwrap(Effect.gen(function*() {
    const db = yield* Db
    const exports = yield* ExportRecords
    const store = yield* BlobStore
    const { account } = open
    const found = yield* db.read(account.organizationId, exports.content(account, file.id))
    if (found === null) return yield* broken("a file was deleted while the export was made")
    const opened = Effect.flatMap(
      epochKeyOf(open, found.epochId),
      (epoch) => openFileKey(epoch, found.blobId, found.key)
    )
    const key = yield* Effect.mapError(
      opened,
      (failure) => failure._tag === "ArchiveUnreadable" ? broken("a file's key does not open") : failure
    )
    const bytes = openBlob(
      key,
      { ...account, blobId: found.blobId },
      found.size,
      (range) => Stream.mapError(store.get(found.blobId, range), ({ reason }) => broken(reason))
    )
    return Stream.ensuring(bytes, Effect.sync(() => void Redacted.value(key).fill(0)))
  }))
