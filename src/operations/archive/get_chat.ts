import { Effect } from "effect"
import { findChat } from "../../archive/ChatReader.ts"
import { openAccount } from "../../archive/Reader.ts"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { SingleChat, TargetChat } from "../../domain/archive/Chat.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./archive.samples.ts"

export const getChat = Operation.unlocked(
  "get_chat",
  {
    summary: "Show a chat of an archived account.",
    method: "GET",
    path: "/v1/archive/accounts/:account_id/chats/:chat_id",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params: { account_id: TargetAccount, chat_id: TargetChat },
    failures: [ResourceMissing],
    success: SingleChat,
    sample: samples.getChat
  },
  Effect.fnUntraced(function*({ chat_id }, { account, archive, caller }) {
    const open = openAccount({ organizationId: caller.organizationId, accountId: account.id }, archive)
    const [found] = (yield* findChat(open, BigInt(chat_id)))?.chats ?? []
    return found ?? (yield* new ResourceMissing({ param: "chat_id" }))
  })
)
