/** The console's pages. A new one exports its routes to this list; `Navigation.ts` lists what leads to it. */
import { Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import * as AccountActions from "./AccountActions.ts"
import * as AccountConnect from "./AccountConnect.ts"
import * as AccountLogin from "./AccountLogin.ts"
import * as Accounts from "./Accounts.ts"
import * as AccountSecurityActions from "./AccountSecurityActions.ts"
import * as Confirm from "./Confirm.ts"
import * as Consent from "./Consent.ts"
import * as Developer from "./Developer.ts"
import * as Factors from "./Factors.ts"
import * as Html from "./Html.ts"
import * as Identity from "./Identity.ts"
import * as Invitation from "./Invitation.ts"
import * as Journal from "./Journal.ts"
import { home } from "./Navigation.ts"
import * as NewKey from "./NewKey.ts"
import * as Offboarding from "./Offboarding.ts"
import * as PasskeyScript from "./PasskeyScript.ts"
import * as PasskeySignIn from "./PasskeySignIn.ts"
import * as Admins from "./people/Admins.ts"
import * as Changes from "./people/Changes.ts"
import * as Department from "./people/Department.ts"
import * as Departments from "./people/Departments.ts"
import * as Invite from "./people/Invite.ts"
import * as Provider from "./Provider.ts"
import * as Reset from "./Reset.ts"
import * as SecondFactor from "./SecondFactor.ts"
import * as Secrets from "./Secrets.ts"
import * as Security from "./Security.ts"
import * as SetUp from "./SetUp.ts"
import * as SignIn from "./SignIn.ts"
import * as Style from "./Style.ts"
import * as Visit from "./Visit.ts"

const all = [
  ...Consent.routes,
  ...SignIn.routes,
  ...PasskeySignIn.routes,
  ...Provider.routes,
  ...SecondFactor.routes,
  ...SetUp.routes,
  ...Invitation.routes,
  ...Reset.routes,
  ...Accounts.routes,
  ...AccountConnect.routes,
  ...AccountLogin.routes,
  ...AccountActions.routes,
  ...AccountSecurityActions.routes,
  ...Offboarding.routes,
  ...Journal.routes,
  ...Developer.routes,
  ...NewKey.routes,
  ...Security.routes,
  ...Factors.routes,
  ...Confirm.routes,
  ...Secrets.routes,
  ...Admins.routes,
  ...Invite.routes,
  ...Departments.routes,
  ...Department.routes,
  ...Changes.routes,
  ...Identity.routes,
  Visit.route("GET", "/console", ({ base }) => Effect.succeed(Html.redirect(`${base}${home}`))),
  PasskeyScript.route,
  Style.route
] as const

/** What the pages need; their layers live elsewhere. */
export type Services = Exclude<
  Effect.Services<ReturnType<(typeof all)[number]["serve"]>>,
  HttpServerRequest.HttpServerRequest
>

/** One page, or what answers a form of one, by the members of its path. */
export interface PageRoute {
  readonly method: "GET" | "POST"
  readonly path: `/${string}`
  readonly serve: (params: Visit.Visit["params"]) => Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    never,
    HttpServerRequest.HttpServerRequest | Services
  >
}

/** Every page; all that has nothing to do with passkeys works without a script. */
export const pages: ReadonlyArray<PageRoute> = all
