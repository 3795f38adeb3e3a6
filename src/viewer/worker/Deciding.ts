/** Decisions about chats that wait for one: each is a rule of the archive, about one account and chat. */
import { Effect, Schema } from "effect"
import { ArchiveRule, type RuleInEffect } from "../../domain/archive/ArchiveRule.ts"
import { select } from "../../domain/archive/RuleSelection.ts"
import { PlainList } from "../../domain/JsonShapes.ts"
import type { RemoteRefusal } from "../../ports/archive/SealedArchive.ts"
import type { Calls } from "../ViewerCalls.ts"
import { type OperationName, otherForm } from "./Service.ts"

type Ask = (
  operation: OperationName,
  input: Readonly<Record<string, unknown>>
) => Effect.Effect<unknown, RemoteRefusal>

type Asked = Calls["decide"]["ask"]

const rulesAtOnce = 100

const readRules = Schema.decodeUnknownEffect(Schema.toCodecJson(PlainList(ArchiveRule)))

const rulesOf = Effect.fnUntraced(function*(ask: Ask, accountId: string) {
  const rules: Array<ArchiveRule> = []
  for (let more = true; more;) {
    const answer = yield* ask("list_archive_rules", {
      account_id: accountId,
      limit: rulesAtOnce,
      starting_after: rules.at(-1)?.id
    })
    const { data, has_more } = yield* Effect.mapError(readRules(answer), otherForm)
    rules.push(...data)
    more = has_more
  }
  return rules
})

/** The rule as it judges chats. */
const judging = ({ effect, id, live, max_file_bytes, media, selector, target }: ArchiveRule): RuleInEffect => ({
  ruleId: id,
  level: target.level,
  chatType: selector.chat_type,
  chatId: selector.chat_id === null ? null : BigInt(selector.chat_id),
  effect,
  live,
  maxFileBytes: max_file_bytes,
  media
})

/**
 * Decides about each chat, and goes on where one is refused. A rule about the chat is changed. A new one has the media
 * of the rule that decided until now: none where none did, and none of a protected chat, as only a rule that names it
 * could have them archived.
 */
export const makeDecide = (ask: Ask) =>
  Effect.fnUntraced(function*({ accountId, chats, effect }: Asked) {
    const rules = yield* rulesOf(ask, accountId)
    const inEffect = rules.map(judging)
    const decided: Array<string> = []
    let refusal: RemoteRefusal | null = null
    for (const chat of chats) {
      const own = rules.find(({ selector }) => selector.chat_id === chat.id)
      const judged = { chatId: BigInt(chat.id), type: chat.type, predecessor: null }
      const { live, maxFileBytes, media, ruleId } = select(inEffect, judged)
      const asked = own === undefined
        ? ask("create_archive_rule", {
          target: { level: "account", id: accountId },
          selector: { chat_type: null, chat_id: chat.id },
          effect,
          media: chat.protected ? "none" : media,
          max_file_bytes: maxFileBytes,
          live: live || ruleId === null
        })
        : ask("update_archive_rule", { rule_id: own.id, effect })
      const refused = yield* Effect.match(asked, { onFailure: (failure) => failure, onSuccess: () => null })
      if (refused === null) decided.push(chat.id)
      refusal ??= refused
    }
    if (refusal !== null && decided.length === 0) return yield* refusal
    return { decided, refusal: refusal?.message ?? null }
  })
