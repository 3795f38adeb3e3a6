/**
 * The Organization Security Console as a library: what is true (domain), what may be done (operations), and what both
 * depend on (ports). `org-security-console/layers` holds what the ports are made of, `org-security-console/http` the
 * service over HTTP, and `org-security-console/client` a client of it.
 */
export * as AdminSignIn from "./console/AdminSignIn.ts"
export * as ConsoleSessions from "./console/ConsoleSessions.ts"
export * as Invitations from "./console/Invitations.ts"
export * as Access from "./domain/Access.ts"
export * as Account from "./domain/Account.ts"
export * as Archive from "./domain/Archive.ts"
export * as Credential from "./domain/Credential.ts"
export * as Failure from "./domain/Failure.ts"
export * as JournalEvent from "./domain/JournalEvent.ts"
export * as Messenger from "./domain/Messenger.ts"
export * as MessengerProfile from "./domain/MessengerProfile.ts"
export * as Organization from "./domain/Organization.ts"
export * as Preferences from "./domain/Preferences.ts"
export * as Session from "./domain/Session.ts"
export * as Status from "./domain/Status.ts"
export * as Background from "./engine/Background.ts"
export * as Upkeep from "./engine/Upkeep.ts"
export * as Operation from "./kernel/Operation.ts"
export * as OAuth from "./oauth/Ports.ts"
export { api, type Operations, operations, Served } from "./operations/index.ts"
export * as Ports from "./ports/index.ts"
export * as MessengerSession from "./ports/MessengerSession.ts"
