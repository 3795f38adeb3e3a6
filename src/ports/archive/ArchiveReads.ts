/** The reads of archives, which are journaled by the hour. */
import { Context, type Effect } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { Caller, CredentialKind, OrganizationId, Via } from "../../domain/people/Access.ts"

/** The reads of an account's archive by one credential in one hour. */
export interface ArchiveRead {
  readonly credential_id: string
  readonly credential_kind: CredentialKind
  readonly credential_label: string
  readonly admin_id: string
  readonly admin_name: string | null
  readonly via: Via
  readonly account_id: string
  readonly hour: Date
  readonly messages: number
  readonly files: number
  readonly searches: number
}

/** An answer about an account's archive: its messages, the searches that it is of, and files with their contents. */
export interface AnsweredRead {
  readonly accountId: AccountId
  readonly messages?: number
  readonly searches?: number
  readonly files?: number
}

export class ArchiveReads extends Context.Service<ArchiveReads, {
  /**
   * Counts an answer about the archives of accounts, each named once. The first of an account in an hour is stored before
   * it returns, the counts of the others within a second.
   */
  note(caller: Caller["Service"], reads: ReadonlyArray<AnsweredRead>): Effect.Effect<void, ServiceUnavailable>
  /** The organizations with reads in hours that began by then. */
  due(before: Date): Effect.Effect<ReadonlyArray<OrganizationId>, ServiceUnavailable>
  /** Takes away so many of those, within the organization's transaction that journals them. */
  take(organizationId: OrganizationId, before: Date, most: number): Effect.Effect<ReadonlyArray<ArchiveRead>>
}>()("org-security-console/ports/archive/ArchiveReads") {}
