/** The rights and details that all changes of the archive's rules share. */
import { Effect } from "effect"
import type { StoredRule } from "../../domain/archive/ArchiveRule.ts"
import { RoleForbidden } from "../../domain/Failure.ts"
import { type Caller, isNarrowing, superadmins } from "../../domain/people/Access.ts"

/** Fails where the caller may only make rules for single accounts, and the rule is for more. */
export const mayChange = ({ limit, role }: Caller["Service"], { level }: Pick<StoredRule, "level">) =>
  level === "account" || superadmins.includes(role) && !isNarrowing(limit)
    ? Effect.void
    : Effect.fail(
      new RoleForbidden({ message: "Only a superadmin without limits changes rules for more than one account." })
    )

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
