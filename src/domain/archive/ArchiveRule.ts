/** Rules that decide which chats are archived, and with which files. */
import { Schema } from "effect"
import { Count, described, Kind, Timestamp, Uuid } from "../JsonShapes.ts"
import { ChatEffect, ChatType } from "./Chat.ts"
import { PlatformId } from "./PlatformId.ts"

export const RuleLevel = Schema.Literals(["organization", "department", "account"])
export type RuleLevel = typeof RuleLevel.Type

export const RuleMedia = Schema.Literals(["all", "none"])
export type RuleMedia = typeof RuleMedia.Type

const RuleChatType = Schema.Literals([...ChatType.literals, "any"])

/** The largest file that the messenger takes, in bytes. */
const largestFile = 4 * 1024 ** 3

export const MaxFileBytes = Schema.NullOr(
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: largestFile }))
)

const everyAccount = Schema.Struct({
  level: described(Schema.Literal("organization"), "Every account of the organization."),
  id: described(Schema.Null, "Null: there is one organization.")
})

const someAccounts = Schema.Struct({
  level: described(Schema.Literals(["department", "account"]), "A department's accounts, or one account."),
  id: described(Uuid, "The department or account: a UUID.")
})

/** The accounts of a new rule; only an organization's has no id. */
export const RuleTarget = Schema.Union([everyAccount, someAccounts]).annotate({ identifier: "new_archive_rule_target" })

const target = Schema.Struct({
  level: described(RuleLevel, "Whether it concerns the organization, a department or one account."),
  id: described(Schema.NullOr(Uuid), "The department or account: a UUID; null for the organization.")
}).annotate({ identifier: "archive_rule_target" })

const chatsOfType = Schema.Struct({
  chat_type: described(RuleChatType, "The kind of chats."),
  chat_id: described(Schema.optionalKey(Schema.Null), "Null: it names a kind of chats.")
})

const oneChat = Schema.Struct({
  chat_type: described(Schema.optionalKey(Schema.Null), "Null: it names one chat."),
  chat_id: described(PlatformId, "The one chat, at the level account only; from list_chats.")
})

/** The chats of a new rule: those of a type, or one chat of an account; the other member is null or left out. */
export const RuleSelector = Schema.Union([chatsOfType, oneChat]).annotate({ identifier: "new_archive_rule_selector" })

const selector = Schema.Struct({
  chat_type: described(Schema.NullOr(RuleChatType), "The kind of chats; null where it names one chat."),
  chat_id: described(Schema.NullOr(PlatformId), "The one chat; null where it names a kind.")
}).annotate({ identifier: "archive_rule_selector" })

/** A decision of a rule. */
const decision = {
  effect: described(ChatEffect, "Whether the chats are archived, skipped, or wait for a decision."),
  media: described(RuleMedia, "Whether their files are archived."),
  max_file_bytes: described(MaxFileBytes, "The largest file that is archived, in bytes; null without a limit."),
  live: described(Schema.Boolean, "Whether new messages are archived as they arrive, and not only at night.")
}

const fields = {
  object: Kind("archive_rule"),
  id: described(Uuid, "The rule's id: a UUID."),
  target: described(target, "The accounts that it concerns."),
  selector: described(selector, "The chats that it concerns."),
  ...decision,
  updated_at: described(Timestamp, "When it was last changed."),
  updated_by: described(Schema.NullOr(Uuid), "The admin who changed it last; null where none did.")
}

export const ArchiveRule = Schema.Struct(fields).annotate({ identifier: "archive_rule" })
export type ArchiveRule = typeof ArchiveRule.Type

export const DeletedArchiveRule = Schema.Struct({
  object: Kind("archive_rule"),
  id: described(Uuid, "The rule's id: a UUID."),
  deleted: described(Schema.Literal(true), "True: it is deleted.")
}).annotate({ identifier: "deleted_archive_rule" })

const previewCounts = {
  chats: described(Count, "Known chats of these accounts."),
  archive: described(Count, "Chats that would be archived."),
  skip: described(Count, "Chats that would be skipped."),
  review: described(Count, "Chats that would wait for a decision."),
  begins: described(Count, "Chats that are not archived now, and would be."),
  ends: described(Count, "Chats that are archived now, and would not be any more: what is there stays.")
}

/** The known chats as they would be judged with a rule. */
export const ArchiveRulePreview = Schema.Struct({ object: Kind("archive_rule_preview"), ...previewCounts })
  .annotate({ identifier: "archive_rule_preview" })
export type RulePreviewCounts = Omit<typeof ArchiveRulePreview.Type, "object">

export const RuleId = Uuid.pipe(Schema.brand("RuleId"))
export type RuleId = typeof RuleId.Type

/** The rule that an operation is about, as a member of its path. */
export const TargetRule = RuleId.annotateKey({ description: "From list_archive_rules." })

/** A rule as it is stored. */
export interface StoredRule {
  readonly id: string
  readonly level: RuleLevel
  readonly target: string | null
  readonly chatType: (typeof RuleChatType)["Type"] | null
  readonly chatId: bigint | null
  readonly effect: ChatEffect
  readonly media: RuleMedia
  readonly maxFileBytes: number | null
  readonly live: boolean
  readonly updatedAt: Date
  readonly updatedBy: string | null
}

/** A rule as it concerns one account; a rule about a single chat has its id instead of a type. */
export interface RuleInEffect
  extends Pick<StoredRule, "chatId" | "chatType" | "effect" | "level" | "live" | "maxFileBytes" | "media">
{
  readonly ruleId: string
}

export const archiveRule = (rule: StoredRule): ArchiveRule => ({
  object: "archive_rule",
  id: rule.id,
  target: { level: rule.level, id: rule.target },
  selector: { chat_type: rule.chatType, chat_id: rule.chatId === null ? null : String(rule.chatId) },
  effect: rule.effect,
  media: rule.media,
  max_file_bytes: rule.maxFileBytes,
  live: rule.live,
  updated_at: rule.updatedAt,
  updated_by: rule.updatedBy
})
