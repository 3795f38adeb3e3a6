/** Files of messages as they were seen: those that the rules leave out are skipped, the others wait for their contents. */
import { Effect } from "effect"
import type { RuleInEffect } from "../domain/archive/ArchiveRule.ts"
import type { CapturedChat } from "../domain/archive/CapturedChat.ts"
import { skipReason } from "../domain/archive/FileDecision.ts"
import { now } from "../domain/Moments.ts"
import { ArchiveRules } from "../ports/archive/ArchiveRules.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import { WaitingFiles } from "../ports/archive/WaitingFiles.ts"
import type { FileSeen, MessageSeen } from "../ports/messenger/MessengerArchive.ts"
import { filesOf } from "./SeenRecords.ts"

export interface NamedFile {
  readonly fileId: string
  readonly messageId: bigint
  readonly file: FileSeen
}

/** The rule that decided on the chat. */
const ruleOf = ({ ruleId }: CapturedChat, rules: ReadonlyArray<RuleInEffect>): RuleInEffect | undefined =>
  rules.find((rule) => rule.ruleId === ruleId)

/** The files of the messages under the archive's ids. */
export const namedFiles = (account: ArchivedAccount, messages: ReadonlyArray<MessageSeen>) =>
  Effect.map(
    Effect.forEach(messages, (message) =>
      Effect.map(filesOf(account, message), (files): ReadonlyArray<NamedFile> =>
        files.map(({ file, id }) => ({ fileId: id, messageId: message.record.id, file })))),
    (files) =>
      files.flat()
  )

/** Skips the files that the chat's rule leaves out, and answers the others. */
export const sortFiles = Effect.fnUntraced(function*(
  account: ArchivedAccount,
  chat: CapturedChat,
  files: ReadonlyArray<NamedFile>
) {
  if (files.length === 0) return []
  const waiting = yield* WaitingFiles
  const rule = ruleOf(chat, yield* (yield* ArchiveRules).inEffect(account))
  const at = yield* now
  const decided = files.map((one) => ({ one, reason: skipReason(one.file, chat, rule) }))
  for (const [reason, all] of Map.groupBy(decided, ({ reason }) => reason)) {
    if (reason !== null) yield* waiting.skip(account, all.map(({ one }) => one.fileId), reason, at)
  }
  return decided.flatMap(({ one, reason }) => reason === null ? [one] : [])
})

/** Sorts the files of messages that were just stored. */
export const noteFiles = (account: ArchivedAccount, chat: CapturedChat, messages: ReadonlyArray<MessageSeen>) =>
  messages.every(({ files }) => files.length === 0)
    ? Effect.void
    : Effect.flatMap(namedFiles(account, messages), (files) => Effect.asVoid(sortFiles(account, chat, files)))
