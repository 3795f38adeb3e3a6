/** Every port but the messenger, over one SqlClient. */
import { Layer } from "effect"
import { Alarm } from "../../ports/protection/Alarm.ts"
import * as AccountPasskeys from "../crypto/security/AccountPasskeys.ts"
import { Vault } from "../crypto/Vault.ts"
import * as Db from "../postgres/Db.ts"
import * as Guard from "./accounts/AccountLock.ts"
import * as Accounts from "./accounts/Accounts.ts"
import * as Identities from "./accounts/Identities.ts"
import * as Entrance from "./credentials/Authentication.ts"
import * as Credentials from "./credentials/Credentials.ts"
import * as IssuedCredentials from "./credentials/IssuedCredentials.ts"
import { LastUses } from "./credentials/LastUses.ts"
import * as RateLimiter from "./credentials/RateLimiter.ts"
import * as IdempotencyKeys from "./IdempotencyKeys.ts"
import * as Journal from "./journal/Journal.ts"
import * as Logins from "./logins/Logins.ts"
import * as Outbox from "./mail/Outbox.ts"
import * as Applications from "./oauth/Applications.ts"
import * as OAuthClients from "./oauth/OAuthClients.ts"
import * as OAuthGrants from "./oauth/OAuthGrants.ts"
import * as Directory from "./organization/Directory.ts"
import * as Licences from "./organization/Licences.ts"
import * as Organizations from "./organization/Organizations.ts"
import * as Overview from "./organization/StatusOverview.ts"
import * as Support from "./organization/Support.ts"
import * as Admins from "./people/Admins.ts"
import * as Departments from "./people/Departments.ts"
import * as ManagedAdmins from "./people/ManagedAdmins.ts"
import * as AccountTasks from "./protection/AccountTasks.ts"
import * as Facets from "./protection/ObservedSettings.ts"
import * as OwnSessions from "./protection/SecondSessions.ts"
import * as Attempts from "./security/AccountAttempts.ts"
import * as EmailChanges from "./security/EmailChanges.ts"
import * as Rewrap from "./security/Rewrap.ts"
import * as Secrets from "./security/Secrets.ts"
import * as Sessions from "./sessions/Sessions.ts"
import * as ConsolePasswords from "./signin/ConsolePasswords.ts"
import * as FactorRecords from "./signin/FactorRecords.ts"
import * as IdentityProviders from "./signin/IdentityProviders.ts"
import * as PasswordResets from "./signin/PasswordResets.ts"

export const layer = Layer.mergeAll(
  AccountPasskeys.layer,
  Attempts.layer,
  ConsolePasswords.layer,
  EmailChanges.layer,
  Facets.layer,
  Logins.layer,
  Overview.layer,
  OwnSessions.layer,
  Rewrap.layer,
  Secrets.layer,
  Sessions.layer
)
  .pipe(
    Layer.provideMerge(Layer.mergeAll(
      AccountTasks.layer.pipe(Layer.provide(Db.layer)),
      Accounts.layer,
      Admins.layer,
      Applications.layer,
      Credentials.layer,
      Db.layer,
      Departments.layer,
      Directory.layer,
      Entrance.layer,
      FactorRecords.layer,
      Guard.layer,
      IdempotencyKeys.layer,
      Identities.layer,
      IdentityProviders.layer,
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
      Support.layer
    ))
  ).pipe(Layer.provideMerge(Layer.mergeAll(Alarm.layer, Vault.layer, LastUses.layer)))
