/** The way of a browser out of the console, to the application that waits for an answer. */
import { Effect } from "effect"
import { hostOf, isLoopback } from "../../../oauth/RedirectUri.ts"
import * as Html from "./Html.ts"
import { html } from "./Html.ts"
import type { PageRequest } from "./PageRequest.ts"

/**
 * Browsers apply a page's `form-action` to every redirect that follows its form, so that a redirect strands the person
 * where the application's address redirects once more, to a scheme or a port of its own. A page that goes on by itself
 * ends what that policy covers. Who is not a browser gets the redirect that it expects.
 */
const byPage = (visit: PageRequest, location: string): boolean => visit.navigates || isLoopback(location)

/** The targets of the page's form besides the site itself: none, unless its answer is a redirect. */
export const formAction = (visit: PageRequest, redirectUri: string): string | undefined =>
  byPage(visit, redirectUri) ? undefined : "https:"

/** Leads to the address of an application, with the answer in its query. */
export const to = (visit: PageRequest, location: string) =>
  byPage(visit, location)
    ? Html.respond({
      base: visit.base,
      title: "Going back to the application",
      narrow: true,
      next: location,
      body: html`
<h1>Going back to the application</h1>
<p>Your answer goes to <span class="host">${hostOf(location)}</span>.</p>
<p><a class="button main" href="${location}" rel="noreferrer">Go on</a></p>
<p class="hint">Your browser goes on by itself; the button is for those that do not.</p>`
    })
    : Effect.succeed(Html.redirect(location))
