/** Rules that decide which chats are archived, and with which files. */
import type { ChatEffect, ChatType } from "./Chat.ts"

export type RuleLevel = "organization" | "department" | "account"

export type RuleMedia = "all" | "none"

/** A rule as it concerns one account; a rule about a single chat has its id instead of a type. */
export interface RuleInEffect {
  readonly ruleId: string
  readonly level: RuleLevel
  readonly chatType: ChatType | "any" | null
  readonly chatId: bigint | null
  readonly effect: ChatEffect
  readonly media: RuleMedia
  /** In bytes; null without a limit. */
  readonly maxFileBytes: number | null
  /** New messages are archived as they arrive, not only by the nightly run. */
  readonly live: boolean
}
