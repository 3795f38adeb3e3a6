/** The ports that operations depend on. One layer in SQL implements them; RateLimiter has a second one in memory. */
import { Context, type Effect, type Redacted } from "effect"
import type { Caller, OrganizationId } from "../domain/Access.ts"
import type { AccountFacts, AccountId, DepartmentId, MessengerNames } from "../domain/Account.ts"
import type { AiConnection, ApiKey } from "../domain/Credential.ts"
import type {
  InvalidApiKey,
  InvalidToken,
  RateLimited,
  ResourceMissing,
  ServiceUnavailable
} from "../domain/Failure.ts"
import type { JournalEntry } from "../domain/JournalEntry.ts"
import type { JournalEvent, JournalOutcome } from "../domain/JournalEvent.ts"
import type { OrganizationFacts, Recipients } from "../domain/Organization.ts"
import type { MailChoices } from "../domain/Preferences.ts"
import type { SessionFacts, Termination } from "../domain/Session.ts"
import type { AccountStatus } from "../domain/Status.ts"
import type { HeldSecrets } from "./MessengerSession.ts"

type CallerService = Caller["Service"]

/** The transaction, and the boundary of the organization whose rows it may touch. */
export class Db extends Context.Service<Db, {
  /**
   * Runs the effect in one transaction of the organization: all of it commits, or nothing.
   *
   * Fails with `ServiceUnavailable` while the database is away or slower than the deadline.
   */
  transaction<A, E, R>(
    organizationId: OrganizationId,
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | ServiceUnavailable, R>
  /** A transaction that can change nothing. */
  read<A, E, R>(
    organizationId: OrganizationId,
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | ServiceUnavailable, R>
  /** Whether the database answers now. */
  readonly check: Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/Ports/Db") {}

/** Who a bearer token stands for. */
export class Credentials extends Context.Service<Credentials, {
  /**
   * The admin behind the token, read afresh; every reason to refuse one gives the same failure, by the form of the token.
   *
   * `resource` is the address at which it is presented: an access token works at the one that it was issued for alone.
   */
  authenticate(
    token: Redacted.Redacted,
    resource: string
  ): Effect.Effect<
    Omit<CallerService, "via" | "ip" | "requestId">,
    InvalidApiKey | InvalidToken | ServiceUnavailable
  >
  /** Whether the token has the form of a credential of the service: any other is refused without a look. */
  isWellFormed(token: Redacted.Redacted): boolean
  /** An admin of the organization by address, with every scope: for programs that have signed them in themselves. */
  actAs(
    organizationId: OrganizationId,
    email: string
  ): Effect.Effect<Omit<CallerService, "via" | "ip" | "requestId">, ResourceMissing | ServiceUnavailable>
  /** The AI connections that the caller may see, newest first. */
  connections(caller: CallerService): Effect.Effect<ReadonlyArray<AiConnection>>
  /** The API keys that the caller may see, newest first. */
  apiKeys(caller: CallerService): Effect.Effect<ReadonlyArray<ApiKey>>
  /** The last four characters of those keys by id, as far as they were kept: for people, on the console alone. */
  keyEndings(caller: CallerService): Effect.Effect<ReadonlyMap<string, string>>
}>()("org-security-console/ports/Ports/Credentials") {}

/** What is left of a credential's budget after a request was counted. */
export interface RateState {
  readonly limit: number
  readonly remaining: number
  /** Seconds until a request is admitted when none is left, else until the oldest one leaves the window. */
  readonly reset: number
}

/** At most 120 requests in any 60 seconds for each key, exactly; refused requests are not counted. */
export class RateLimiter extends Context.Service<RateLimiter, {
  consume(key: string): Effect.Effect<RateState, RateLimited | ServiceUnavailable>
}>()("org-security-console/ports/Ports/RateLimiter") {}

/**
 * How many wrong credentials one address may try before it is told to wait, as far as this process has seen them.
 *
 * Addresses count by `addressGroup`.
 */
export class FailedAttempts extends Context.Service<FailedAttempts, {
  /**
   * Fails where a well-formed credential is not worth a look into the database: too many different ones from the address
   * were wrong in the last minute, or this one was and there were too many in all. One that was right before is always
   * worth it, whoever else is at the address.
   */
  admit(address: string, token: Redacted.Redacted): Effect.Effect<void, RateLimited>
  /** Remembers that the credential was right. */
  right(token: Redacted.Redacted): Effect.Effect<void>
  /**
   * Counts a wrong credential from the address, null for one that has not even the form of one; fails when there were
   * too many in the last minute.
   */
  count(address: string, token: Redacted.Redacted | null): Effect.Effect<void, RateLimited>
}>()("org-security-console/ports/Ports/FailedAttempts") {}

/** How many requests without a bearer token one address may send, as far as this process has seen them. */
export class AnonymousRequests extends Context.Service<AnonymousRequests, {
  /** Counts a request from the address; fails when there were too many. */
  admit(address: string): Effect.Effect<void, RateLimited>
}>()("org-security-console/ports/Ports/AnonymousRequests") {}

/** The organization's facts and settings. */
export class Organizations extends Context.Service<Organizations, {
  facts(id: OrganizationId): Effect.Effect<OrganizationFacts>
  /** The recipients of notifications, locked for the rest of the transaction. */
  lockRecipients(id: OrganizationId): Effect.Effect<Recipients>
  setRecipients(id: OrganizationId, recipients: Recipients): Effect.Effect<void>
}>()("org-security-console/ports/Ports/Organizations") {}

/** A page of accounts in the console's order, one more than `limit` where more follow. */
export interface AccountQuery {
  readonly status: AccountStatus | undefined
  readonly departmentId: DepartmentId | undefined
  readonly after: AccountId | undefined
  readonly limit: number
}

/** The accounts of the organization that the caller reaches; any other does not exist. */
export class Accounts extends Context.Service<Accounts, {
  /** The account, or null when the caller does not reach it; locked for the rest of the transaction when asked. */
  find(caller: CallerService, id: AccountId, lock: boolean): Effect.Effect<AccountFacts | null>
  /** The accounts after `after`, or null when the caller does not reach that one. */
  list(caller: CallerService, query: AccountQuery, now: Date): Effect.Effect<ReadonlyArray<AccountFacts> | null>
  /** The accounts that match best, one more than `limit` where more do. */
  search(caller: CallerService, query: string, limit: number): Effect.Effect<ReadonlyArray<AccountFacts>>
  sessions(organizationId: OrganizationId, id: AccountId): Effect.Effect<ReadonlyArray<SessionFacts>>
  /** The latest sessions that ended, newest first. */
  terminations(organizationId: OrganizationId, id: AccountId, limit: number): Effect.Effect<ReadonlyArray<Termination>>
  /** The secrets of the account's messenger security that the service holds, opened. */
  heldSecrets(organizationId: OrganizationId, id: AccountId): Effect.Effect<HeldSecrets>
  /** Stops reviewing: no deadline and no queued sign-out stays, but which sign-outs were withheld is kept. */
  pause(organizationId: OrganizationId, id: AccountId, now: Date): Effect.Effect<void>
  /** Takes monitoring up again, as protected whatever happened before. */
  resume(organizationId: OrganizationId, id: AccountId, now: Date): Effect.Effect<void>
  setRoleLabel(organizationId: OrganizationId, account: AccountFacts, label: string | null): Effect.Effect<void>
  /** Keeps the names that the messenger has now, and the place in the list that follows from them. */
  setNames(organizationId: OrganizationId, account: AccountFacts, names: MessengerNames): Effect.Effect<void>
}>()("org-security-console/ports/Ports/Accounts") {}

/** The admins of the organization. */
export class Admins extends Context.Service<Admins, {
  /** Where the admin's emails go and which they are, or null for an admin without a sign-in of their own. */
  mailPreferences(
    organizationId: OrganizationId,
    adminId: string,
    lock: boolean
  ): Effect.Effect<{ readonly email: string; readonly choices: MailChoices } | null>
  setMailChoices(organizationId: OrganizationId, adminId: string, choices: MailChoices): Effect.Effect<void>
}>()("org-security-console/ports/Ports/Admins") {}

/** A page of the journal, newest first, one more than `limit` where more follow. */
export interface JournalQuery {
  readonly beforeId: string | undefined
  readonly before: Date | undefined
  readonly since: Date | undefined
  readonly accountId: string | undefined
  readonly adminId: string | undefined
  readonly action: string | undefined
  readonly outcome: JournalOutcome | undefined
  readonly credentialId: string | undefined
  readonly limit: number
}

/** The organization's append-only journal: gapless, and chained by hashes. */
export class Journal extends Context.Service<Journal, {
  /** Appends the entry within the current transaction; it locks the journal's head until the end of it. */
  append(organizationId: OrganizationId, entry: JournalEntry): Effect.Effect<JournalEvent>
  /** Appends the intent of a change outside the database; left without an outcome it is closed as failed later. */
  begin(organizationId: OrganizationId, entry: JournalEntry): Effect.Effect<JournalEvent>
  /** Appends the outcome of an intent, once: false when it has one already. */
  close(organizationId: OrganizationId, intent: number, entry: JournalEntry): Effect.Effect<boolean>
  /** Whether another change outside the database was done to the account since the intent was begun, or was closed. */
  othersDone(
    organizationId: OrganizationId,
    account: AccountId,
    intent: number,
    since: "begun" | "closed"
  ): Effect.Effect<boolean>
  /** The events that the caller may see, or null when `beforeId` is not among them. */
  list(caller: CallerService, query: JournalQuery): Effect.Effect<ReadonlyArray<JournalEvent> | null>
  find(caller: CallerService, id: string): Effect.Effect<JournalEvent | null>
  /** The events after a sequence, oldest first, whoever they concern. */
  tail(organizationId: OrganizationId, after: number, limit: number): Effect.Effect<ReadonlyArray<JournalEvent>>
  /** The newest event of the organization; sequence 0 and the chain's seed without one. */
  head(organizationId: OrganizationId): Effect.Effect<{ readonly sequence: number; readonly hash: string }>
}>()("org-security-console/ports/Ports/Journal") {}
