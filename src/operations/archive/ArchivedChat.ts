import { Effect } from "effect"
import { ResourceMissing } from "../../domain/Failure.ts"
import { ArchiveChats } from "../../ports/archive/ArchiveChats.ts"
import type { ArchivedAccount } from "../../ports/archive/Epochs.ts"
import { Db } from "../../ports/Db.ts"

/** The chat of an operation's path; fails with `ResourceMissing` where the account has no such chat. */
export const requireChat = Effect.fnUntraced(function*(account: ArchivedAccount, id: string) {
  const db = yield* Db
  const chatId = BigInt(id)
  const found = yield* db.read(
    account.organizationId,
    Effect.flatMap(ArchiveChats, (chats) => chats.find(account, chatId))
  )
  return found === null ? yield* new ResourceMissing({ param: "chat_id" }) : chatId
})
