import { Effect, Schema } from "effect"
import { findMessage, type OpenAccount, openAccount } from "../../archive/Reader.ts"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { TargetChat } from "../../domain/archive/Chat.ts"
import { MessageInContext, Neighbours, TargetMessage } from "../../domain/archive/Message.ts"
import { ContentUnreadable, ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./archive.samples.ts"
import { requireChat } from "./ArchivedChat.ts"

const params = { account_id: TargetAccount, chat_id: TargetChat, message_id: TargetMessage }

const query = {
  around: Schema.optionalKey(Neighbours).annotateKey({
    description:
      "How many messages on each side are in context: 0 to 20; fewer where the chat ends, or where they take more than 32 MiB to read."
  })
}

/** The answer by an account that is open. */
export const answerMessage = Effect.fnUntraced(function*(
  { around = 0, chat_id, message_id }: Schema.Struct.Type<typeof params & typeof query>,
  open: OpenAccount
) {
  const found = yield* findMessage(open, BigInt(chat_id), BigInt(message_id), around)
  if (found === null) {
    yield* requireChat(open.account, chat_id)
    return yield* new ResourceMissing({ param: "message_id" })
  }
  return { ...found.message, context: found.context, unreadable: found.unreadable }
})

export const getMessage = Operation.unlocked(
  "get_message",
  {
    summary: "Show an archived message, with those around it.",
    method: "GET",
    path: "/v1/archive/accounts/:account_id/chats/:chat_id/messages/:message_id",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params,
    query,
    failures: [ResourceMissing, ContentUnreadable],
    success: MessageInContext,
    messages: ({ context }) => context.length + 1,
    sample: samples.getMessage
  },
  (input, { account, archive, caller }) =>
    answerMessage(input, openAccount({ organizationId: caller.organizationId, accountId: account.id }, archive))
)
