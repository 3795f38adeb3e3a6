/** The pages through which a sign-in leads, and where it leads back to. */
import { Effect } from "effect"
import { Cookies, HttpServerResponse } from "effect/http"
import type { AdminRef } from "../../../ports/signin/ConsolePasswords.ts"
import { type FirstFactor, SignIns } from "../../../ports/signin/SignIns.ts"
import * as Html from "../kit/Html.ts"
import { home } from "../kit/Navigation.ts"
import type { PageRequest } from "../kit/PageRequest.ts"

/** Pages that a sign-in does not return to, because they are for visitors who are not signed in. */
const outside = /^\/console\/(?:sign-in|sign-out|style\.css|passkeys\.js|invitation|reset)(?:\/|$)/

/** True if a sign-in may lead back to the path: to the consent page, and to every page of the console. */
const isReturnPath = (path: string): boolean =>
  path === "/oauth/authorize" || path.startsWith("/console/") && !outside.test(path)

/** The address within the site, if a sign-in may return to it; otherwise the console's first page. */
export const returnPath = (text: string | null): string => {
  const fallback = home
  if (text === null || !/^\/[\x21-\x5b\x5d-\x7e]*$/.test(text)) return fallback
  const url = URL.canParse(text, "http://site.invalid") ? new URL(text, "http://site.invalid") : undefined
  return url !== undefined && url.origin === "http://site.invalid" && isReturnPath(url.pathname)
    ? `${url.pathname}${url.search}`
    : fallback
}

/** The pages for the second factor of a sign-in, for setting one up first, and for signing in with only a passkey. */
export const secondFactorPath = "/console/sign-in/second-factor"
export const setUpPath = "/console/sign-in/set-up"
export const passkeyPath = "/console/sign-in/passkey"

/** Leads to the second step of a sign-in, and from there to the path. */
export const toSecondFactor = ({ base }: PageRequest, path: string) =>
  Html.redirect(`${base}${secondFactorPath}?return_to=${encodeURIComponent(path)}`)

/** Signs in after the first factor, through the second one where it is required, and redirects to the path. */
export const signIn = Effect.fnUntraced(
  function*(visit: PageRequest, admin: AdminRef, first: FirstFactor, path: string) {
    const { cookies, state } = yield* (yield* SignIns).begin(admin, visit, first)
    const next = state === "signed_in" ? Html.redirect(`${visit.base}${path}`) : toSecondFactor(visit, path)
    return HttpServerResponse.mergeCookies(next, Cookies.fromSetCookie(cookies))
  }
)

/** Leads to the sign-in, and from there back to the path. */
export const toSignIn = ({ base }: PageRequest, path: string) =>
  Html.redirect(`${base}/console/sign-in?return_to=${encodeURIComponent(path)}`)
