/** The second step of a sign-in. */
import { Effect } from "effect"
import { Cookies, HttpServerResponse } from "effect/http"
import { SecondFactors } from "../../../ports/signin/SecondFactors.ts"
import { type PendingSignIn as Pending, SignIns } from "../../../ports/signin/SignIns.ts"
import { Html, html, type PageRequest, Serving } from "../kit/index.ts"
import * as Passkeys from "./PasskeyFields.ts"
import * as PasskeyScript from "./PasskeyScript.ts"
import * as PendingSignIn from "./PendingSignIn.ts"
import * as SignInSteps from "./SignInSteps.ts"

const path = SignInSteps.secondFactorPath

/** The text that the form's token is bound to, within the pending sign-in. */
const answerForm = "second factor"

interface SecondFactorView {
  readonly returnTo: string
  readonly fault?: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

const show = Effect.fnUntraced(
  function*(visit: PageRequest, pending: Pending, { fault, headers, returnTo, status }: SecondFactorView) {
    const hidden = yield* PendingSignIn.hidden(pending, answerForm, returnTo)
    const question = yield* (yield* SecondFactors).ask({ ...pending, subject: pending.id }, visit.site)
    const faults = fault === undefined ? Html.noFaults : new Map([["code", fault]])
    return yield* Html.respond({
      base: visit.base,
      title: faults.size === 0 ? "Second factor" : "Problem: second factor",
      narrow: true,
      status,
      headers,
      script: question === null ? undefined : PasskeyScript.addressAt(visit.site),
      body: html`
<h1>Second factor</h1>
<p class="lead">You are signing in as ${Html.named(pending.email)} of ${Html.named(pending.organizationName)}.</p>
${Html.summary(faults)}
${
        question === null ? undefined : html`<form method="post" action="${visit.base}${path}" class="card">
  ${hidden}
  <h2>By passkey</h2>
  ${Passkeys.field(question, { verb: "get", button: "Use a passkey", send: true })}
</form>`
      }
<form method="post" action="${visit.base}${path}" class="card">
  ${hidden}
  <div class="field">
    <label for="code">Code</label>
    <p class="hint" id="code-hint">The six digits that your authenticator app shows, or one of your recovery codes.</p>
    ${Html.fault(faults, "code")}
    <input type="text" id="code" name="code" required autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="64"${
        Html.described(faults, "code", true)
      }>
  </div>
  <button class="main">Sign in</button>
</form>
<p class="hint">Lost all of them? Ask whoever runs this console for your organization to reset your second factor.</p>`
    })
  }
)

/** The form for the second factor, after the first; an admin without one sets it up first. */
const get = (visit: PageRequest) =>
  PendingSignIn.shown(visit, (pending, returnTo) =>
    Effect.gen(function*() {
      if (!pending.hasFactor) {
        return Html.redirect(`${visit.base}${SignInSteps.setUpPath}?return_to=${encodeURIComponent(returnTo)}`)
      }
      return yield* show(visit, pending, { returnTo })
    }))

/** Completes the sign-in. */
const post = (visit: PageRequest) =>
  PendingSignIn.submitted(visit, answerForm, (form, pending, returnTo) =>
    Effect.gen(function*() {
      const signIns = yield* SignIns
      const passkey = Passkeys.answerOf(form, "get")
      const answer = passkey === null
        ? { kind: "code" as const, code: form.secret("code") }
        : { kind: "passkey" as const, ...passkey }
      return yield* signIns.complete(pending, answer, visit).pipe(
        Effect.map((cookies) =>
          HttpServerResponse.mergeCookies(Html.redirect(`${visit.base}${returnTo}`), Cookies.fromSetCookie(cookies))
        ),
        Effect.catchTag("SignInEnded", () => Effect.succeed(SignInSteps.toSignIn(visit, returnTo))),
        Effect.catchTag(
          "SecondFactorIncorrect",
          ({ message }) => show(visit, pending, { returnTo, fault: message, status: 403 })
        ),
        Serving.showRefusal,
        Effect.catchTag("too_many_attempts", ({ message, retry_after }) =>
          show(visit, pending, {
            returnTo,
            fault: message,
            status: 429,
            headers: { "retry-after": String(retry_after) }
          }))
      )
    }))

export const routes = [Serving.route("GET", path, get), Serving.route("POST", path, post)] as const
