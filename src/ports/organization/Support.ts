/** Requests to the support. */
import { Context, type Effect } from "effect"
import type { SupportFacts } from "../../domain/organization/Support.ts"
import type { Caller, OrganizationId } from "../../domain/people/Access.ts"

export type NewSupportRequest = Pick<
  SupportFacts,
  "category" | "subject" | "message" | "account_id" | "related_request_id"
>

/** The requests: the caller's own, and for owner and superadmins all; a limited credential's own within its limit. */
export class Support extends Context.Service<Support, {
  /** Newest first, one more than `limit` where more follow; null when `after` is not among them. */
  list(
    caller: Caller["Service"],
    page: { readonly after: string | undefined; readonly limit: number }
  ): Effect.Effect<ReadonlyArray<SupportFacts> | null>
  find(caller: Caller["Service"], id: string): Effect.Effect<SupportFacts | null>
  /**
   * The number of requests that the admin has made since a moment, and the time of the first; it locks the
   * organization.
   */
  lockMade(
    caller: Caller["Service"],
    since: Date
  ): Effect.Effect<{ readonly count: number; readonly first: Date | null; readonly email: string }>
  create(caller: Caller["Service"], request: NewSupportRequest, now: Date): Effect.Effect<SupportFacts>
  /** The request of a number in any organization, for the operator; locked for the rest of the transaction. */
  lockNumbered(organizationId: OrganizationId, number: number): Effect.Effect<SupportFacts | null>
  /** The organization's requests, newest first, for the operator. */
  all(organizationId: OrganizationId, limit: number): Effect.Effect<ReadonlyArray<SupportFacts>>
  answer(organizationId: OrganizationId, id: string, answer: string, now: Date): Effect.Effect<void>
  close(organizationId: OrganizationId, id: string, now: Date): Effect.Effect<void>
}>()("org-security-console/ports/organization/Support") {}
