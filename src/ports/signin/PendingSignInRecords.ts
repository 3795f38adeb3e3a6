/** The records of sign-ins that wait for their second factor, by the digest of a cookie. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { JournalDetails } from "../../domain/journal/JournalEvent.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { WaitingSignIn } from "../../domain/signin/PendingSignIns.ts"
import type { AdminRef } from "./ConsolePasswords.ts"
import type { PendingSignIn } from "./SignIns.ts"

/** A sign-in to begin. */
export interface NewPendingSignIn {
  readonly digest: string
  readonly since: Date
  readonly details: JournalDetails
  readonly address: string | null
  /** The digest of the browser, where it is known. */
  readonly browser: string | null
}

type Ref = Pick<PendingSignIn, "id" | "organizationId">

/** Each function but `find` works within the organization's transaction. */
export class PendingSignInRecords extends Context.Service<PendingSignInRecords, {
  /** The sign-in that can be completed still, of one organization or of any. */
  find(
    digest: string,
    organizationId: OrganizationId | null
  ): Effect.Effect<Omit<PendingSignIn, "hasFactor"> | null, ServiceUnavailable>
  add(admin: AdminRef, pending: NewPendingSignIn): Effect.Effect<void>
  /** The admin's sign-ins, the newest first. */
  list(admin: AdminRef): Effect.Effect<ReadonlyArray<WaitingSignIn>>
  /** Counts an answer; null where the sign-in has ended. */
  countAnswer(pending: Ref): Effect.Effect<number | null>
  /** Locks the sign-in and its admin; null where the sign-in has ended. */
  lock(
    pending: Ref,
    now: Date
  ): Effect.Effect<{ readonly since: Date; readonly details: JournalDetails } | null>
  /** Removes a sign-in that is completed; the statement travels with the next one. */
  complete(pending: Ref): Effect.Effect<void>
  displace(organizationId: OrganizationId, ids: ReadonlyArray<string>): Effect.Effect<void>
}>()("org-security-console/ports/signin/PendingSignInRecords") {}
