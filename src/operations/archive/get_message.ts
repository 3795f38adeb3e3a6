import { Effect, Schema } from "effect"
import { findMessage, openAccount } from "../../archive/Reader.ts"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { TargetChat } from "../../domain/archive/Chat.ts"
import { MessageInContext, Neighbours, TargetMessage } from "../../domain/archive/Message.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./archive.samples.ts"
import { requireChat } from "./ArchivedChat.ts"

export const getMessage = Operation.unlocked(
  "get_message",
  {
    summary: "Show an archived message, with those around it.",
    method: "GET",
    path: "/v1/archive/accounts/:account_id/chats/:chat_id/messages/:message_id",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params: { account_id: TargetAccount, chat_id: TargetChat, message_id: TargetMessage },
    query: {
      around: Schema.optionalKey(Neighbours).annotateKey({
        description: "How many messages on each side are in context: 0 to 20."
      })
    },
    failures: [ResourceMissing],
    success: MessageInContext,
    messages: ({ context }) => context.length + 1,
    sample: samples.getMessage
  },
  Effect.fnUntraced(function*({ around = 0, chat_id, message_id }, { account, archive, caller }) {
    const open = openAccount({ organizationId: caller.organizationId, accountId: account.id }, archive)
    const chatId = yield* requireChat(open.account, chat_id)
    const found = yield* findMessage(open, chatId, BigInt(message_id), around)
    if (found === null) return yield* new ResourceMissing({ param: "message_id" })
    return { ...found.message, context: found.context, unreadable: found.unreadable }
  })
)
