import { Effect, type Schema } from "effect"
import { listMembers } from "../../archive/ChatReader.ts"
import { type OpenAccount, openAccount } from "../../archive/Reader.ts"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { ChatMemberList, MemberId, TargetChat } from "../../domain/archive/Chat.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import { defaultPageLimit, page } from "../../domain/JsonShapes.ts"
import { pageRows, paging } from "../../domain/Paging.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./archive.samples.ts"

const params = { account_id: TargetAccount, chat_id: TargetChat }
const query = paging(MemberId, "members", "member")

/** The answer by an account that is open. */
export const answerMembers = Effect.fnUntraced(function*(
  { chat_id, limit = defaultPageLimit, starting_after }: Schema.Struct.Type<typeof params & typeof query>,
  open: OpenAccount
) {
  const found = yield* listMembers(open, BigInt(chat_id))
  if (found === null) return yield* new ResourceMissing({ param: "chat_id" })
  const { members, unreadable } = found
  const before = members.findIndex(({ id }) => id === starting_after)
  const isUnknown = starting_after !== undefined && before < 0
  const rows = yield* pageRows(isUnknown ? null : members.slice(before + 1), "there is no such member.")
  return { ...page(rows, limit), unreadable }
})

export const listChatMembers = Operation.unlocked(
  "list_chat_members",
  {
    summary: "List who was in an archived chat when it was last looked at, by name.",
    method: "GET",
    path: "/v1/archive/accounts/:account_id/chats/:chat_id/members",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params,
    query,
    failures: [ResourceMissing],
    success: ChatMemberList,
    sample: samples.listChatMembers
  },
  (input, { account, archive, caller }) =>
    answerMembers(input, openAccount({ organizationId: caller.organizationId, accountId: account.id }, archive))
)
