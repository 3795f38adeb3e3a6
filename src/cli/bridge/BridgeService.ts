/** The service as the bridge calls it: its tools, with the tokens of the connection. */
import { Context, Effect, Layer, Option, Predicate, Schema } from "effect"
import { AccountId } from "../../domain/accounts/Account.ts"
import { readBase64 } from "../../domain/archive/Bytes.ts"
import type { CallOperation } from "../../layers/archive/RemoteArchive.ts"
import * as Stdio from "../../mcp/Stdio.ts"
import { RemoteRefusal } from "../../ports/archive/SealedArchive.ts"

/** The answer of a tool of the service: its structured content, and in base64 the bytes that it describes. */
interface ToolResult {
  readonly structured: unknown
  readonly blob: string | undefined
}

/** Calls a tool of the service. */
export type CallTool = (
  name: string,
  input: Readonly<Record<string, unknown>>
) => Effect.Effect<ToolResult, RemoteRefusal>

export class BridgeService extends Context.Service<BridgeService, {
  /** The accounts that the connection reaches, and that have archived messages. */
  readonly accounts: Effect.Effect<ReadonlyArray<AccountId>>
  /** The content of a file as it is stored; a refusal of the service is a defect. */
  sealedFile(fileId: string): Effect.Effect<Uint8Array>
}>()("org-security-console/cli/bridge/BridgeService") {}

const unknownAnswer = new RemoteRefusal({
  code: "service_unavailable",
  message: "The service gave an answer that the bridge does not know: use the same version of both."
})

const ErrorAnswer = Schema.fromJsonString(Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.String, param: Schema.optionalKey(Schema.String) })
}))

const ToolAnswer = Schema.fromJsonString(Schema.Struct({
  result: Schema.Struct({
    isError: Schema.optionalKey(Schema.Boolean),
    structuredContent: Schema.optionalKey(Schema.Unknown),
    content: Schema.Array(Schema.Struct({
      text: Schema.optionalKey(Schema.String),
      resource: Schema.optionalKey(Schema.Struct({ blob: Schema.String }))
    }))
  })
}))

const readError = Schema.decodeUnknownOption(ErrorAnswer)
const readAnswer = Schema.decodeUnknownOption(ToolAnswer)

/** The refusal that a text is. */
const refusalIn = (text: string): RemoteRefusal =>
  Option.match(readError(text), {
    onNone: () => unknownAnswer,
    onSome: ({ error }) => new RemoteRefusal(error)
  })

/** Calls tools by a function that asks `/mcp`. */
export const callTool = (ask: Stdio.Ask): CallTool =>
  Effect.fnUntraced(function*(name, input) {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } }
    const { text } = yield* ask(Stdio.plainHeaders, JSON.stringify(message)).pipe(
      Effect.mapError(({ message }) => new RemoteRefusal({ code: "service_unavailable", message }))
    )
    const answered = readAnswer(text)
    if (Option.isNone(answered)) return yield* refusalIn(text)
    const { content, isError, structuredContent } = answered.value.result
    if (isError === true) return yield* refusalIn(content[0]?.text ?? "")
    return {
      structured: structuredContent,
      blob: content.find(({ resource }) => resource !== undefined)?.resource?.blob
    }
  })

const AccountPage = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: AccountId, messages: Schema.Finite })),
  has_more: Schema.Boolean
})

const readAccounts = Schema.decodeUnknownOption(Schema.toCodecJson(AccountPage))

/** Accounts that a request lists. */
const accountsAtOnce = 100

const accountsBy = (call: CallTool) =>
  Effect.gen(function*() {
    const ids: Array<AccountId> = []
    for (let after: string | undefined, more = true; more;) {
      const { structured } = yield* call("list_accounts", {
        limit: accountsAtOnce,
        ...(after === undefined ? {} : { starting_after: after })
      })
      const page = readAccounts(structured)
      if (Option.isNone(page)) return yield* unknownAnswer
      for (const { id, messages } of page.value.data) if (messages > 0) ids.push(id)
      after = page.value.data.at(-1)?.id
      more = page.value.has_more && after !== undefined
    }
    return ids
  })

/** The operations of sealed data, which are tools of the service too. */
export const callOperation = (call: CallTool): CallOperation => (operation, input) =>
  Effect.map(call(operation, input), ({ structured }) => structured)

const sealedFileBy = Effect.fnUntraced(function*(call: CallTool, fileId: string) {
  const { blob } = yield* call("download_sealed_file", { file_id: fileId })
  return (blob === undefined ? null : readBase64(blob)) ?? (yield* unknownAnswer)
})

export const layer = (call: CallTool) =>
  Layer.succeed(BridgeService, {
    accounts: Effect.orDie(accountsBy(call)),
    sealedFile: (fileId) => Effect.orDie(sealedFileBy(call, fileId))
  })

/** The member of an object, undefined for anything else. */
export const member = (value: unknown, name: string): unknown =>
  Predicate.hasProperty(value, name) ? value[name] : undefined
