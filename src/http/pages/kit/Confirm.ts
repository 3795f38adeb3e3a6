/** Giving the second factor again, for some minutes. */
import { Effect } from "effect"
import * as SignInSteps from "../signin/SignInSteps.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as Forms from "./Forms.ts"
import * as Frame from "./Frame.ts"
import * as Html from "./Html.ts"
import { html } from "./Html.ts"
import type { AdminPage, PageRequest } from "./PageRequest.ts"
import * as Serving from "./Serving.ts"

const path = StepUp.confirmPath
const token = "confirm"

const show = Effect.fnUntraced(
  function*(view: AdminPage, returnTo: string, faults: Html.Faults, status?: number, headers = {}) {
    const stepUp: StepUp.Part = yield* StepUp.part(view, faults)
    if (stepUp.field === undefined) return Html.redirect(`${view.visit.base}${returnTo}`)
    return yield* Frame.page(view, {
      title: "Confirm that it is you",
      faults,
      status,
      headers,
      script: stepUp.script,
      body: html`
<h1>Confirm that it is you</h1>
${Html.summary(faults)}
<form method="post" action="${view.visit.base}${path}" class="card">
  ${Forms.hidden(view, token, { return_to: returnTo })}
  ${stepUp.field}
  <button class="main">Confirm</button>
</form>`
    })
  }
)

const get = (visit: PageRequest) => {
  const returnTo = SignInSteps.returnPath(new URLSearchParams(visit.query).get("return_to"))
  return Serving.asAdmin(visit, returnTo, (view) => show(view, returnTo, Html.noFaults))
}

const post = (visit: PageRequest) =>
  Forms.submitted(visit, path, () => token, (form, view) => {
    const returnTo = SignInSteps.returnPath(form.text("return_to"))
    return StepUp.check(view, form).pipe(
      Effect.as(Html.redirect(`${visit.base}${returnTo}`)),
      Effect.catchTag(
        "StepUpRefused",
        ({ headers, message, status }) => show(view, returnTo, new Map([[StepUp.fieldId, message]]), status, headers)
      )
    )
  })

export const routes = [Serving.route("GET", path, get), Serving.route("POST", path, post)] as const
