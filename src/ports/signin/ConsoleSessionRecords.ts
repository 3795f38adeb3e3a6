/** The records of console sessions, by the digest of a cookie. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { FactorKind } from "../../domain/signin/SecondFactor.ts"
import type { AdminRef } from "./ConsolePasswords.ts"
import type { ListedSession, SignedIn } from "./ConsoleSessions.ts"

/** A session by organization and id. */
export type SessionRef = Pick<SignedIn, "organizationId" | "sessionId">

/** A session to begin. */
export interface NewSession {
  readonly digest: string
  /** The time when the first factor was given. */
  readonly since: Date
  readonly now: Date
  readonly address: string | null
  readonly browser: string
  readonly factor: FactorKind | null
  /** True if the admin has signed in with the browser long before. */
  readonly longKnown: boolean
}

/** Each function but `find` and `endBefore` works within the organization's transaction. */
export class ConsoleSessionRecords extends Context.Service<ConsoleSessionRecords, {
  /** The admin of a session that has not ended, of one organization or of any; `use` keeps it from becoming idle. */
  find(
    digest: string,
    organizationId: OrganizationId | null,
    use: boolean
  ): Effect.Effect<SignedIn | null, ServiceUnavailable>
  /** Ends the session that the browser had. */
  endBefore(digest: string): Effect.Effect<void, ServiceUnavailable>
  /** Begins a session, and returns its id. */
  add(admin: AdminRef, session: NewSession): Effect.Effect<string>
  /** Ends a session of the admin, unless it is the kept one; returns the number of sessions that ended. */
  end(admin: AdminRef, id: string, kept: string | null): Effect.Effect<number>
  /** The admin's sessions, the one used last first. */
  list(admin: SignedIn): Effect.Effect<ReadonlyArray<ListedSession>>
  /** Gives a session a new secret and a new age. */
  renew(session: SignedIn, digest: string, now: Date): Effect.Effect<void>
  /** Remembers that the second factor was given. */
  setFactor(session: SessionRef, factor: FactorKind, now: Date): Effect.Effect<void>
  /** True if the session began in a browser that was known long before. */
  isLongKnown(admin: AdminRef, id: string): Effect.Effect<boolean>
}>()("org-security-console/ports/signin/ConsoleSessionRecords") {}
