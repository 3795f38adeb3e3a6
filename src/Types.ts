/**
 * The services and failures by themselves. The compiler writes the types of a program's exports into its declarations,
 * and names nothing there through a namespace that the program does not import.
 */
export type { SearchServices } from "./archive/SearchMatches.ts"
export type { ArchiveTotals } from "./domain/archive/ArchiveAccount.ts"
export type {
  CleanupCounts,
  CleanupCriteria,
  CleanupId,
  CleanupState,
  StoredCleanup
} from "./domain/archive/ArchiveCleanup.ts"
export type { ExportCriteria, PlannedPart, StoredExport, StoredPart } from "./domain/archive/ArchiveExport.ts"
export type { HeldRecords, HoldId, StoredHold } from "./domain/archive/ArchiveHold.ts"
export type { RuleInEffect, RulePreviewCounts, StoredRule } from "./domain/archive/ArchiveRule.ts"
export type { BlobRef } from "./domain/archive/Blob.ts"
export type { CapturedChat } from "./domain/archive/CapturedChat.ts"
export type { ChatProgress } from "./domain/archive/ChatProgress.ts"
export type { EpochRef } from "./domain/archive/Epoch.ts"
export type { DownloadReport, StoredDownload } from "./domain/archive/ExportDownload.ts"
export type { MeasuredDays } from "./domain/archive/ExportParts.ts"
export type { FailureReason, SkipReason } from "./domain/archive/FileReason.ts"
export type { Argon2Cost } from "./domain/archive/KeyDerivation.ts"
export type { WrapRow } from "./domain/archive/KeyWrap.ts"
export type { Leaf, PageFacts } from "./domain/archive/Manifest.ts"
export type { RedactionId } from "./domain/archive/Redaction.ts"
export type { KeptDays, StoredRetention } from "./domain/archive/Retention.ts"
export type { Selection } from "./domain/archive/RuleSelection.ts"
export type { SearchWord } from "./domain/archive/SearchWords.ts"
export type { ByteRange, Content } from "./domain/Content.ts"
export type * from "./domain/Failure.ts"
export type { PasswordOwner } from "./domain/signin/PasswordRule.ts"
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
export type { StoredStatuses } from "./ports/accounts/StoredStatuses.ts"
export type { CredentialEndings } from "./ports/credentials/CredentialEndings.ts"
export type { KeyExpiry } from "./ports/credentials/KeyExpiry.ts"
export type { Due } from "./ports/Due.ts"
export type * from "./ports/index.ts"
export type { ChainChecks } from "./ports/journal/ChainChecks.ts"
export type { CheckpointQueue } from "./ports/journal/CheckpointQueue.ts"
export type { CheckpointSigning } from "./ports/journal/CheckpointSigning.ts"
export type { PendingChanges } from "./ports/journal/PendingChanges.ts"
export type { Leftovers } from "./ports/Leftovers.ts"
export type { MailQueue } from "./ports/mail/MailQueue.ts"
export type { MailSender } from "./ports/mail/MailSender.ts"
export type { CloseSlots } from "./ports/messenger/Ownership.ts"
export type { OAuthLeftovers } from "./ports/oauth/OAuthLeftovers.ts"
export type * from "./ports/oauth/OAuthPorts.ts"
export type { LicenceEnds } from "./ports/organization/LicenceEnds.ts"
export type { LicenceStops } from "./ports/organization/LicenceStops.ts"
export type { Monitors } from "./ports/protection/Monitors.ts"
export type { OutageRecords } from "./ports/protection/OutageRecords.ts"
export type { SilentAccounts } from "./ports/protection/SilentAccounts.ts"
export type { TakeoverLocks } from "./ports/protection/TakeoverLocks.ts"
export type { SecretExpiry } from "./ports/security/SecretExpiry.ts"
export type { AdminPasswords } from "./ports/signin/AdminPasswords.ts"
export type { AdminSignIn } from "./ports/signin/AdminSignIn.ts"
export type { AdminStanding } from "./ports/signin/AdminStanding.ts"
export type { AttemptCounters } from "./ports/signin/AttemptCounters.ts"
export type { ConsoleSessionRecords } from "./ports/signin/ConsoleSessionRecords.ts"
export type { ConsoleSessions } from "./ports/signin/ConsoleSessions.ts"
export type { FailedPasswords } from "./ports/signin/FailedPasswords.ts"
export type { ForgottenPasswords } from "./ports/signin/ForgottenPasswords.ts"
export type { InvitationRecords } from "./ports/signin/InvitationRecords.ts"
export type { Invitations } from "./ports/signin/Invitations.ts"
export type { KnownBrowsers } from "./ports/signin/KnownBrowsers.ts"
export type { PendingSignInRecords } from "./ports/signin/PendingSignInRecords.ts"
export type { ProviderSignInRecords } from "./ports/signin/ProviderClient.ts"
export type { NoProvider, ProviderAway, ProviderRefused, ProviderSignIn } from "./ports/signin/ProviderSignIn.ts"
export type { ResetRequests } from "./ports/signin/ResetRequests.ts"
export type { SecondFactorIncorrect, SecondFactorNeeded, SecondFactors } from "./ports/signin/SecondFactors.ts"
export type { SignInEnded, SignIns } from "./ports/signin/SignIns.ts"
export type { SignInSecrets } from "./ports/signin/SignInSecrets.ts"
export type { AuthenticatorApps, StoredPasskeys, StoredRecoveryCodes } from "./ports/signin/StoredFactors.ts"
export type { Sites } from "./transport/Site.ts"
export type { RequestId } from "./transport/TransportSettings.ts"
// The messenger's refusals of these names are other classes than the API's.
export type { EmailRefused, NoSession, PasswordInvalid } from "./domain/Failure.ts"
export type {
  EmailRefused as MessengerEmailRefused,
  NoSession as MessengerNoSession,
  PasswordInvalid as MessengerPasswordInvalid
} from "./ports/index.ts"
