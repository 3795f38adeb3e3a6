/** Every port but the messenger, over one SqlClient. */
import { Layer } from "effect"
import { Alarm } from "../../ports/Alarm.ts"
import * as AccountPasskeys from "../crypto/AccountPasskeys.ts"
import { Vault } from "../crypto/Vault.ts"
import * as Accounts from "./Accounts.ts"
import * as AccountTasks from "./AccountTasks.ts"
import * as Admins from "./Admins.ts"
import * as Applications from "./Applications.ts"
import * as Attempts from "./Attempts.ts"
import * as ConsolePasswords from "./ConsolePasswords.ts"
import * as Credentials from "./Credentials.ts"
import * as Db from "./Db.ts"
import * as Departments from "./Departments.ts"
import * as Directory from "./Directory.ts"
import * as EmailChanges from "./EmailChanges.ts"
import * as Entrance from "./Entrance.ts"
import * as Facets from "./Facets.ts"
import * as FactorRecords from "./FactorRecords.ts"
import * as Guard from "./Guard.ts"
import * as IdempotencyKeys from "./IdempotencyKeys.ts"
import * as Identities from "./Identities.ts"
import * as IdentityProviders from "./IdentityProviders.ts"
import * as IssuedCredentials from "./IssuedCredentials.ts"
import * as Journal from "./Journal.ts"
import { LastUses } from "./LastUses.ts"
import * as Licences from "./Licences.ts"
import * as Logins from "./Logins.ts"
import * as ManagedAdmins from "./ManagedAdmins.ts"
import * as OAuthClients from "./OAuthClients.ts"
import * as OAuthGrants from "./OAuthGrants.ts"
import * as Organizations from "./Organizations.ts"
import * as Outbox from "./Outbox.ts"
import * as Overview from "./Overview.ts"
import * as OwnSessions from "./OwnSessions.ts"
import * as PasswordResets from "./PasswordResets.ts"
import * as RateLimiter from "./RateLimiter.ts"
import * as Rewrap from "./Rewrap.ts"
import * as Secrets from "./Secrets.ts"
import * as Sessions from "./Sessions.ts"
import * as Support from "./Support.ts"

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
