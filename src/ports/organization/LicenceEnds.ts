/** Licences that have ended, and what waits for their end. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { LicenceFacts } from "../../domain/organization/Organization.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { Due } from "../Due.ts"

/** The facts that decide whether an organization's accounts are protected. */
export interface Licence extends LicenceFacts {
  readonly closed_at: Date | null
}

/** Within the organization's transaction unless stated otherwise. */
export class LicenceEnds extends Context.Service<LicenceEnds, {
  /** Organizations whose trial is over at `now`, or whose licence by agreement ended until `ended`. */
  due(now: Date, ended: Date): Effect.Effect<ReadonlyArray<OrganizationId>, ServiceUnavailable>
  /** Accounts that were stopped until the moment, and still have something of the service's. */
  leaving(until: Date, limit: number): Effect.Effect<ReadonlyArray<Due>, ServiceUnavailable>
  /** The licence, held from here on. */
  hold(organizationId: OrganizationId): Effect.Effect<Licence | null>
  /** Those of the accounts that the licence has stopped, held from here on. */
  holdStopped(organizationId: OrganizationId, ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<AccountId>>
  /** The accounts have lost the service's sessions. */
  leave(organizationId: OrganizationId, ids: ReadonlyArray<string>, now: Date): Effect.Effect<void>
  /** Deletes the unused sign-up links of all organizations that were made until the moment, which frees their seats. */
  expireLinks(until: Date): Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/organization/LicenceEnds") {}
