/**
 * The services and failures by themselves. The compiler writes the types of a program's exports into its declarations,
 * and names nothing there through a namespace that the program does not import.
 */
export type * from "./domain/Failure.ts"
export type { Background } from "./jobs/Background.ts"
export type {
  ExtensionMissing,
  SchemaNewer,
  SchemaOlder,
  SchemaUnreleased,
  SimulatedTablesMissing
} from "./layers/postgres/Migrate.ts"
export type { DatabaseUnusable, DatabaseUrlInvalid } from "./layers/postgres/Postgres.ts"
export type { RoleBypassesRowSecurity, RolesMissing } from "./layers/postgres/Roles.ts"
export type { Refused, UseCase } from "./operator/UseCase.ts"
export type * from "./ports/index.ts"
export type * from "./ports/oauth/OAuthPorts.ts"
export type { Monitors } from "./ports/protection/Monitors.ts"
export type { AdminSignIn } from "./ports/signin/AdminSignIn.ts"
export type { ConsoleSessions } from "./ports/signin/ConsoleSessions.ts"
export type { ForgottenPasswords } from "./ports/signin/ForgottenPasswords.ts"
export type { Invitations } from "./ports/signin/Invitations.ts"
export type { NoProvider, ProviderAway, ProviderRefused, ProviderSignIn } from "./ports/signin/ProviderSignIn.ts"
export type { SecondFactorIncorrect, SecondFactorNeeded, SecondFactors } from "./ports/signin/SecondFactors.ts"
export type { SignInEnded, SignIns } from "./ports/signin/SignIns.ts"
export type { Sites } from "./transport/Site.ts"
export type { RequestId } from "./transport/TransportSettings.ts"
// The messenger's refusals of these names are other classes than the API's.
export type { EmailRefused, NoSession, PasswordInvalid } from "./domain/Failure.ts"
export type {
  EmailRefused as MessengerEmailRefused,
  NoSession as MessengerNoSession,
  PasswordInvalid as MessengerPasswordInvalid
} from "./ports/index.ts"
