/** The archive's rules. Each statement but `due` needs the transaction of the organization. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { RuleId, RuleInEffect, RulePreviewCounts, StoredRule } from "../../domain/archive/ArchiveRule.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"
import type { Due } from "../Due.ts"
import type { ArchivedAccount } from "./Epochs.ts"

/** The rules in effect for an account, or all that concern accounts of the caller. */
export interface RuleQuery {
  readonly accountId: AccountId | undefined
  readonly after: RuleId | undefined
  readonly limit: number
}

export type NewRule = Omit<StoredRule, "id">

/** A rule's accounts, of which chats are judged again, and the one chat that it names. */
export type RuleScope = Pick<StoredRule, "chatId" | "level" | "target">

export class ArchiveRules extends Context.Service<ArchiveRules, {
  /** The rules that concern the account: its own, its department's and the organization's. */
  inEffect(account: ArchivedAccount): Effect.Effect<ReadonlyArray<RuleInEffect>>
  /**
   * Keeps the rules as they are for the rest of the transaction, which has locked the account's archive before: what they
   * select now is what it stores. True where they have changed, and the account has to be judged first.
   */
  settle(account: ArchivedAccount): Effect.Effect<boolean>
  /** Judges the known chats of an account for which `settle` was true, as `selectAgain` does. */
  judge(account: ArchivedAccount, now: Date): Effect.Effect<void>
  /** Accounts of all organizations that wait to be judged. */
  due(limit: number): Effect.Effect<ReadonlyArray<Due>, ServiceUnavailable>
  /** The number of rules of exactly this account, department or organization. */
  ofTarget(organizationId: string, scope: Pick<RuleScope, "level" | "target">): Effect.Effect<number>
  /** The rules after `after`, the most general first; null where that is none of them. */
  list(caller: Caller["Service"], query: RuleQuery): Effect.Effect<ReadonlyArray<StoredRule> | null>
  /** The rule for the rest of the transaction; null where it concerns no account that the caller can access. */
  lock(caller: Caller["Service"], id: RuleId): Effect.Effect<StoredRule | null>
  /** True if the caller can access all accounts of the rule, and there is such a department or account. */
  reaches(caller: Caller["Service"], scope: RuleScope): Effect.Effect<boolean>
  /** True if a cleanup has stopped the one chat that the rule names. */
  isStopped(organizationId: OrganizationId, scope: RuleScope): Effect.Effect<boolean>
  /** The id of the new rule; null where there is one for the same accounts and chats. */
  add(organizationId: OrganizationId, rule: NewRule): Effect.Effect<RuleId | null>
  change(organizationId: OrganizationId, rule: StoredRule): Effect.Effect<void>
  remove(organizationId: OrganizationId, id: RuleId): Effect.Effect<void>
  /** The known chats of the rule's accounts as they would be judged with it. */
  preview(organizationId: OrganizationId, rule: NewRule): Effect.Effect<RulePreviewCounts>
  /**
   * Judges the known chats of the accounts again, and has their runs begin: what is selected now is archived. Of a scope
   * with many chats the accounts wait to be judged one by one. The one chat that the scope names goes on, where a cleanup
   * had stopped it.
   */
  selectAgain(organizationId: OrganizationId, scope: RuleScope, now: Date): Effect.Effect<void>
}>()("org-security-console/ports/archive/ArchiveRules") {}
