import { Effect, Schema } from "effect"
import { listChats as readChats } from "../../archive/ChatReader.ts"
import { type OpenAccount, openAccount } from "../../archive/Reader.ts"
import { TargetAccount } from "../../domain/accounts/Account.ts"
import { ChatList, ChatType } from "../../domain/archive/Chat.ts"
import { PlatformId } from "../../domain/archive/PlatformId.ts"
import { defaultPageLimit, page } from "../../domain/JsonShapes.ts"
import { pageRows, paging } from "../../domain/Paging.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./archive.samples.ts"

const params = { account_id: TargetAccount }

const query = {
  type: Schema.optionalKey(ChatType).annotateKey({ description: "Only chats of this type." }),
  selected: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Only chats that the rules have archived, or only the others."
  }),
  ...paging(PlatformId, "chats", "chat")
}

/** The answer by an account that is open. */
export const answerChats = Effect.fnUntraced(function*(
  { limit = defaultPageLimit, selected, starting_after, type }: Schema.Struct.Type<typeof params & typeof query>,
  open: OpenAccount
) {
  const after = starting_after === undefined ? undefined : BigInt(starting_after)
  const found = yield* readChats(open, { type, selected, after, limit })
  const { chats, unreadable } = yield* pageRows(found, "there is no such chat.")
  return { ...page(chats, limit), unreadable }
})

export const listChats = Operation.unlocked(
  "list_chats",
  {
    summary: "List the chats of an archived account, the last message first.",
    method: "GET",
    path: "/v1/archive/accounts/:account_id/chats",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    params,
    query,
    success: ChatList,
    sample: samples.listChats
  },
  (input, { account, archive, caller }) =>
    answerChats(input, openAccount({ organizationId: caller.organizationId, accountId: account.id }, archive))
)
