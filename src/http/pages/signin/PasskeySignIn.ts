/** Signing in with only a passkey, which combines possession and the device's own check of its user. */
import { Effect, Option } from "effect"
import { Cookies, HttpServerResponse } from "effect/http"
import { SignIns } from "../../../ports/signin/SignIns.ts"
import { Html, html, type PageRequest, SentForm, Serving } from "../kit/index.ts"
import * as Passkeys from "./PasskeyFields.ts"
import * as PasskeyScript from "./PasskeyScript.ts"
import * as SignInSteps from "./SignInSteps.ts"

const path = SignInSteps.passkeyPath

const show = Effect.fnUntraced(
  function*(visit: PageRequest, returnTo: string, fault?: string) {
    const question = yield* (yield* SignIns).askAnyone(visit.site)
    const faults = fault === undefined ? Html.noFaults : new Map([["passkey", fault]])
    return yield* Html.respond({
      base: visit.base,
      title: faults.size === 0 ? "Sign in with a passkey" : "Problem: sign in with a passkey",
      narrow: true,
      ...(fault === undefined ? {} : { status: 403 }),
      script: question === null ? undefined : PasskeyScript.addressAt(visit.site),
      body: html`
<h1>Sign in with a passkey</h1>
<p class="lead">Your device shows which passkeys of this console it has, and checks that it is you.</p>
${Html.summary(faults)}
${
        question === null
          ? html`<p>Browsers have no passkeys at an address without a name, as this one.</p>`
          : html`<form method="post" action="${visit.base}${path}" class="card" id="passkey">
  <input type="hidden" name="return_to" value="${returnTo}">
  ${Passkeys.field(question, { verb: "get", button: "Use a passkey", send: true })}
</form>`
      }
<p><a href="${visit.base}/console/sign-in?return_to=${encodeURIComponent(returnTo)}">Sign in with your password</a></p>`
    })
  }
)

const get = (visit: PageRequest) =>
  Effect.gen(function*() {
    const returnTo = SignInSteps.returnPath(new URLSearchParams(visit.query).get("return_to"))
    if (Option.isSome(yield* Serving.admin(visit))) return Html.redirect(`${visit.base}${returnTo}`)
    return yield* show(visit, returnTo)
  })

const post = (visit: PageRequest) =>
  Effect.gen(function*() {
    const form = yield* SentForm.read(visit)
    if (Option.isNone(form)) return yield* SentForm.foreign(visit)
    const returnTo = SignInSteps.returnPath(form.value.text("return_to"))
    const answer = Passkeys.answerOf(form.value, "get") ?? { ticket: "", response: "" }
    return yield* (yield* SignIns).byPasskey(answer, visit).pipe(
      Effect.map((cookies) =>
        HttpServerResponse.mergeCookies(Html.redirect(`${visit.base}${returnTo}`), Cookies.fromSetCookie(cookies))
      ),
      Effect.catchTag("SecondFactorIncorrect", ({ message }) => show(visit, returnTo, message))
    )
  })

export const routes = [Serving.route("GET", path, get), Serving.route("POST", path, post)] as const
