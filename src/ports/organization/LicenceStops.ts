/** Accounts whose protection stops with a licence, and comes back with it. */
import { Context, type Effect } from "effect"
import type { StopReason } from "../../domain/accounts/ProtectionStatus.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { GuardedAccount } from "../../domain/protection/Facts.ts"
import type { Licence } from "./LicenceEnds.ts"

/** An organization's licence, and whether any of its accounts are to be stopped, or wait for it. */
export interface LicenceState extends Licence {
  readonly id: OrganizationId
  readonly running: boolean
  readonly stopped: boolean
}

export type LicensedAccount =
  & Pick<GuardedAccount, "first_name" | "last_name" | "username" | "phone_number" | "stopped_at">
  & { readonly id: string; readonly licence_stopped_at: Date | null }

/** Within the organization's transaction, which holds its licence, unless stated otherwise. */
export class LicenceStops extends Context.Service<LicenceStops, {
  /** Every organization; outside a transaction. */
  readonly organizations: Effect.Effect<ReadonlyArray<LicenceState>, ServiceUnavailable>
  /** The number of accounts whose protection the licence stops or restores; not those that something else stopped. */
  count(organizationId: OrganizationId, live: boolean): Effect.Effect<number>
  /** The next accounts that follow the licence, held from here on with their monitors. */
  holdNext(organizationId: OrganizationId, live: boolean, limit: number): Effect.Effect<ReadonlyArray<LicensedAccount>>
  stop(organizationId: OrganizationId, ids: ReadonlyArray<string>, reason: StopReason, now: Date): Effect.Effect<void>
  /** Restores the accounts, and returns those that nothing else had stopped. */
  restore(
    organizationId: OrganizationId,
    ids: ReadonlyArray<string>,
    now: Date
  ): Effect.Effect<ReadonlySet<string>>
  /** Stores the statuses that follow. */
  saveStatuses(organizationId: OrganizationId, ids: ReadonlyArray<string>, now: Date): Effect.Effect<void>
}>()("org-security-console/ports/organization/LicenceStops") {}
