/** Every port but the messenger, over one SqlClient. */
import { Layer } from "effect"
import { Alarm } from "../../ports/protection/Alarm.ts"
import * as AccountPasskeys from "../crypto/security/AccountPasskeys.ts"
import { Vault } from "../crypto/Vault.ts"
import * as Leftovers from "../Leftovers.ts"
import * as Db from "../postgres/Db.ts"
import * as Guard from "./accounts/AccountLock.ts"
import * as Accounts from "./accounts/Accounts.ts"
import * as Identities from "./accounts/Identities.ts"
import * as StatusSamples from "./accounts/StatusSamples.ts"
import * as ArchiveAttempts from "./archive/ArchiveAttempts.ts"
import * as ArchiveBlobs from "./archive/ArchiveBlobs.ts"
import * as ArchiveChats from "./archive/ArchiveChats.ts"
import * as ArchiveCleanups from "./archive/ArchiveCleanups.ts"
import * as ArchiveDeletions from "./archive/ArchiveDeletions.ts"
import * as ArchiveExports from "./archive/ArchiveExports.ts"
import * as ArchiveFiles from "./archive/ArchiveFiles.ts"
import * as ArchiveHolds from "./archive/ArchiveHolds.ts"
import * as ArchiveKeys from "./archive/ArchiveKeys.ts"
import * as ArchiveManifests from "./archive/ArchiveManifests.ts"
import * as ArchivePages from "./archive/ArchivePages.ts"
import * as ArchivePhases from "./archive/ArchivePhases.ts"
import * as ArchiveReads from "./archive/ArchiveReads.ts"
import * as ArchiveRecords from "./archive/ArchiveRecords.ts"
import * as ArchiveRedactions from "./archive/ArchiveRedactions.ts"
import * as ArchiveRetentions from "./archive/ArchiveRetentions.ts"
import * as ArchiveRules from "./archive/ArchiveRules.ts"
import * as ArchiveRuns from "./archive/ArchiveRuns.ts"
import * as ArchiveStorage from "./archive/ArchiveStorage.ts"
import * as ArchiveUnreadables from "./archive/ArchiveUnreadables.ts"
import * as CaptureStore from "./archive/CaptureStore.ts"
import * as Epochs from "./archive/Epochs.ts"
import * as ExportRecords from "./archive/ExportRecords.ts"
import * as SearchBlocks from "./archive/SearchBlocks.ts"
import * as SearchStore from "./archive/SearchStore.ts"
import * as WaitingFiles from "./archive/WaitingFiles.ts"
import * as Bearers from "./credentials/Bearers.ts"
import * as CredentialEndings from "./credentials/CredentialEndings.ts"
import * as Credentials from "./credentials/Credentials.ts"
import * as IssuedCredentials from "./credentials/IssuedCredentials.ts"
import * as KeyExpiry from "./credentials/KeyExpiry.ts"
import { LastUses } from "./credentials/LastUses.ts"
import * as RateLimiter from "./credentials/RateLimiter.ts"
import * as IdempotencyKeys from "./IdempotencyKeys.ts"
import * as Journal from "./journal/Journal.ts"
import * as PendingChanges from "./journal/PendingChanges.ts"
import * as Logins from "./logins/Logins.ts"
import * as Outbox from "./mail/Outbox.ts"
import * as Applications from "./oauth/Applications.ts"
import * as OAuthClients from "./oauth/OAuthClients.ts"
import * as OAuthGrants from "./oauth/OAuthGrants.ts"
import * as OAuthLeftovers from "./oauth/OAuthLeftovers.ts"
import * as Directory from "./organization/Directory.ts"
import * as LicenceEnds from "./organization/LicenceEnds.ts"
import * as Licences from "./organization/Licences.ts"
import * as LicenceStops from "./organization/LicenceStops.ts"
import * as Organizations from "./organization/Organizations.ts"
import * as Overview from "./organization/StatusOverview.ts"
import * as Support from "./organization/Support.ts"
import * as Admins from "./people/Admins.ts"
import * as Departments from "./people/Departments.ts"
import * as ManagedAdmins from "./people/ManagedAdmins.ts"
import * as AccountTasks from "./protection/AccountTasks.ts"
import * as Facets from "./protection/ObservedSettings.ts"
import * as OutageRecords from "./protection/OutageRecords.ts"
import * as OwnSessions from "./protection/SecondSessions.ts"
import * as SilentAccounts from "./protection/SilentAccounts.ts"
import * as TakeoverLocks from "./protection/TakeoverLocks.ts"
import * as Attempts from "./security/AccountAttempts.ts"
import * as EmailChanges from "./security/EmailChanges.ts"
import * as Rewrap from "./security/Rewrap.ts"
import * as SecretExpiry from "./security/SecretExpiry.ts"
import * as Secrets from "./security/Secrets.ts"
import * as Sessions from "./sessions/Sessions.ts"
import * as AdminPasswords from "./signin/AdminPasswords.ts"
import * as AdminStanding from "./signin/AdminStanding.ts"
import * as AttemptCounters from "./signin/AttemptCounters.ts"
import * as ConsoleSessionRecords from "./signin/ConsoleSessionRecords.ts"
import * as FactorRecords from "./signin/FactorRecords.ts"
import * as FailedPasswords from "./signin/FailedPasswords.ts"
import * as IdentityProviders from "./signin/IdentityProviders.ts"
import * as InvitationRecords from "./signin/InvitationRecords.ts"
import * as KnownBrowsers from "./signin/KnownBrowsers.ts"
import * as PasswordResets from "./signin/PasswordResets.ts"
import * as PendingSignInRecords from "./signin/PendingSignInRecords.ts"
import * as ResetRequests from "./signin/ResetRequests.ts"
import * as StoredFactors from "./signin/StoredFactors.ts"

