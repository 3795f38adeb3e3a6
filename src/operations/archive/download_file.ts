import { Effect } from "effect"
import { describeFile, openContent } from "../../archive/FileReader.ts"
import { openAccount } from "../../archive/Reader.ts"
import { TargetFile } from "../../domain/archive/Message.ts"
import { ContentUnreadable, FileNotSaved, ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveReads } from "../../ports/archive/ArchiveReads.ts"
import * as samples from "./Files.samples.ts"
import { requireFile } from "./RequiredFile.ts"

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
    const { accountId, content } = file
    if (content === null) return yield* new FileNotSaved({})
    const open = openAccount({ organizationId: caller.organizationId, accountId }, archive)
    const described = yield* describeFile(open, file)
    const answer = yield* Effect.mapError(openContent(open, described, content), () => new ContentUnreadable({}))
    yield* (yield* ArchiveReads).note(caller, accountId, 0, 0, 1)
    return answer
  })
)
