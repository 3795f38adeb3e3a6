import { Effect } from "effect"
import { indexForReaders } from "../../archive/PageIndexing.ts"
import { openAccount } from "../../archive/Reader.ts"
import { applyRedaction, prepareRedaction } from "../../archive/Redacting.ts"
import { type AccountId, TargetAccount } from "../../domain/accounts/Account.ts"
import { TargetChat } from "../../domain/archive/Chat.ts"
import { RedactedIds, Redaction, RedactionReason } from "../../domain/archive/Redaction.ts"
import {
  ArchiveHeld,
  ContentUnreadable,
  ParameterInvalid,
  ResourceMissing,
  ServiceUnavailable
} from "../../domain/Failure.ts"
import { superadmins } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { requireChat } from "./ArchivedChat.ts"
import * as samples from "./deleting.samples.ts"

/** Tries while what the messages are in is closed into pages, or cleaned up. */
const tries = 5

interface RedactionInput {
  readonly accountId: AccountId
  readonly chatId: string
  readonly ids: ReadonlyArray<string>
  readonly reason: string
}

const redact = Effect.fnUntraced(function*(
  { accountId, chatId, ids, reason }: RedactionInput,
  { archive, caller, commit, now }: Pick<Operation.RewriteContext<{}>, "archive" | "caller" | "commit" | "now">
) {
  const open = openAccount({ organizationId: caller.organizationId, accountId }, archive)
  const messages = { account: open.account, chatId: yield* requireChat(open.account, chatId), ids: ids.map(BigInt) }
  for (let left = tries; left > 0; left--) {
    const prepared = yield* prepareRedaction(open, messages, Math.floor(now.getTime() / 1000))
    const redacted = yield* commit(
      Effect.map(applyRedaction(open, messages, prepared, now), (counts) =>
        counts === null || counts.messages === 0
          ? Operation.unchanged(counts)
          : Operation.changed(counts, {
            redaction: counts.id,
            chat_id: chatId,
            message_ids: ids.join(","),
            messages: counts.messages,
            files: counts.files,
            pages: counts.pages,
            reason
          }))
    )
    if (redacted === null) continue
    yield* archive.afterwards(Effect.ignoreCause(indexForReaders([accountId], archive)))
    return
  }
  return yield* new ServiceUnavailable({
    message: "These messages are being moved. Try again in a moment.",
    retry_after: 1
  })
})

export const redactMessages = Operation.rewrite(
  "redact_messages",
  {
    summary: "Take what single messages say out of the archive for good, such as a card number or a person's data.",
    description:
      "It cannot be undone. Text, edits, files, names of files and the words that a search finds are gone; the message stays with its id, its sender and its times, marked by redacted_at, and is not archived again. It needs the archive password. Exports that were downloaded and backups still have it.",
    method: "POST",
    path: "/v1/archive/accounts/:account_id/chats/:chat_id/redactions",
    toolset: "archive",
    scope: "archive:delete",
    roles: superadmins,
    destructive: true,
    idempotent: true,
    params: { account_id: TargetAccount, chat_id: TargetChat },
    body: {
      message_ids: RedactedIds.annotateKey({ description: "The messages, at most 100: ids from list_messages." }),
      reason: RedactionReason.annotateKey({
        description: "The reason, as the journal keeps it: without what is to be gone."
      })
    },
    success: Redaction,
    sample: samples.redactMessages,
    failures: [ResourceMissing, ParameterInvalid, ArchiveHeld, ContentUnreadable],
    journal: { action: "archive.redacted", target: "account" }
  },
  (input, context) => {
    const { account_id, chat_id, reason } = input
    const message_ids = [...new Set(input.message_ids)]
    const asked = { accountId: account_id, chatId: chat_id, ids: message_ids, reason }
    const answer = { object: "archive_redaction" as const, account_id, chat_id, message_ids }
    return Effect.as(redact(asked, context), answer)
  }
)
