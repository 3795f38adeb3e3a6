/** Every port but the messenger, over one SqlClient. */
import { Layer } from "effect"
import { Vault } from "../crypto/Vault.ts"
import * as Accounts from "./Accounts.ts"
import * as Admins from "./Admins.ts"
import * as Applications from "./Applications.ts"
import * as ConsolePasswords from "./ConsolePasswords.ts"
import * as Credentials from "./Credentials.ts"
import * as Db from "./Db.ts"
import * as Departments from "./Departments.ts"
import * as Directory from "./Directory.ts"
import * as Entrance from "./Entrance.ts"
import * as Guard from "./Guard.ts"
import * as IdempotencyKeys from "./IdempotencyKeys.ts"
import * as IssuedCredentials from "./IssuedCredentials.ts"
import * as Journal from "./Journal.ts"
import * as OAuthClients from "./OAuthClients.ts"
import * as OAuthGrants from "./OAuthGrants.ts"
import * as Organizations from "./Organizations.ts"
import * as Outbox from "./Outbox.ts"
import * as Overview from "./Overview.ts"
import * as People from "./People.ts"
import * as RateLimiter from "./RateLimiter.ts"
import * as Sessions from "./Sessions.ts"
import * as Support from "./Support.ts"

export const layer = Layer.mergeAll(ConsolePasswords.layer, Overview.layer, Sessions.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(
    Accounts.layer,
    Admins.layer,
    Applications.layer,
    Credentials.layer,
    Db.layer,
    Departments.layer,
    Directory.layer,
    Entrance.layer,
    Guard.layer,
    IdempotencyKeys.layer,
    IssuedCredentials.layer,
    Journal.layer,
    OAuthClients.layer,
    OAuthGrants.layer,
    Organizations.layer,
    Outbox.layer,
    People.layer,
    RateLimiter.layer,
    Support.layer
  ))
).pipe(Layer.provideMerge(Vault.layer))
