import { Effect, Schema } from "effect"
import { listFiles as readFiles } from "../../archive/FileReader.ts"
import { type OpenAccount, openAccount } from "../../archive/Reader.ts"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { FileId, FileList, FileState } from "../../domain/archive/Message.ts"
import { PlatformId } from "../../domain/archive/PlatformId.ts"
import { MessageKind } from "../../domain/archive/Records.ts"
import { defaultPageLimit } from "../../domain/JsonShapes.ts"
import { pageRows, paging } from "../../domain/Paging.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./files.samples.ts"

const query = {
  chat_id: Schema.optionalKey(PlatformId).annotateKey({ description: "Only files of this chat." }),
  kind: Schema.optionalKey(MessageKind).annotateKey({ description: "Only files of messages of this kind." }),
  state: Schema.optionalKey(FileState).annotateKey({ description: "Only files in this state." }),
  ...paging(FileId, "files", "file")
}

type Query = Schema.Struct.Type<typeof query>

/** The answer of an opened account. */
export const answerFiles = Effect.fnUntraced(function*(
  { chat_id, kind, limit = defaultPageLimit, starting_after, state }: Query,
  open: OpenAccount
) {
  const found = yield* readFiles(open, {
    chatId: chat_id === undefined ? null : BigInt(chat_id),
    kind: kind ?? null,
    state: state ?? null,
    after: starting_after ?? null,
    limit
  })
  const { files, next, unreadable } = yield* pageRows(found, "there is no such file.")
  return { object: "list" as const, data: files, has_more: next !== null, next_id: next, unreadable }
})

export const listFiles = Operation.unlocked(
  "list_files",
  {
    summary: "List the files of an archived account by the day of their messages, newest first.",
    description:
      "Where the kind leaves many out, a page may have fewer files than has_more suggests, or none: go on with next_id.",
    method: "GET",
    path: "/v1/archive/accounts/:account_id/files",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params: { account_id: TargetAccount },
    query,
    success: FileList,
    sample: samples.listFiles
  },
  (input, { account, archive, caller }) =>
    answerFiles(input, openAccount({ organizationId: caller.organizationId, accountId: account.id }, archive))
)
