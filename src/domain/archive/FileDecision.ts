/** The decision whether a file is archived. */
import type { RuleInEffect } from "./ArchiveRule.ts"
import type { CapturedChat } from "./CapturedChat.ts"
import type { SkipReason } from "./FileReason.ts"

/** A file as it was seen; `once`: the messenger shows it a single time. */
export interface DecidedFile {
  readonly bytes: number
  readonly once: boolean
}

/** The rule that decided on the chat; undefined where that is gone. */
type ChatRule = Pick<RuleInEffect, "chatId" | "maxFileBytes" | "media"> | undefined

/**
 * The reason to leave the file out; null where it is archived. Protected chats need a rule that names them, or the chat
 * that they continue.
 */
export const skipReason = (
  { bytes, once }: DecidedFile,
  chat: Pick<CapturedChat, "protected">,
  rule: ChatRule
): SkipReason | null => {
  if (once) return "once"
  if (rule === undefined || rule.media === "none") return "rule"
  if (chat.protected && rule.chatId === null) return "protected"
  return rule.maxFileBytes !== null && bytes > rule.maxFileBytes ? "size" : null
}
