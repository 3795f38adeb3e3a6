/** The facts about an admin that decide how they may sign in. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { JournalDetails } from "../../domain/journal/JournalEvent.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { FactorKind } from "../../domain/signin/SecondFactor.ts"
import type { AdminRef } from "./ConsolePasswords.ts"

/** Each function but `byPasskey` works within the organization's transaction. */
export class AdminStanding extends Context.Service<AdminStanding, {
  /** Locks an active admin for changes of their sign-in; false where they are disabled. */
  lock(admin: AdminRef): Effect.Effect<boolean>
  /** Keeps an active admin from being disabled meanwhile; false where they are. */
  share(admin: AdminRef): Effect.Effect<boolean>
  /** Locks the active owner, who has a second factor if one is wanted; false where the admin is not that. */
  lockOwner(admin: AdminRef, withFactor: boolean): Effect.Effect<boolean>
  /** Holds admin and organization: what ends their sessions comes before and is seen, or after. */
  hold(admin: AdminRef): Effect.Effect<void>
  /** True if the admin may still sign in by the way of the details, and has the second factor that was given. */
  mayStart(admin: AdminRef, factor: FactorKind | null, details: JournalDetails): Effect.Effect<boolean>
  /** The admin's name or address, and the time since which they use the browser of a digest. */
  nameAndBrowser(
    admin: AdminRef,
    digest: string
  ): Effect.Effect<{ readonly name: string | null; readonly knownSince: Date | null }>
  /** The active admins with a passkey that may sign in by it, of one organization or of any. */
  byPasskey(
    credentialId: string,
    organizationId: OrganizationId | null
  ): Effect.Effect<ReadonlyArray<AdminRef>, ServiceUnavailable>
}>()("org-security-console/ports/signin/AdminStanding") {}
