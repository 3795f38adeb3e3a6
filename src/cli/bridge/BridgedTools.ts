/** Tools that the bridge answers on its user's machine: those of the archive that need its password. */
import { Effect, Result, Schema, Stream } from "effect"
import { describeFile } from "../../archive/FileReader.ts"
import type { LocalArchive } from "../../archive/LocalOpening.ts"
import { type OpenAccount, openAccount } from "../../archive/Reader.ts"
import { remoteBudget } from "../../archive/Search.ts"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { Content } from "../../domain/Content.ts"
import { errorBody, type Failure, InternalError, ResourceMissing } from "../../domain/Failure.ts"
import { contentNotice } from "../../domain/JsonShapes.ts"
import * as Encoding from "../../kernel/Encoding.ts"
import type * as Operation from "../../kernel/Operation.ts"
import { parameterInvalid } from "../../kernel/Refusals.ts"
import { failByRefusal } from "../../layers/archive/RemoteArchive.ts"
import * as AnswerText from "../../mcp/AnswerText.ts"
import * as Contents from "../../mcp/Contents.ts"
import * as DirectCalls from "../../mcp/DirectCalls.ts"
import { answerContent, downloadFile } from "../../operations/archive/download_file.ts"
import { answerChat, getChat } from "../../operations/archive/get_chat.ts"
import { getFile } from "../../operations/archive/get_file.ts"
import { answerMessage, getMessage } from "../../operations/archive/get_message.ts"
import { answerMembers, listChatMembers } from "../../operations/archive/list_chat_members.ts"
import { answerChats, listChats } from "../../operations/archive/list_chats.ts"
import { answerFiles, listFiles } from "../../operations/archive/list_files.ts"
import { answerEdits, listMessageEdits } from "../../operations/archive/list_message_edits.ts"
import { answerMessages, listMessages } from "../../operations/archive/list_messages.ts"
import { answerSearch, parseSearch, searchMessages } from "../../operations/archive/search_messages.ts"
import { ArchiveFiles } from "../../ports/archive/ArchiveFiles.ts"
import { RemoteRefusal } from "../../ports/archive/SealedArchive.ts"
import { answer, codes } from "../../transport/Answer.ts"
import { BridgeArchive } from "./BridgeArchive.ts"
import { BridgeService } from "./BridgeService.ts"

type Services =
  | BridgeArchive
  | BridgeService
  | Effect.Services<ReturnType<typeof answerContent>>
  | Effect.Services<ReturnType<typeof answerMessages>>
  | Effect.Services<ReturnType<typeof answerSearch>>

/** The answer of an operation, with the content that it describes. */
type RunAnswer = object & { readonly content?: Content }

/** The answer of a tool by the raw arguments of its call; a refusal of the service is a defect. */
type Tool = (raw: unknown) => Effect.Effect<DirectCalls.ToolAnswer, Failure, Services>

/** A tool by its operation. Its checks come in the operation's order: input, password, access. */
const tool = <I>(
  operation: Operation.Any,
  input: Schema.Codec<I, unknown>,
  run: (input: I, archive: LocalArchive) => Effect.Effect<RunAnswer, Failure, Services>
): readonly [string, Tool] => {
  const decode = Schema.decodeUnknownResult(input, { onExcessProperty: "error" })
  const write = Encoding.writer(operation.success)
  const head = operation.thirdPartyText ? { content_notice: contentNotice } : {}
  const answered: Tool = Effect.fnUntraced(function*(raw) {
    const decoded = decode(raw)
    if (Result.isFailure(decoded)) return yield* parameterInvalid(decoded.failure.issue)
    const archive = yield* (yield* BridgeArchive).open
    const { content, ...read } = yield* run(decoded.success, archive)
    const written = yield* write({ ...head, ...read })
    const resource = content === undefined ? undefined : yield* Contents.embed(operation, raw, content)
    return { text: AnswerText.render(operation, written), structured: written.text, resource }
  }, Effect.scoped)
  return [operation.id, answered]
}

/** The account of an input, opened. */
const opened = ({ account_id }: { readonly account_id: AccountId }, archive: LocalArchive): OpenAccount =>
  openAccount({ organizationId: archive.key.organizationId, accountId: account_id }, archive)

const search = Effect.fnUntraced(function*(
  input: Parameters<typeof parseSearch>[0],
  archive: LocalArchive
) {
  const parsed = yield* parseSearch(input, archive.key.organizationId)
  const named = input.account_ids
  const accounts = named === undefined ? yield* (yield* BridgeService).accounts : [...new Set(named)]
  return yield* answerSearch(parsed, accounts, archive, remoteBudget)
})

/** The file, and its account opened. */
const fileOf = Effect.fnUntraced(function*({ file_id }: { readonly file_id: string }, archive: LocalArchive) {
  const [file] = yield* (yield* ArchiveFiles).find(archive.key.organizationId, [file_id])
  if (file === undefined) return yield* new ResourceMissing({ param: "file_id" })
  return { file, open: opened({ account_id: file.accountId }, archive) }
})

const download = Effect.fnUntraced(function*(
  input: { readonly file_id: string },
  archive: LocalArchive
) {
  const { file, open } = yield* fileOf(input, archive)
  const { sealedFile } = yield* BridgeService
  const content = yield* answerContent(
    file,
    open,
    () => ({ end, start }) =>
      Stream.fromEffect(Effect.map(sealedFile(file.fileId), (bytes) => bytes.subarray(start, end)))
  )
  return { object: "content", ...content, content }
})

/** The tools by their names, which are those of the operations. */
export const tools: ReadonlyMap<string, Tool> = new Map([
  tool(listChats, listChats.input, (input, archive) => answerChats(input, opened(input, archive))),
  tool(getChat, getChat.input, (input, archive) => answerChat(input, opened(input, archive))),
  tool(listMessages, listMessages.input, (input, archive) => answerMessages(input, opened(input, archive))),
  tool(getMessage, getMessage.input, (input, archive) => answerMessage(input, opened(input, archive))),
  tool(searchMessages, searchMessages.input, search),
  tool(listChatMembers, listChatMembers.input, (input, archive) => answerMembers(input, opened(input, archive))),
  tool(listMessageEdits, listMessageEdits.input, (input, archive) => answerEdits(input, opened(input, archive))),
  tool(listFiles, listFiles.input, (input, archive) => answerFiles(input, opened(input, archive))),
  tool(
    getFile,
    getFile.input,
    (input, archive) => Effect.flatMap(fileOf(input, archive), ({ file, open }) => describeFile(open, file))
  ),
  tool(downloadFile, downloadFile.input, download)
])

const statuses = [400, 401, 403, 404, 409, 429, 500, 503] as const

/** A refusal of the service, in the form of its own answers. */
const refusal = ({ code, message, param }: RemoteRefusal) => {
  const status = statuses.find((one) => one === codes.get(code)) ?? 503
  const failure = { _tag: code, message, ...(param === undefined ? {} : { param }) }
  return { status, headers: {}, body: errorBody(failure, status) }
}

const isRefusal = Schema.is(RemoteRefusal)

/** Calls a tool of this machine; whatever fails is a result with the body that the failure has at the service. */
export const call = (answered: Tool, raw: unknown): Effect.Effect<DirectCalls.ToolAnswer, never, Services> =>
  failByRefusal(answered(raw)).pipe(
    Effect.catch((failure) =>
      Effect.succeed(DirectCalls.failed(isRefusal(failure) ? refusal(failure) : answer(failure)))
    ),
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logError("A tool of the bridge failed", cause),
        DirectCalls.failed(answer(new InternalError({})))
      )
    )
  )
