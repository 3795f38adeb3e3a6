/** Accounts that were not polled for too long. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { GuardedAccount, MonitorFacts } from "../../domain/protection/Facts.ts"
import type { Due } from "../Due.ts"

export type PolledAccount =
  & Pick<
    GuardedAccount,
    | "first_name"
    | "last_name"
    | "username"
    | "phone_number"
    | "monitoring_state"
    | "offboarded_at"
    | "paused_at"
    | "stopped_at"
  >
  & { readonly id: string }

/** Accounts that become unknown: whether the messenger is away, and whether they are reported together. */
export interface UnknownAccounts {
  readonly ids: ReadonlyArray<string>
  readonly away: boolean
  readonly together: boolean
  readonly now: Date
}

/** Within the organization's transaction unless stated otherwise. */
export class SilentAccounts extends Context.Service<SilentAccounts, {
  /**
   * The accounts of all organizations that are due, that no process polls, and that have had no good poll since the
   * moment; one that has failed often enough is unknown already. Outside a transaction.
   */
  due(now: Date, silentSince: Date, limit: number): Effect.Effect<ReadonlyArray<Due>, ServiceUnavailable>
  /** Holds the organization, and those of the accounts and of their monitors that no other process has locked. */
  hold(organizationId: OrganizationId, ids: ReadonlyArray<string>): Effect.Effect<{
    readonly accounts: ReadonlyArray<PolledAccount>
    readonly monitors: ReadonlyArray<Pick<MonitorFacts, "last_ok_at" | "started_at"> & { readonly account_id: string }>
  }>
  makeUnknown(organizationId: OrganizationId, accounts: UnknownAccounts): Effect.Effect<void>
  /** The organizations with accounts that were reported together; outside a transaction. */
  readonly reported: Effect.Effect<ReadonlyArray<OrganizationId>, ServiceUnavailable>
  /** The number of its accounts that were reported, once none of them is unknown any more, and forgets it; null before. */
  restored(organizationId: OrganizationId): Effect.Effect<number | null>
  /** The moment since which no process polls any account, although one is due; null if none is. Outside a transaction. */
  readonly waitingSince: Effect.Effect<Date | null, ServiceUnavailable>
}>()("org-security-console/ports/protection/SilentAccounts") {}
