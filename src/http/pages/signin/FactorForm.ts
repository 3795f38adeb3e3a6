/** The form of a change of second factors, which asks for the password and the second factor again. */
import { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { ServiceUnavailable } from "../../../domain/Failure.ts"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import type { SecondFactors } from "../../../ports/signin/SecondFactors.ts"
import { type SecondFactorIncorrect, type SecondFactorNeeded } from "../../../ports/signin/SecondFactors.ts"
import { Fields, Forms, Frame, Html, html, Serving } from "../kit/index.ts"
import type { AdminPage, PageRequest, SentForm } from "../kit/index.ts"
import * as StepUp from "./StepUp.ts"

export const path = "/console/security/second-factor"

/** One change: a page that asks for the password and the second factor again, and the form's action. */
interface Change {
  readonly path: `/${string}`
  readonly title: string
  readonly fields: (
    view: AdminPage,
    faults: Html.Faults
  ) => Effect.Effect<Fields | null, ServiceUnavailable, SecondFactors>
  readonly run: (
    form: SentForm.Form,
    view: AdminPage
  ) => Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    SecondFactorIncorrect | SecondFactorNeeded | ServiceUnavailable,
    SecondFactors
  >
}

interface Fields {
  readonly markup: Html.Html
  /** The button that sends the form, unless a passkey does. */
  readonly button: string | null
  readonly script?: string
}

/** The text that the token of a change's form is bound to. */
const tokenOf = (path: string) => `second factor ${path}`

/** The path with the query that selects the page's subject. */
const withQuery = (path: string, { query }: PageRequest): string => query === "" ? path : `${path}?${query}`

export const changed = (visit: PageRequest, what: string) => Html.redirect(`${visit.base}${path}?done=${what}`)

export const change = ({ fields, path: at, run, title }: Change) => {
  const show = Effect.fnUntraced(
    function*(view: AdminPage, faults: Html.Faults, status?: number, headers?: Readonly<Record<string, string>>) {
      const own = yield* fields(view, faults)
      if (own === null) return changed(view.visit, "")
      const stepUp: StepUp.Part = yield* StepUp.part(view, faults)
      const { base } = view.visit
      return yield* Frame.page(view, {
        title,
        faults,
        status,
        headers,
        script: own.script ?? stepUp.script,
        body: html`
<p class="back"><a href="${base}${path}">Second factor</a></p>
<h1>${title}</h1>
${Html.summary(faults)}
<form method="post" action="${base}${withQuery(at, view.visit)}" class="card">
  ${Forms.hidden(view, tokenOf(at))}
  ${Fields.password(faults, { username: view.admin.email })}
  ${stepUp.field}
  ${own.markup}
  ${own.button === null ? undefined : html`<button class="main">${own.button}</button>`}
</form>`
      })
    }
  )
  const post = (visit: PageRequest) =>
    Forms.submitted(visit, at, () => tokenOf(at), (form, view) =>
      Effect.gen(function*() {
        const sessions = yield* ConsoleSessions
        yield* sessions.verifyPassword(view.admin, form.secret("password"), visit.ip)
        yield* StepUp.check(view, form)
        return yield* run(form, view)
      }).pipe(
        Serving.showRefusal,
        StepUp.again((status, field, text, headers) => show(view, new Map([[field, text]]), status, headers)),
        Effect.catchTag(
          "SecondFactorIncorrect",
          ({ message }) =>
            show(view, new Map([[form.text("kind") === "totp" ? "new-code" : "passkey-name", message]]), 403)
        ),
        Effect.catchTag("SecondFactorNeeded", ({ message }) => show(view, new Map([["password", message]]), 403))
      ))
  return [
    Serving.route(
      "GET",
      at,
      (visit) => Serving.asAdmin(visit, at, (view) => show(view, Html.noFaults))
    ),
    Serving.route("POST", at, post)
  ] as const
}
