/** The ending of an admin's credentials, within the organization's transaction. */
import { Context, type Effect } from "effect"
import type { AdminRef } from "../signin/ConsolePasswords.ts"

export class CredentialEndings extends Context.Service<CredentialEndings, {
  /** Revokes the keys that have not ended, and those that wait for the admin to be enabled; returns their number. */
  endKeys(admin: AdminRef, at: Date): Effect.Effect<number>
  /** Locks the admin's connections, which comes before locking the admin: a token request locks the connection first. */
  lockConnections(admin: AdminRef): Effect.Effect<void>
  /** Disconnects every application of the admin; returns their number. */
  endConnections(admin: AdminRef, at: Date): Effect.Effect<number>
  /** Ends console sessions except one, and sign-ins that wait for the second factor; returns the number of sessions. */
  endSessions(admin: AdminRef, kept?: string | null): Effect.Effect<number>
  /** Ends the links by which the admin could choose a new password; they still count as mailed. */
  endResets(admin: AdminRef): Effect.Effect<void>
  /** Forgets the browsers that the admin has signed in with, except the one of a digest. */
  forgetBrowsers(admin: AdminRef, kept?: string | null): Effect.Effect<void>
}>()("org-security-console/ports/credentials/CredentialEndings") {}
