/** The decision of the archive's rules about a chat. */
import { serviceAccounts } from "../messenger/Messenger.ts"
import type { RuleInEffect } from "./ArchiveRule.ts"
import type { ChatEffect, ChatType } from "./Chat.ts"

/** A chat as rules judge it. */
export interface JudgedChat {
  readonly chatId: bigint
  readonly type: ChatType
  /** The selection of the chat that this one has come out of. */
  readonly predecessor: Selection | null
}

export interface Selection extends Pick<RuleInEffect, "live" | "maxFileBytes" | "media"> {
  readonly effect: ChatEffect
  /** The rule that decided; null where none does. */
  readonly ruleId: string | null
}

const levels = { account: 2, department: 1, organization: 0 }

const rank = ({ chatId, chatType, level }: RuleInEffect): number =>
  chatId !== null ? 100 : levels[level] * 10 + (chatType === "any" ? 0 : 1)

const names = ({ chatId, chatType }: RuleInEffect, chat: JudgedChat): boolean =>
  chatId === null ? chatType === "any" || chatType === chat.type : chatId === chat.chatId

const selectionOf = ({ effect, live, maxFileBytes, media, ruleId }: RuleInEffect): Selection => ({
  effect,
  live,
  maxFileBytes,
  media,
  ruleId
})

const undecided: Selection = { effect: "review", live: false, maxFileBytes: null, media: "none", ruleId: null }

/** The predecessor's selection goes before the rule that was found for the chat itself. */
const inherits = (
  rules: ReadonlyArray<RuleInEffect>,
  found: RuleInEffect | undefined,
  predecessor: Selection
): boolean => {
  if (found === undefined) return true
  if (found.chatId !== null) return false
  return found.chatType === "any" ||
    rules.some(({ chatId, ruleId }) => chatId !== null && ruleId === predecessor.ruleId)
}

/**
 * The most specific rule wins: of an account with the chat's id, of an account, a department, the organization; inside
 * a level one that names the type. A chat that has come out of another one is judged like it, where the rules name the
 * other by its id, or this one by neither id nor type.
 */
export const select = (rules: ReadonlyArray<RuleInEffect>, chat: JudgedChat): Selection => {
  if (serviceAccounts.has(chat.chatId)) return { ...undecided, effect: "skip" }
  const [found] = rules.filter((rule) => names(rule, chat)).sort((one, other) => rank(other) - rank(one))
  const inherited = chat.predecessor
  if (inherited !== null && inherits(rules, found, inherited)) return inherited
  return found === undefined ? undecided : selectionOf(found)
}
