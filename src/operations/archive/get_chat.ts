import { Effect, type Schema } from "effect"
import { findChats } from "../../archive/ChatReader.ts"
import { type OpenAccount, openAccount } from "../../archive/Reader.ts"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { SingleChat, TargetChat } from "../../domain/archive/Chat.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./archive.samples.ts"

const params = { account_id: TargetAccount, chat_id: TargetChat }

/** The answer by an account that is open. */
export const answerChat = Effect.fnUntraced(
  function*({ chat_id }: Schema.Struct.Type<typeof params>, open: OpenAccount) {
    const [found] = yield* findChats(open, [BigInt(chat_id)])
    return found ?? (yield* new ResourceMissing({ param: "chat_id" }))
  }
)

export const getChat = Operation.unlocked(
  "get_chat",
  {
    summary: "Show a chat of an archived account.",
    method: "GET",
    path: "/v1/archive/accounts/:account_id/chats/:chat_id",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params,
    failures: [ResourceMissing],
    success: SingleChat,
    sample: samples.getChat
  },
  (input, { account, archive, caller }) =>
    answerChat(input, openAccount({ organizationId: caller.organizationId, accountId: account.id }, archive))
)
