/** The browsers that an admin has signed in with, by the digest of a cookie that lives longer than the session. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { AdminRef } from "./ConsolePasswords.ts"
import type { CredentialNotices, SignedIn } from "./ConsoleSessions.ts"

export class KnownBrowsers extends Context.Service<KnownBrowsers, {
  /** Gives a browser a new secret, for every admin who has signed in with it; outside any organization. */
  renew(before: string, after: string): Effect.Effect<void, ServiceUnavailable>
  /**
   * Knows the browser as one of the admin's, used from a group of addresses, and forgets the ones used longest ago;
   * within the organization's transaction.
   */
  remember(admin: AdminRef, digest: string, address: string | null, now: Date): Effect.Effect<void>
  /** True if the admin has used the browser since; within the organization's transaction. */
  isKnown(admin: AdminRef, digest: string, since: Date): Effect.Effect<boolean>
  /** The credentials made in the admin's name that the browser has not shown; it has from here on. */
  takeNotices(admin: SignedIn, digest: string): Effect.Effect<CredentialNotices, ServiceUnavailable>
}>()("org-security-console/ports/signin/KnownBrowsers") {}
