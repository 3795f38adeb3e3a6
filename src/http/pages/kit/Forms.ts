/** The forms of the console: how one is sent, confirmed and answered. */
import { Effect, Option } from "effect"
import type { HttpServerResponse } from "effect/http"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import type * as Html from "./Html.ts"
import { html } from "./Html.ts"
import * as SentForm from "./SentForm.ts"
import * as Visit from "./Visit.ts"

/** A form's hidden members: its token, which is bound to `token`, and what the form is about. */
export const hidden = (
  view: Visit.View,
  token: string,
  members: Readonly<Record<string, string>> = {}
): Html.Html =>
  html`<input type="hidden" name="csrf" value="${view.csrf(token)}">${
    Object.entries(members).map(([name, value]) =>
      html`
      <input type="hidden" name="${name}" value="${value}">`
    )
  }`

/**
 * Runs what a form asks for. The form was sent from this site by the session that it was shown to, and its token is
 * bound to the text that `token` makes of its members; any other request is refused, and changes nothing.
 */
export const submitted = <E, R>(
  visit: Visit.Visit,
  path: string,
  token: (form: SentForm.Form) => string,
  run: (form: SentForm.Form, view: Visit.View) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  limits: SentForm.Limits = SentForm.limits.page
) =>
  Visit.asAdmin(visit, path, (view) =>
    Effect.gen(function*() {
      const form = yield* SentForm.read(visit, limits)
      if (Option.isNone(form)) return yield* SentForm.foreign(visit)
      const sessions = yield* ConsoleSessions
      const valid = sessions.verifyCsrf(view.admin.sessionId, token(form.value), form.value.text("csrf"))
      return valid ? yield* run(form.value, view) : yield* SentForm.foreign(visit)
    }))

export interface Confirmed {
  readonly path: string
  readonly token: string
  readonly members: Readonly<Record<string, string>>
  readonly verb: string
  /** The object of the verb, on the button. */
  readonly label?: Html.Html | undefined
  readonly consequence: Html.Html | string
  /** It ends protection, or ends or deletes what does not come back: such buttons are red. */
  readonly grave: boolean
  /** The fields to be filled in before. */
  readonly fields?: Html.Html | undefined
}

/** A button that asks for confirmation first. */
export const confirmed = (
  view: Visit.View,
  { consequence, fields, grave, label, members, path, token, verb }: Confirmed
): Html.Html =>
  html`<details class="confirmed${grave ? " grave" : ""}">
    <summary>${verb} …</summary>
    <form method="post" action="${view.visit.base}${path}" class="confirm">
      ${hidden(view, token, members)}
      <p>${consequence}</p>
      ${fields}
      <button class="${grave ? "danger" : "main"}">${verb}${label === undefined ? undefined : html` ${label}`}</button>
    </form>
  </details>`
