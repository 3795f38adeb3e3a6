/** Signing in by an organization's identity provider: where to go, and coming back. */
import { Effect, Option } from "effect"
import { Cookies, HttpServerResponse } from "effect/http"
import { callbackPath, providerPath } from "../../../domain/signin/IdentityProvider.ts"
import type { SignedIn } from "../../../ports/signin/ConsoleSessions.ts"
import { type ProviderRedirect, type ProviderReturn, ProviderSignIn } from "../../../ports/signin/ProviderSignIn.ts"
import { Html, html, type PageRequest, Problem, SentForm, Serving } from "../kit/index.ts"
import * as SignInSteps from "./SignInSteps.ts"

/** The page that confirms a new link to an admin. */
const linkedPath = "/console/security/identity-provider?done=linked"

interface ProviderView {
  readonly organization: string
  readonly email: string
  readonly returnTo: string
  readonly fault?: string
  readonly status?: number
}

const show = (visit: PageRequest, { email, fault, organization, returnTo, status }: ProviderView) =>
  Html.respond({
    base: visit.base,
    title: fault === undefined ? "Sign in by your identity provider" : "Problem: identity provider",
    narrow: true,
    status,
    body: html`
<h1>Sign in by your identity provider</h1>
<p class="lead">You sign in at your organization’s own provider, and come back here.</p>
${
      fault === undefined
        ? undefined
        : Html.summary(new Map([[visit.site.organizationId === null ? "organization" : "email", fault]]))
    }
<form method="post" action="${visit.base}${providerPath}" class="card">
  <input type="hidden" name="return_to" value="${returnTo}">
  ${
      visit.site.organizationId !== null ? undefined : html`<div class="field">
    <label for="organization">Organization</label>
    <p class="hint" id="organization-hint">Its short name, such as acme.</p>
    <input type="text" id="organization" name="organization" required autocomplete="organization" value="${organization}" autocapitalize="none" spellcheck="false" aria-describedby="organization-hint"${
        fault === undefined ? undefined : html` aria-invalid="true"`
      }>
  </div>`
    }
  <div class="field">
    <label for="email">Email address (optional)</label>
    <p class="hint" id="email-hint">Your provider may fill it in for you.</p>
    <input type="email" id="email" name="email" autocomplete="username" value="${email}" aria-describedby="email-hint">
  </div>
  <button class="main">Continue</button>
</form>
<p><a href="${visit.base}/console/sign-in?return_to=${encodeURIComponent(returnTo)}">Sign in by password</a></p>`
  })

/** The form, as a sign-in link opens it too; who is signed in already goes where it would lead. */
const get = (visit: PageRequest) =>
  Effect.gen(function*() {
    const query = new URLSearchParams(visit.query)
    const returnTo = SignInSteps.returnPath(query.get("return_to"))
    if (Option.isSome(yield* Serving.admin(visit))) return Html.redirect(`${visit.base}${returnTo}`)
    return yield* show(visit, { organization: query.get("organization") ?? "", email: "", returnTo })
  })

/**
 * The page that leads to the provider. A redirect would not do: what a form leads to is limited to this site, and the
 * page with the form does not know the provider yet.
 */
export const onward = (visit: PageRequest, { cookie, host, url }: ProviderRedirect) =>
  Effect.map(
    Html.respond({
      base: visit.base,
      title: "Continue at your identity provider",
      narrow: true,
      next: url,
      body: html`
<h1>Continue at your identity provider</h1>
<p>You are being led to <strong>${host}</strong>.</p>
<p><a class="button" href="${url}">Continue to ${host}</a></p>`
    }),
    (page) => HttpServerResponse.mergeCookies(page, Cookies.fromSetCookie([cookie]))
  )

/** The provider does not answer: nothing was done. */
export const away = (visit: PageRequest, host: string) =>
  Problem.problem(visit.base, visit.requestId, {
    status: 503,
    title: "Your identity provider cannot be reached",
    text: `${host} does not answer as an identity provider does.`,
    advice: "Try again in a minute. If it happens again, tell whoever runs the provider."
  })

const post = (visit: PageRequest) =>
  Effect.gen(function*() {
    const form = yield* SentForm.read(visit)
    if (Option.isNone(form)) return yield* SentForm.foreign(visit)
    const organization = form.value.text("organization")
    const email = form.value.text("email").trim()
    const returnTo = SignInSteps.returnPath(form.value.text("return_to"))
    const hint = email === "" ? null : email
    return yield* (yield* ProviderSignIn).go({ organization, admin: null, hint, returnTo }, visit).pipe(
      Effect.flatMap((gone) => onward(visit, gone)),
      Effect.catchTag("ProviderAway", ({ host }) => away(visit, host)),
      Effect.catchTag("NoProvider", () =>
        show(visit, {
          organization,
          email,
          returnTo,
          status: 404,
          fault: "There is no such organization, or it has no identity provider: sign in by password."
        }))
    )
  })

const arrived = (visit: PageRequest, back: ProviderReturn) =>
  back.kind === "linked"
    ? Effect.succeed(Html.redirect(`${visit.base}${linkedPath}`))
    : SignInSteps.signIn(visit, back.admin, back.first, SignInSteps.returnPath(back.returnTo))

/** Takes the provider's answer, whatever it is worth, and forgets what was begun. */
const callback = (visit: PageRequest) =>
  Effect.gen(function*() {
    const signIn = yield* ProviderSignIn
    const signedIn: Option.Option<SignedIn> = yield* Serving.admin(visit)
    const page = yield* signIn.back(visit.params["organization"] ?? "", visit.query, visit, signedIn).pipe(
      Serving.showRefusal,
      Effect.flatMap((back) => arrived(visit, back)),
      Effect.catchTag("ProviderAway", ({ host }) => away(visit, host)),
      Effect.catchTag("ProviderRefused", ({ message }) =>
        Problem.problem(visit.base, visit.requestId, {
          status: 403,
          title: "You are not signed in",
          text: message,
          advice:
            "Begin again on the sign-in page. If it happens again, tell whoever runs this console for your organization."
        }))
    )
    return HttpServerResponse.mergeCookies(page, Cookies.fromSetCookie([signIn.forget(visit.site)]))
  })

export const routes = [
  Serving.route("GET", providerPath, get),
  Serving.route("POST", providerPath, post),
  Serving.route("GET", callbackPath(":organization"), callback)
] as const
