import { Effect } from "effect"
import { describeFile } from "../../archive/FileReader.ts"
import { openAccount } from "../../archive/Reader.ts"
import { SingleFile, TargetFile } from "../../domain/archive/Message.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveReads } from "../../ports/archive/ArchiveReads.ts"
import * as samples from "./files.samples.ts"
import { requireFile } from "./RequiredFile.ts"

export const getFile = Operation.unlocked(
  "get_file",
  {
    summary: "Show a file of an archived message.",
    method: "GET",
    path: "/v1/archive/files/:file_id",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params: { file_id: TargetFile },
    failures: [ResourceMissing],
    success: SingleFile,
    sample: samples.getFile
  },
  Effect.fnUntraced(function*({ file_id }, { archive, caller }) {
    const file = yield* requireFile(caller, file_id)
    const { accountId } = file
    const described = yield* describeFile(
      openAccount({ organizationId: caller.organizationId, accountId }, archive),
      file
    )
    yield* (yield* ArchiveReads).note(caller, [{ accountId }])
    return described
  })
)
