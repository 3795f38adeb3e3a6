/** The rights and details that all changes of the archive's rules share. */
import { Effect } from "effect"
import type { RuleSelector, RuleTarget, StoredRule } from "../../domain/archive/ArchiveRule.ts"
import { ParameterInvalid, RoleForbidden } from "../../domain/Failure.ts"
import { type Caller, isNarrowing, superadmins } from "../../domain/people/Access.ts"
import type { NewRule, RuleScope } from "../../ports/archive/ArchiveRules.ts"

/** Fails where the caller may only make rules for single accounts, and the rule is for more. */
export const mayChange = ({ limit, role }: Caller["Service"], { level }: Pick<StoredRule, "level">) =>
  level === "account" || superadmins.includes(role) && !isNarrowing(limit)
    ? Effect.void
    : Effect.fail(
      new RoleForbidden({ message: "Only a superadmin without limits changes rules for more than one account." })
    )

/** The accounts and chats of a new rule; fails where it names a chat without its account. */
export const ruleFor = (target: typeof RuleTarget.Type, selector: typeof RuleSelector.Type) => {
  const { chat_id: chat = null, chat_type: chatType = null } = selector
  const chatId = chat === null ? null : BigInt(chat)
  return chatId !== null && target.level !== "account"
    ? Effect.fail(
      new ParameterInvalid({
        param: "selector",
        message: "selector: there is no such chat, a chat_id takes the level account."
      })
    )
    : Effect.succeed({ level: target.level, target: target.id, chatType, chatId })
}

/** The chats to judge again; a chat that cleanups have stopped goes on by a rule that has it archived, and by no other. */
export const scopeOf = ({ chatId, effect, level, target }: NewRule): RuleScope => ({
  level,
  target,
  chatId: effect === "archive" ? chatId : null
})

/** The rule as the object of its events. */
export const ruleObject = ({ id, level, target }: StoredRule) => ({
  id,
  accountId: level === "account" ? target : null
})

/** The rule as the journal keeps it. */
export const ruleDetails = ({ chatId, chatType, effect, level, live, media, target }: StoredRule) => ({
  level,
  ...(target === null ? {} : { target_id: target }),
  ...(chatType === null ? {} : { chat_type: chatType }),
  ...(chatId === null ? {} : { chat_id: String(chatId) }),
  effect,
  media,
  live
})