const factors = Layer.provideMerge(FactorRecords.layer, CredentialEndings.layer)

/** The records that signing in decides on. */
const signIn = Layer.mergeAll(
  AdminPasswords.layer,
  AdminStanding.layer,
  AttemptCounters.layer,
  ConsoleSessionRecords.layer,
  FailedPasswords.layer,
  InvitationRecords.layer,
  KnownBrowsers.layer,
  PendingSignInRecords.layer,
  ResetRequests.layer,
  StoredFactors.layer
)

/** Those that only jobs need. */
const jobs = Layer.mergeAll(
  KeyExpiry.layer,
  Leftovers.layer,
  LicenceEnds.layer,
  LicenceStops.layer,
  OAuthLeftovers.layer,
  OutageRecords.layer,
  PendingChanges.layer,
  SecretExpiry.layer,
  SilentAccounts.layer,
  StatusSamples.layer,
  TakeoverLocks.layer
)

export const layer = Layer.mergeAll(
  AccountPasskeys.layer,
  ArchiveAttempts.layer,
  ArchiveReads.layer,
  ArchivePhases.layer,
  ArchiveRetentions.layer,
  ArchiveStorage.layer,
  ArchiveRules.layer,
  ArchiveRuns.layer,
  Attempts.layer,
  CaptureStore.layer,
  WaitingFiles.layer,
  EmailChanges.layer,
  Facets.layer,
  Logins.layer,
  Overview.layer,
  OwnSessions.layer,
  Rewrap.layer,
  SearchStore.layer,
  Secrets.layer,
  Sessions.layer,
  jobs,
  signIn
)
  .pipe(
    Layer.provideMerge(Layer.mergeAll(
      AccountTasks.layer.pipe(Layer.provide(Db.layer)),
      Accounts.layer,
      Admins.layer,
      Applications.layer,
      ArchiveChats.layer,
      ArchiveCleanups.layer,
      ArchiveBlobs.layer,
      ArchiveDeletions.layer,
      ArchiveExports.layer,
      ArchiveFiles.layer,
      ArchiveHolds.layer,
      ExportRecords.layer,
      ArchiveManifests.layer,
      ArchiveKeys.layer,
      ArchivePages.layer,
      ArchiveRecords.layer,
      ArchiveUnreadables.layer,
      ArchiveRedactions.layer,
      Bearers.layer,
      Credentials.layer,
      Db.layer,
      Departments.layer,
      Directory.layer,
      Epochs.layer,
      Guard.layer,
      IdempotencyKeys.layer,
      Identities.layer,
      IdentityProviders.layer,
      IdentityProviders.layerSignIns,
      IssuedCredentials.layer,
      Journal.layer,
      Licences.layer,
      OAuthClients.layer,
      OAuthGrants.layer,
      Organizations.layer,
      Outbox.layer,
      PasswordResets.layer,
      ManagedAdmins.layer,
      RateLimiter.layer,
      SearchBlocks.layer,
      Support.layer
    ))
  ).pipe(Layer.provideMerge(Layer.mergeAll(Alarm.layer, factors, LastUses.layer, Vault.layer)))
