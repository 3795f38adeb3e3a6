import { Effect, type Schema } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import { toBase64 } from "../../domain/archive/Bytes.ts"
import { SealedFileList } from "../../domain/archive/SealedArchive.ts"
import { sealedFilesParts } from "../../domain/archive/SealedRequests.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders, type Caller } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { ArchiveFiles, type FoundFile } from "../../ports/archive/ArchiveFiles.ts"
import { ArchiveReads } from "../../ports/archive/ArchiveReads.ts"
import { Db } from "../../ports/Db.ts"
import { onePart } from "./OnePart.ts"
import { nobody } from "./RequiredFile.ts"
import * as samples from "./sealed.samples.ts"
import { SealedAnswer } from "./SealedAnswer.ts"

type Parts = Schema.Struct.Type<typeof sealedFilesParts>

/** Those of the accounts that the caller can access, after the same statements whatever they are. */
const reached = (caller: Caller["Service"], accountIds: ReadonlyArray<AccountId>) =>
  Effect.map(
    Effect.flatMap(Accounts, (accounts) => accounts.archived(caller, accountIds.length === 0 ? [nobody] : accountIds)),
    (ids) => new Set(ids)
  )

const filesOf = Effect.fnUntraced(function*(caller: Caller["Service"], { files, list }: Parts) {
  const port = yield* ArchiveFiles
  if (files !== undefined) {
    const found = yield* port.find(caller.organizationId, files)
    const accounts = yield* reached(caller, [...new Set(found.map(({ accountId }) => accountId))])
    return found.filter(({ accountId }) => accounts.has(accountId))
  }
  if (list === undefined) return []
  const { account_id, after, chat_id, limit, state } = list
  return yield* port.list({ organizationId: caller.organizationId, accountId: account_id }, {
    chatId: chat_id === undefined ? null : BigInt(chat_id),
    state: state ?? null,
    after: after ?? null,
    limit
  })
})

const pagesOf = Effect.fnUntraced(function*(
  { organizationId }: Caller["Service"],
  { account_id, messages, skip }: NonNullable<Parts["messages"]>,
  answer: SealedAnswer
) {
  const account = { organizationId, accountId: account_id }
  const places = messages.map(({ chat_id, day, message_id }) => ({
    chatId: BigInt(chat_id),
    day,
    messageId: BigInt(message_id)
  }))
  const found = yield* (yield* ArchiveFiles).frames(account, places)
  const rest = found.toSorted((one, other) => one.number < other.number ? -1 : 1).slice(skip)
  return answer.take(rest, ({ sealed }) => sealed.length).map((page) => ({
    ...answer.seal(account, page),
    chat_id: String(page.chatId)
  }))
})

const fileOf = ({ organizationId }: Caller["Service"], answer: SealedAnswer) => (file: FoundFile) => {
  const { accountId, at, chatId, content, day, fileId, messageId, reason, state } = file
  if (content !== null) answer.need({ organizationId, accountId }, content.epochId)
  return {
    file: fileId,
    account_id: accountId,
    chat_id: String(chatId),
    message_id: String(messageId),
    day,
    state,
    reason,
    at,
    content: content === null ? null : {
      blob_id: content.blobId,
      epoch_id: String(content.epochId),
      key: toBase64(content.key),
      bytes: content.bytes,
      sha256: toBase64(content.sha256)
    }
  }
}

export const listSealedFiles = Operation.sealed(
  "list_sealed_files",
  {
    summary: "Read what is stored of files: their contents' sealed keys, and the sealed pages that have their names.",
    description:
      "For connections that open the archive on their user's own machine. A request has one of files, list and messages. An answer has 4 MiB of sealed bytes or its first page: where has_more is true, ask for the rest. Nothing in it can be read without the archive password.",
    method: "POST",
    path: "/v1/archive/sealed/files",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    body: sealedFilesParts,
    failures: [ResourceMissing],
    success: SealedFileList,
    sample: samples.listSealedFiles
  },
  Effect.fnUntraced(function*(asked, { caller }) {
    yield* onePart(asked)
    const { list, messages } = asked
    const db = yield* Db
    const answer = new SealedAnswer()
    const account = (list ?? messages)?.account_id
    const { files, pages } = yield* db.read(
      caller.organizationId,
      Effect.gen(function*() {
        if (account !== undefined && !(yield* reached(caller, [account])).has(account)) {
          return yield* new ResourceMissing({ param: "account_id" })
        }
        const files = yield* filesOf(caller, asked)
        const pages = messages === undefined ? [] : yield* pagesOf(caller, messages, answer)
        return { files: files?.map(fileOf(caller, answer)) ?? null, pages }
      })
    )
    const epochs = yield* answer.keys()
    const reads = yield* ArchiveReads
    const accounts = new Set(account === undefined ? files?.map(({ account_id }) => account_id) : [account])
    yield* reads.note(caller, Array.from(accounts, (accountId) => ({ accountId })))
    return { object: "sealed_files" as const, files, pages, epochs, has_more: answer.has_more }
  })
)
