import { Effect, type Schema } from "effect"
import { listEdits, type OpenAccount, openAccount } from "../../archive/Reader.ts"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { TargetChat } from "../../domain/archive/Chat.ts"
import { MessageEditList, TargetMessage } from "../../domain/archive/Message.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./archive.samples.ts"
import { requireChat } from "./ArchivedChat.ts"

const params = { account_id: TargetAccount, chat_id: TargetChat, message_id: TargetMessage }

/** The answer by an account that is open. */
export const answerEdits = Effect.fnUntraced(
  function*({ chat_id, message_id }: Schema.Struct.Type<typeof params>, open: OpenAccount) {
    const found = yield* listEdits(open, BigInt(chat_id), BigInt(message_id))
    if (found === null) {
      yield* requireChat(open.account, chat_id)
      return yield* new ResourceMissing({ param: "message_id" })
    }
    const { hasMore, revisions, unreadable } = found
    return { object: "list" as const, data: revisions, has_more: hasMore, unreadable }
  }
)

export const listMessageEdits = Operation.unlocked(
  "list_message_edits",
  {
    summary: "List the texts that an archived message has had, oldest first.",
    description: "The first is the message as it was first seen. At most 1000 edits are listed.",
    method: "GET",
    path: "/v1/archive/accounts/:account_id/chats/:chat_id/messages/:message_id/edits",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params,
    failures: [ResourceMissing],
    success: MessageEditList,
    messages: () => 1,
    sample: samples.listMessageEdits
  },
  (input, { account, archive, caller }) =>
    answerEdits(input, openAccount({ organizationId: caller.organizationId, accountId: account.id }, archive))
)
