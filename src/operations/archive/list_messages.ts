import { Effect, Schema } from "effect"
import { listMessages as readMessages, type OpenAccount, openAccount } from "../../archive/Reader.ts"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { TargetChat } from "../../domain/archive/Chat.ts"
import { MessageList } from "../../domain/archive/Message.ts"
import { MessageId } from "../../domain/archive/PlatformId.ts"
import { MessageKind } from "../../domain/archive/Records.ts"
import { ParameterInvalid, ResourceMissing } from "../../domain/Failure.ts"
import { DateTime, defaultPageLimit, PageLimit } from "../../domain/JsonShapes.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./archive.samples.ts"
import { requireChat } from "./ArchivedChat.ts"

const params = { account_id: TargetAccount, chat_id: TargetChat }

const query = {
  before_id: Schema.optionalKey(MessageId).annotateKey({ description: "Only messages before this one." }),
  after_id: Schema.optionalKey(MessageId).annotateKey({
    description: "Only messages after this one, oldest first; not together with before_id."
  }),
  since: Schema.optionalKey(DateTime).annotateKey({
    description: "Only messages sent at or after this time, such as 2026-01-01T00:00:00Z."
  }),
  until: Schema.optionalKey(DateTime).annotateKey({
    description: "Only messages sent before this time, such as 2026-01-31T12:00:00Z."
  }),
  kind: Schema.optionalKey(MessageKind).annotateKey({ description: "Only messages of this kind." }),
  deleted: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Only messages that were deleted on the messenger, or only the others."
  }),
  limit: Schema.optionalKey(PageLimit).annotateKey({ description: "The most messages on a page." })
}

/** The answer by an account that is open. A chat that has shown a message needs not be looked for. */
export const answerMessages = Effect.fnUntraced(function*(
  input: Schema.Struct.Type<typeof params & typeof query>,
  open: OpenAccount
) {
  const { after_id, before_id, limit = defaultPageLimit } = input
  if (before_id !== undefined && after_id !== undefined) {
    return yield* new ParameterInvalid({
      param: "after_id",
      message: "after_id: it is not allowed together with before_id."
    })
  }
  const bound = after_id ?? before_id
  const { hasMore, messages, next, unreadable } = yield* readMessages(open, {
    chatId: BigInt(input.chat_id),
    direction: after_id === undefined ? "older" : "newer",
    bound: bound === undefined ? null : BigInt(bound),
    since: input.since ?? null,
    until: input.until ?? null,
    kind: input.kind ?? null,
    deleted: input.deleted ?? null,
    limit
  })
  if (messages.length === 0) yield* requireChat(open.account, input.chat_id)
  const next_id = next === null ? null : String(next)
  return { object: "list" as const, data: messages, has_more: hasMore, next_id, unreadable }
})

export const listMessages = Operation.unlocked(
  "list_messages",
  {
    summary: "List the messages of an archived chat, newest first, or oldest first after a message.",
    description:
      "Deleted and edited messages are listed as they were archived. Where filters let few messages through, or they take many bytes to read, a page may have fewer than has_more suggests, or none: go on with next_id.",
    method: "GET",
    path: "/v1/archive/accounts/:account_id/chats/:chat_id/messages",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params,
    query,
    failures: [ResourceMissing],
    success: MessageList,
    messages: ({ data }) => data.length,
    sample: samples.listMessages
  },
  (input, { account, archive, caller }) =>
    answerMessages(input, openAccount({ organizationId: caller.organizationId, accountId: account.id }, archive))
)
