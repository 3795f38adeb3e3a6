import { Effect } from "effect"
import { storedBytes } from "../../archive/BlobSealing.ts"
import { sealedSize } from "../../domain/archive/Blob.ts"
import { TargetFile } from "../../domain/archive/Message.ts"
import type { Content } from "../../domain/Content.ts"
import { FileNotSaved, ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import type { FoundFile } from "../../ports/archive/ArchiveFiles.ts"
import { ArchiveReads } from "../../ports/archive/ArchiveReads.ts"
import { BlobStore } from "../../ports/archive/BlobStore.ts"
import { requireFile } from "./RequiredFile.ts"
import * as samples from "./sealed.samples.ts"
import { watchFile } from "./WatchedContent.ts"

/** The object as it is stored: neither its name nor its type says anything of what it holds. */
const storedContent = (
  store: BlobStore["Service"],
  { fileId }: FoundFile,
  content: NonNullable<FoundFile["content"]>
): Content => {
  const size = sealedSize(content.bytes)
  return {
    media_type: "application/octet-stream",
    file_name: `${fileId}.sealed`,
    size,
    ranges: true,
    // An object never changes.
    version: content.blobId,
    bytes: (range = { start: 0, end: size }) => storedBytes(store, content)(range)
  }
}

export const downloadSealedFile = Operation.sealedStream(
  "download_sealed_file",
  {
    summary: "Download the content of an archived file as it is stored, in sealed chunks.",
    description:
      "For connections that open the archive on their user's own machine: list_sealed_files has the sealed key. Each chunk of 65,536 bytes is 65,552 bytes sealed, so that a part can be asked for by the header Range and opened alone.",
    method: "GET",
    path: "/v1/archive/sealed/files/:file_id",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params: { file_id: TargetFile },
    failures: [ResourceMissing, FileNotSaved],
    content: { mediaType: "application/octet-stream" },
    sample: samples.downloadSealedFile
  },
  Effect.fnUntraced(function*({ file_id }, { caller }) {
    const file = yield* requireFile(caller, file_id)
    const { accountId, content } = file
    if (content === null) return yield* new FileNotSaved({})
    const answer = storedContent(yield* BlobStore, file, content)
    yield* (yield* ArchiveReads).note(caller, [{ accountId, files: 1 }])
    return yield* watchFile(caller, file, answer)
  })
)
