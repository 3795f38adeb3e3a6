/** The console's pages. A new one exports its routes to this list; `Navigation.ts` lists what leads to it. */
import { Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ResourceMissing } from "../../domain/Failure.ts"
import * as AccountActions from "./accounts/AccountActions.ts"
import * as Accounts from "./accounts/AccountList.ts"
import * as AccountProfile from "./accounts/AccountProfile.ts"
import * as Offboarding from "./accounts/Offboarding.ts"
import * as AccountDeletion from "./archive/AccountDeletion.ts"
import * as ArchiveCleanupList from "./archive/ArchiveCleanupList.ts"
import * as ArchiveCleanupPage from "./archive/ArchiveCleanupPage.ts"
import * as ArchiveDeletion from "./archive/ArchiveDeletion.ts"
import * as ArchiveExportList from "./archive/ArchiveExportList.ts"
import * as ArchiveExportPage from "./archive/ArchiveExportPage.ts"
import * as ArchiveHoldList from "./archive/ArchiveHoldList.ts"
import * as ArchiveKey from "./archive/ArchiveKeyPage.ts"
import * as ArchiveRedaction from "./archive/ArchiveRedaction.ts"
import * as ArchiveRuleList from "./archive/ArchiveRuleList.ts"
import * as ArchiveVerificationPage from "./archive/ArchiveVerificationPage.ts"
import * as ArchiveViewer from "./archive/ArchiveViewer.ts"
import * as ExportEvents from "./archive/ExportEvents.ts"
import * as ExportProgress from "./archive/ExportProgressPage.ts"
import * as Developer from "./credentials/Developer.ts"
import * as NewKey from "./credentials/NewKey.ts"
import * as JournalEvent from "./journal/EventPage.ts"
import * as Journal from "./journal/JournalPage.ts"
import * as Confirm from "./kit/Confirm.ts"
import * as Html from "./kit/Html.ts"
import type { PageRequest } from "./kit/PageRequest.ts"
import * as Refresh from "./kit/Refresh.ts"
import * as Serving from "./kit/Serving.ts"
import * as Style from "./kit/Style.ts"
import * as AccountConnect from "./logins/AccountConnect.ts"
import * as AccountLogin from "./logins/AccountLogin.ts"
import * as Consent from "./oauth/Consent.ts"
import * as Home from "./organization/HomePage.ts"
import * as Mails from "./organization/MailsPage.ts"
import * as NewSupportRequest from "./organization/NewSupportRequest.ts"
import * as Overview from "./organization/OrganizationPage.ts"
import * as Subscription from "./organization/SubscriptionPage.ts"
import * as Support from "./organization/SupportPage.ts"
import * as Changes from "./people/AdminForms.ts"
import * as Admins from "./people/AdminList.ts"
import * as Departments from "./people/DepartmentList.ts"
import * as Department from "./people/DepartmentPage.ts"
import * as Invite from "./people/Invite.ts"
import * as AccountSecurityActions from "./security/AccountSecurityActions.ts"
import * as Secrets from "./security/HeldSecrets.ts"
import * as Reviews from "./sessions/Reviews.ts"
import * as Factors from "./signin/FactorsPage.ts"
import * as Identity from "./signin/IdentityPage.ts"
import * as Invitation from "./signin/InvitationPage.ts"
import * as Security from "./signin/OwnSecurity.ts"
import * as PasskeyScript from "./signin/PasskeyScript.ts"
import * as PasskeySignIn from "./signin/PasskeySignIn.ts"
import * as Provider from "./signin/ProviderPages.ts"
import * as Reset from "./signin/ResetPages.ts"
import * as SecondFactor from "./signin/SecondFactorPage.ts"
import * as SetUp from "./signin/SetUp.ts"
import * as SignIn from "./signin/SignInPage.ts"

const all = [
  ...Consent.routes,
  ...SignIn.routes,
  ...PasskeySignIn.routes,
  ...Provider.routes,
  ...SecondFactor.routes,
  ...SetUp.routes,
  ...Invitation.routes,
  ...Reset.routes,
  ...Home.routes,
  ...Accounts.routes,
  ...Reviews.routes,
  ...AccountConnect.routes,
  ...AccountLogin.routes,
  ...AccountActions.routes,
  ...AccountProfile.routes,
  ...AccountSecurityActions.routes,
  ...Offboarding.routes,
  ...Journal.routes,
  ...JournalEvent.routes,
  ...Developer.routes,
  ...NewKey.routes,
  ...Security.routes,
  ...Factors.routes,
  ...Confirm.routes,
  ...Secrets.routes,
  ...ArchiveViewer.routes,
  ...ArchiveKey.routes,
  ...ArchiveRuleList.routes,
  ...ArchiveCleanupList.routes,
  ...ArchiveCleanupPage.routes,
  ...ArchiveExportList.routes,
  ...ArchiveExportPage.routes,
  ...ExportProgress.routes,
  ...ExportEvents.routes,
  ...ArchiveHoldList.routes,
  ...ArchiveVerificationPage.routes,
  ...ArchiveRedaction.routes,
  ...AccountDeletion.routes,
  ...ArchiveDeletion.routes,
  ...Admins.routes,
  ...Invite.routes,
  ...Departments.routes,
  ...Department.routes,
  ...Changes.routes,
  ...Overview.routes,
  ...Subscription.routes,
  ...Mails.routes,
  ...NewSupportRequest.routes,
  ...Support.routes,
  ...Identity.routes,
  PasskeyScript.route,
  Refresh.route,
  Style.route
] as const

/** The bare address of a site leads to the console. */
export const front = Serving.route("GET", "/", ({ base }) => Effect.succeed(Html.redirect(`${base}/console`))).serve({})

/** Any address that nothing is at. */
export const absent = Serving.route(
  "GET",
  "/console/*",
  () => Effect.fail(new ResourceMissing({ message: "Nothing is at this address of the service." }))
).serve({})

/** The services that the pages need; their layers live elsewhere. */
export type Services = Exclude<
  Effect.Services<ReturnType<(typeof all)[number]["serve"]>>,
  HttpServerRequest.HttpServerRequest
>

/** One page, or what answers a form of one, by the members of its path. */
export interface PageRoute {
  readonly method: "GET" | "POST"
  readonly path: `/${string}`
  readonly serve: (params: PageRequest["params"]) => Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    never,
    HttpServerRequest.HttpServerRequest | Services
  >
}

/** Every page; all that has nothing to do with passkeys works without a script, but for pages that refresh themselves. */
export const pages: ReadonlyArray<PageRoute> = all
