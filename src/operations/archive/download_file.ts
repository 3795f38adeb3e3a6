import { Effect } from "effect"
import { storedBytes } from "../../archive/BlobSealing.ts"
import { describeFile, openContent } from "../../archive/FileReader.ts"
import { type OpenAccount, openAccount } from "../../archive/Reader.ts"
import { TargetFile } from "../../domain/archive/Message.ts"
import { ContentUnreadable, FileNotSaved, ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { noteUnreadableFiles } from "../../kernel/runners/UnreadableNotes.ts"
import type { FileContent, FoundFile } from "../../ports/archive/ArchiveFiles.ts"
import { ArchiveReads } from "../../ports/archive/ArchiveReads.ts"
import { BlobStore } from "../../ports/archive/BlobStore.ts"
import * as samples from "./files.samples.ts"
import { requireFile } from "./RequiredFile.ts"
import { watchFile } from "./WatchedContent.ts"

/** The content of a file of an opened account. */
export const answerContent = Effect.fnUntraced(function*(
  file: FoundFile,
  open: OpenAccount,
  stored: (content: FileContent) => Parameters<typeof openContent>[3]
) {
  const { content } = file
  if (content === null) return yield* new FileNotSaved({})
  const described = yield* describeFile(open, file)
  return yield* Effect.catchTag(
    openContent(open, described, content, stored(content)),
    "ArchiveUnreadable",
    () => Effect.fail(new ContentUnreadable({}))
  )
})

export const downloadFile = Operation.stream(
  "download_file",
  {
    summary: "Download the content of an archived file.",
    description: "A part of it can be asked for by the header Range.",
    method: "GET",
    path: "/v1/archive/files/:file_id/content",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params: { file_id: TargetFile },
    failures: [ResourceMissing, FileNotSaved, ContentUnreadable],
    sample: samples.downloadFile
  },
  Effect.fnUntraced(function*({ file_id }, { archive, caller }) {
    const file = yield* requireFile(caller, file_id)
    const { accountId } = file
    const open = openAccount({ organizationId: caller.organizationId, accountId }, archive)
    const store = yield* BlobStore
    const answer = yield* Effect.tapErrorTag(
      answerContent(file, open, (content) => storedBytes(store, content)),
      "content_unreadable",
      () => archive.isReplaced ? Effect.void : noteUnreadableFiles(caller, accountId, [file_id])
    )
    yield* (yield* ArchiveReads).note(caller, [{ accountId, files: 1 }])
    return yield* watchFile(caller, file, answer)
  })
)
