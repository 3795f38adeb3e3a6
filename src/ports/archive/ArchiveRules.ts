/** The archive's rules. Each statement needs the transaction of the organization. */
import { Context, type Effect } from "effect"
import type { RuleInEffect } from "../../domain/archive/ArchiveRule.ts"
import type { ArchivedAccount } from "./Epochs.ts"

export class ArchiveRules extends Context.Service<ArchiveRules, {
  /** The rules that concern the account: its own, its department's and the organization's. */
  inEffect(account: ArchivedAccount): Effect.Effect<ReadonlyArray<RuleInEffect>>
}>()("org-security-console/ports/archive/ArchiveRules") {}
