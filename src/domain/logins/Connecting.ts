/** The rules of the last step of a login: what happens to the account that was signed in to. */
import { Duration, Schema } from "effect"
import { signOutLock } from "../Limits.ts"
import type { MessengerUserId } from "../messenger/Messenger.ts"
import { countsLicences, licencesOf, type LicencesUsed } from "../organization/Billing.ts"
import { isProtectionActive, type OrganizationFacts, seats, Tier } from "../organization/Organization.ts"

/** The reason that an account is not connected. */
export const ConnectRefusal = Schema.Literals([
  "protected_here",
  "protected_elsewhere",
  "out_of_reach",
  "no_free_seat",
  "not_licensed",
  "wrong_account"
])
export type ConnectRefusal = typeof ConnectRefusal.Type

/** The organization's account of a messenger user. */
export interface KnownAccount {
  readonly id: string
  readonly messenger_user_id: string
  readonly offboarded_at: Date | null
  /** True if the caller can access it, or, in background work, the admin who started the login. */
  readonly accessible: boolean
}

/** The reason that the organization can connect no account; null where it can. */
export const admits = (
  organization: OrganizationFacts,
  needsSeat: boolean,
  now: Date
): "no_free_seat" | "not_licensed" | null =>
  !isProtectionActive(organization, now)
    ? "not_licensed"
    : needsSeat && seats(organization).free < 1
    ? "no_free_seat"
    : null

/** The reason that the person who signed in is not connected by a login of that kind; null where they are. */
export const refuses = (
  organization: OrganizationFacts,
  kind: "connect" | "relogin",
  userId: MessengerUserId,
  known: KnownAccount | null,
  now: Date
): ConnectRefusal | null => {
  if (kind === "relogin") {
    if (known === null || known.offboarded_at !== null || known.messenger_user_id !== userId) return "wrong_account"
    return admits(organization, false, now)
  }
  if (known !== null && known.offboarded_at === null) return "protected_here"
  if (known !== null && !known.accessible) return "out_of_reach"
  return admits(organization, true, now)
}

/** The tier of a new account: the plan's, or, where licences are counted for each, the highest of which one is left. */
export const newTier = (organization: OrganizationFacts, used: LicencesUsed): Tier | null =>
  countsLicences(organization)
    ? Tier.literals.findLast((tier) => used[tier] < licencesOf(organization)[tier]) ?? null
    : organization.plan

/** The moment from which the service may sign others out: the oldest of its sessions acts. */
export const enforcementFrom = (created: ReadonlyArray<Date>): Date | null =>
  created.length === 0
    ? null
    : new Date(Math.min(...created.map((moment) => moment.getTime())) + Duration.toMillis(signOutLock))
