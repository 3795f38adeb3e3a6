/** The mails that the admin gets, and the recipients of the organization's notifications. */
import { Effect } from "effect"
import { ParameterInvalid } from "../../../domain/Failure.ts"
import { Recipients } from "../../../domain/organization/Organization.ts"
import { hearsOfTakeovers, type MailChoices } from "../../../domain/people/MailPreferences.ts"
import { getNotificationRecipients } from "../../../operations/organization/get_notification_recipients.ts"
import { getStatus } from "../../../operations/organization/get_status.ts"
import { setNotificationRecipients } from "../../../operations/organization/set_notification_recipients.ts"
import { getMailPreferences } from "../../../operations/people/get_mail_preferences.ts"
import { setMailPreferences } from "../../../operations/people/set_mail_preferences.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Refused from "../kit/RefusedForms.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as Visit from "../kit/Visit.ts"
import * as Tabs from "./OrganizationTabs.ts"

const path = Tabs.mailsPath

/** The forms, each by the end of its address, and what is said when it is done. */
const dones = {
  preferences: "Your choice of mails is saved.",
  recipients: "The recipients are saved."
}
type Action = keyof typeof dones

/** The text that a form's token is bound to. */
const token = (action: Action): string => `mail ${action}`

const choices: ReadonlyArray<readonly [name: keyof MailChoices, label: string, hint: string]> = [
  ["security", "Alerts about accounts", "New sign-ins, takeovers, and changes outside the console."],
  ["storage", "Storage", "The archive’s storage is filling up."],
  ["news", "News", "What is new in the service."],
  ["offers", "Offers", "Offers of the maker."]
]

const recipients: Readonly<Record<Recipients, readonly [label: string, hint: string]>> = {
  owner: ["The owner alone", "Superadmins get none of the organization’s alerts."],
  owner_superadmins: ["The owner and every superadmin", "Each of them may turn alerts off for themselves."]
}

const form = (view: Visit.View, action: Action, content: Html.Html): Html.Html =>
  html`<form method="post" action="${view.visit.base}${path}/${action}">
  ${Forms.hidden(view, token(action))}
  ${content}
</form>`

const choice = (
  { checked, hint, id, label, name, type, value }: {
    readonly type: "checkbox" | "radio"
    readonly id: string
    readonly name: string
    readonly value: string
    readonly label: string
    readonly hint: string
    readonly checked: boolean
  }
): Html.Html =>
  html`<div class="choice">
    <input type="${type}" id="${id}" name="${name}" value="${value}"${checked ? " checked" : ""}>
    <label for="${id}"><span class="name">${label}</span> <span class="hint">${hint}</span></label>
  </div>`

const preferences = Effect.fnUntraced(function*(view: Visit.View, goTo: Recipients) {
  const { choices: chosen, email } = yield* getMailPreferences.call({})
  return html`<section aria-labelledby="preferences">
  <h2 id="preferences">Mails to you</h2>
  <p class="lead">They go to ${Html.named(email)}. Mails about your own sign-in and credentials always come.${
    hearsOfTakeovers(view.admin.role, goTo) ? "" : " The organization’s alerts about accounts do not go to your role."
  }</p>
  ${
    form(
      view,
      "preferences",
      html`<fieldset>
    <legend>What you want</legend>
    ${
        choices.map(([name, label, hint]) =>
          choice({ type: "checkbox", id: name, name, value: "yes", label, hint, checked: chosen[name] })
        )
      }
  </fieldset>
  <button class="main">Save your choice</button>`
    )
  }
</section>`
})

const notifications = (view: Visit.View, goTo: Recipients): Html.Html =>
  html`<section aria-labelledby="recipients">
  <h2 id="recipients">The organization’s alerts</h2>
  ${
    setNotificationRecipients.roles.includes(view.admin.role)
      ? form(
        view,
        "recipients",
        html`<fieldset>
    <legend>Who gets them</legend>
    ${
          Recipients.literals.map((value) => {
            const [label, hint] = recipients[value]
            return choice({ type: "radio", id: value, name: "recipients", value, label, hint, checked: value === goTo })
          })
        }
  </fieldset>
  <button class="main">Save the recipients</button>`
      )
      : html`<p>${recipients[goTo][0]} get${goTo === "owner" ? "s" : ""} them.</p>
  <p class="hint">The owner and superadmins change this.</p>`
  }
</section>`

/** The reason that nobody would be mailed about a takeover. */
const unheard = (available: boolean): Html.Html =>
  html`<div class="warning" role="status">
  <h2>Nobody would get a mail about a takeover</h2>
  <p>${
    available
      ? "No recipient wants alerts: one of the recipients below has to turn them on."
      : "This console sends no mail. Its operator sets up a mail server; what you choose here holds from then on."
  }</p>
</div>`

const show = Effect.fnUntraced(function*(view: Visit.View, refused?: Refused.RefusedForm) {
  const { base, query } = view.visit
  const { protection } = yield* getStatus.call({})
  const goTo = (yield* getNotificationRecipients.call({})).recipients
  const { available } = yield* Outbox
  const wanted = new URLSearchParams(query).get("done")
  const done = Object.entries(dones).find(([action]) => action === wanted)?.[1]
  return yield* Frame.page(view, {
    title: refused === undefined ? "Mails" : "Problem: mails",
    status: refused?.status,
    headers: refused?.headers,
    body: html`
<h1>Mails</h1>
${Tabs.nav(base, path)}
${done === undefined ? undefined : html`<p class="good" role="status">${done}</p>`}
${Refused.box(refused?.problem)}
${protection.unheard ? unheard(available) : undefined}
${yield* preferences(view, goTo)}
${notifications(view, goTo)}`
  })
})

const get = (visit: Visit.Visit) => Visit.asAdmin(visit, path, (view) => show(view))

const act = <A, E, R>(action: Action, run: (form: SentForm.Form) => Effect.Effect<A, E, R>) =>
  Visit.route(
    "POST",
    `${path}/${action}`,
    (visit) =>
      Forms.submitted(visit, path, () => token(action), (form, view) =>
        run(form).pipe(
          Effect.map(() => Html.redirect(`${visit.base}${path}?done=${action}`)),
          Refused.orShow((refused) => show(view, refused))
        ))
  )

export const routes = [
  Visit.route("GET", path, get),
  act("preferences", (form) => {
    const wants = (name: keyof MailChoices) => form.text(name) === "yes"
    return setMailPreferences.call({
      security: wants("security"),
      storage: wants("storage"),
      news: wants("news"),
      offers: wants("offers")
    })
  }),
  act("recipients", (form) => {
    const chosen = Recipients.literals.find((each) => each === form.text("recipients"))
    return chosen === undefined
      ? Effect.fail(new ParameterInvalid({ param: "recipients", message: "Choose who gets the alerts." }))
      : setNotificationRecipients.call({ recipients: chosen })
  })
] as const
