/** The forms of the console: how one is sent, confirmed and answered. */
import { Effect, Option } from "effect"
import type { HttpServerResponse } from "effect/http"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import type * as Html from "./Html.ts"
import { html } from "./Html.ts"
import type { AdminPage, PageRequest } from "./PageRequest.ts"
import * as SentForm from "./SentForm.ts"
import * as Serving from "./Serving.ts"

/** A form's hidden members: its token, which is bound to `token`, and what the form is about. */
export const hidden = (
  view: AdminPage,
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
  visit: PageRequest,
  path: string,
  token: (form: SentForm.Form) => string,
  run: (form: SentForm.Form, view: AdminPage) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  limits: SentForm.Limits = SentForm.limits.page
) =>
  Serving.asAdmin(visit, path, (view) =>
    Effect.gen(function*() {
      const form = yield* SentForm.read(visit, limits)
      if (Option.isNone(form)) return yield* SentForm.foreign(visit)
      const sessions = yield* ConsoleSessions
      const valid = sessions.verifyCsrf(view.admin.sessionId, token(form.value), form.value.text("csrf"))
      return valid ? yield* run(form.value, view) : yield* SentForm.foreign(visit)
    }))

/** The address of a page or form, with the id that it is about. */
export const addressOf = (path: `/${string}`, id: string): `/${string}` =>
  `/${path.slice(1).replace(/:[a-z_]+/, () => id)}`

/** The text that the token of a declared form is bound to. */
export const tokenOf = (path: string, about = ""): string => `${path} ${about}`

/** A declared form in a page. */
export interface FormOpening {
  readonly path: `/${string}`
  /** The member that the form is about, and its value. */
  readonly about?: readonly [name: string, value: string] | undefined
  /** Further hidden members. */
  readonly members?: Readonly<Record<string, string>>
  readonly class?: string
}

/** A form around its fields and buttons. */
export const open = (view: AdminPage, opened: FormOpening, content: Html.Value): Html.Html => {
  const { about, members = {}, path } = opened
  const all = about === undefined ? members : { [about[0]]: about[1], ...members }
  return html`<form method="post" action="${view.visit.base}${path}"${
    opened.class === undefined ? undefined : html` class="${opened.class}"`
  }>
    ${hidden(view, tokenOf(path, about?.[1]), all)}
    ${content}
  </form>`
}

export interface ConfirmedForm extends FormOpening {
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
  view: AdminPage,
  { consequence, fields, grave, label, verb, ...opened }: ConfirmedForm
): Html.Html =>
  html`<details class="confirmed${grave ? " grave" : ""}">
    <summary>${verb} …</summary>
    ${
    open(
      view,
      { ...opened, class: "confirm" },
      html`<p>${consequence}</p>
      ${fields}
      <button class="${grave ? "danger" : "main"}">${verb}${label === undefined ? undefined : html` ${label}`}</button>`
    )
  }
  </details>`
