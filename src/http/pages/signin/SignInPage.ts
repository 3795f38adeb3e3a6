/** Signing in and out. */
import { Clock, Effect, Option, Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import type { PasswordIncorrect, TooManyAttempts } from "../../../domain/Failure.ts"
import { providerPath } from "../../../domain/signin/IdentityProvider.ts"
import { AdminSignIn, type SignInField } from "../../../ports/signin/AdminSignIn.ts"
import { resetPath } from "../../../ports/signin/ConsoleAddress.ts"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import { ProviderSignIn } from "../../../ports/signin/ProviderSignIn.ts"
import { Html, html, type PageRequest, PageRequests, SentForm, Serving } from "../kit/index.ts"
import * as SignInSteps from "./SignInSteps.ts"

const path = "/console/sign-in"
const outPath = "/console/sign-out"

const inputId = ({ name }: SignInField): string => `sign-in-${name}`

const input = (field: SignInField, value: string, faulty: boolean): Html.Html => {
  const id = inputId(field)
  return html`
  <div class="field">
    <label for="${id}">${field.label}</label>
    ${field.hint === undefined ? undefined : html`<p class="hint" id="${id}-hint">${field.hint}</p>`}
    <input type="${field.type}" id="${id}" name="${field.name}" required autocomplete="${field.autocomplete}"${
    field.type === "password" ? undefined : html` value="${value}" autocapitalize="none" spellcheck="false"`
  }${field.hint === undefined ? undefined : html` aria-describedby="${id}-hint"`}${
    faulty ? html` aria-invalid="true"` : undefined
  }>
  </div>`
}

interface SignInView {
  readonly returnTo: string
  readonly values: ReadonlyMap<string, string>
  readonly failure: PasswordIncorrect | TooManyAttempts | undefined
}

const show = Effect.fnUntraced(function*(visit: PageRequest, { failure, returnTo, values }: SignInView) {
  const fields = (yield* AdminSignIn).fields(visit.site)
  const first = fields[0]
  const offered = yield* (yield* ProviderSignIn).offered(visit.site)
  const faults = failure === undefined || first === undefined
    ? Html.noFaults
    : new Map([[inputId(first), failure.message]])
  return yield* Html.respond({
    base: visit.base,
    title: failure === undefined ? "Sign in" : "Problem: sign in",
    narrow: true,
    ...(failure === undefined ? {} : { status: failure._tag === "too_many_attempts" ? 429 : 403 }),
    ...(failure?._tag === "too_many_attempts" ? { headers: { "retry-after": String(failure.retry_after) } } : {}),
    body: html`
<h1>Sign in</h1>
<p class="lead">${
      returnTo.startsWith("/oauth/authorize")
        ? "An application asks for access to your organization. Sign in to see what it asks for; you decide."
        : "Sign in to see and protect your organization’s accounts."
    }</p>
${Html.summary(faults)}
<form method="post" action="${visit.base}${path}" class="card">
  <input type="hidden" name="return_to" value="${returnTo}">
  ${fields.map((field) => input(field, values.get(field.name) ?? "", failure?._tag === "password_incorrect"))}
  <button class="main">Sign in</button>
</form>
${
      PageRequests.hasPasskeys(visit)
        ? html`<p><a href="${visit.base}${SignInSteps.passkeyPath}?return_to=${
          encodeURIComponent(returnTo)
        }">Sign in with a passkey</a></p>`
        : undefined
    }
${
      offered
        ? html`<p><a href="${visit.base}${providerPath}?return_to=${
          encodeURIComponent(returnTo)
        }">Sign in by your organization’s identity provider</a></p>`
        : undefined
    }
<p><a href="${visit.base}${resetPath}">Forgotten your password?</a></p>`
  })
})

/** The form; who is signed in already goes where it would lead. */
const get = (visit: PageRequest) =>
  Effect.gen(function*() {
    const returnTo = SignInSteps.returnPath(new URLSearchParams(visit.query).get("return_to"))
    if (Option.isSome(yield* Serving.admin(visit))) return Html.redirect(`${visit.base}${returnTo}`)
    return yield* show(visit, { returnTo, values: new Map(), failure: undefined })
  })

/** Begins a new session, even if there was one, or asks for the second factor first. */
const post = (visit: PageRequest) =>
  Effect.gen(function*() {
    const form = yield* SentForm.read(visit)
    if (Option.isNone(form)) return yield* SentForm.foreign(visit)
    const signIn = yield* AdminSignIn
    const sessions = yield* ConsoleSessions
    const returnTo = SignInSteps.returnPath(form.value.text("return_to"))
    const fields = signIn.fields(visit.site)
    const values = new Map(fields.map(({ name }) => [name, form.value.secret(name)] as const))
    const since = new Date(yield* Clock.currentTimeMillis)
    const browser = sessions.browser(visit.cookies, visit.site)
    const attempt = { via: "console", ip: visit.ip, requestId: visit.requestId, browser } as const
    return yield* signIn.signIn(values, visit.site, attempt).pipe(
      Serving.showRefusal,
      Effect.flatMap((admin) => SignInSteps.signIn(visit, admin, { since }, returnTo)),
      Effect.catchTag(["password_incorrect", "too_many_attempts"], (failure) =>
        show(visit, {
          returnTo,
          values: new Map(
            fields.filter(({ type }) => type !== "password")
              .map(({ name }) => [name, Redacted.value(form.value.secret(name))])
          ),
          failure
        }))
    )
  })

/** Ends the session, and leads to the sign-in. */
const postOut = (visit: PageRequest) =>
  Effect.gen(function*() {
    const form = yield* SentForm.read(visit)
    const admin = yield* Serving.admin(visit)
    const sessions = yield* ConsoleSessions
    if (Option.isNone(form)) return yield* SentForm.foreign(visit)
    const returnTo = SignInSteps.returnPath(form.value.text("return_to"))
    if (Option.isNone(admin)) return SignInSteps.toSignIn(visit, returnTo)
    if (!sessions.verifyCsrf(admin.value.sessionId, Serving.outForm, form.value.text("csrf"))) {
      return yield* SentForm.foreign(visit)
    }
    const cookie = yield* sessions.end(admin.value, visit)
    return HttpServerResponse.setHeader(SignInSteps.toSignIn(visit, returnTo), "set-cookie", cookie)
  })

export const routes = [
  Serving.route("GET", path, get),
  Serving.route("POST", path, post),
  Serving.route("POST", outPath, postOut)
] as const
