/** Setting a second factor up at sign-in, before anything else, where the organization requires one. */
import { Effect } from "effect"
import { Cookies, HttpServerResponse } from "effect/http"
import { SecondFactors } from "../../../ports/signin/SecondFactors.ts"
import { type PendingSignIn as Pending, SignIns } from "../../../ports/signin/SignIns.ts"
import { Html, html, type PageRequest, Serving } from "../kit/index.ts"
import * as NewFactors from "./NewFactors.ts"
import * as PasskeyScript from "./PasskeyScript.ts"
import * as PendingSignIn from "./PendingSignIn.ts"
import * as SignInSteps from "./SignInSteps.ts"

const path = SignInSteps.setUpPath

/** The text that the forms' token is bound to, within the pending sign-in. */
const setUpForm = "set up"

const show = Effect.fnUntraced(
  function*(visit: PageRequest, pending: Pending, returnTo: string, faults: Html.Faults) {
    const hidden = yield* PendingSignIn.hidden(pending, setUpForm, returnTo)
    const factors = yield* SecondFactors
    const holder = { ...pending, subject: pending.id }
    const question = yield* factors.newPasskey(holder, visit.site)
    const app = yield* factors.newApp(holder)
    return yield* Html.respond({
      base: visit.base,
      title: faults.size === 0 ? "Set up a second factor" : "Problem: set up a second factor",
      narrow: true,
      ...(faults.size === 0 ? {} : { status: 403 }),
      script: question === null ? undefined : PasskeyScript.addressAt(visit.site),
      body: html`
<h1>Set up a second factor</h1>
<p class="lead">${
        Html.named(pending.organizationName)
      } asks its admins for a second factor at sign-in. You have none yet: choose one now.</p>
${Html.summary(faults)}
${
        question === null ? undefined : html`<section aria-labelledby="by-passkey">
<h2 id="by-passkey">A passkey</h2>
<p class="hint">Kept by your device, your password manager or a security key. It cannot be phished.</p>
<form method="post" action="${visit.base}${path}">
  ${hidden}
  ${NewFactors.passkeyFields(question, faults, true)}
</form>
</section>`
      }
<section aria-labelledby="by-app">
<h2 id="by-app">An authenticator app</h2>
<form method="post" action="${visit.base}${path}">
  ${hidden}
  ${yield* NewFactors.appFields(app, faults)}
  <button class="main">Set up the app and sign in</button>
</form>
</section>`
    })
  }
)

const get = (visit: PageRequest) =>
  PendingSignIn.shown(visit, (pending, returnTo) =>
    Effect.gen(function*() {
      if (pending.hasFactor) return SignInSteps.toSecondFactor(visit, returnTo)
      return yield* show(visit, pending, returnTo, Html.noFaults)
    }))

/** Sets the factor up, signs in, and shows the recovery codes. */
const post = (visit: PageRequest) =>
  PendingSignIn.submitted(visit, setUpForm, (form, pending, returnTo) =>
    Effect.gen(function*() {
      const signIns = yield* SignIns
      const factor = NewFactors.read(form)
      return yield* signIns.setUp(pending, factor, visit).pipe(
        Effect.flatMap(({ cookies, recoveryCodes }) =>
          Effect.map(
            Html.respond({
              base: visit.base,
              title: "Recovery codes",
              narrow: true,
              body: html`
<h1>Your second factor is set up</h1>
${NewFactors.recoveryCodes(recoveryCodes, `${visit.base}${returnTo}`)}`
            }),
            (page) => HttpServerResponse.mergeCookies(page, Cookies.fromSetCookie(cookies))
          )
        ),
        Effect.catchTag("SignInEnded", () => Effect.succeed(SignInSteps.toSignIn(visit, returnTo))),
        Effect.catchTag(
          "SecondFactorIncorrect",
          ({ message }) => show(visit, pending, returnTo, new Map([[NewFactors.fieldOf(factor), message]]))
        )
      )
    }))

export const routes = [Serving.route("GET", path, get), Serving.route("POST", path, post)] as const
