/** The people on the messenger whom each account protects: one person by one account of all organizations. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { MessengerUserId } from "../../domain/messenger/Messenger.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** The claims on people; within the organization's transaction. */
export class Identities extends Context.Service<Identities, {
  /**
   * Claims the person for the account, and returns true if it has them now: again true for the account that has.
   * Another organization's claim stays, without revealing whose it is; an uncommitted one is waited for.
   */
  claim(organizationId: OrganizationId, userId: MessengerUserId, accountId: AccountId): Effect.Effect<boolean>
  /** Frees the person that the account has claimed, if any. */
  release(organizationId: OrganizationId, accountId: AccountId): Effect.Effect<void>
}>()("org-security-console/ports/accounts/Identities") {}
