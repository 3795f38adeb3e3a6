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
import { type AdminPage, Fields, Form, Forms, Frame, Html, html } from "../kit/index.ts"
import * as Tabs from "./OrganizationTabs.ts"

const path = Tabs.mailsPath

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

const preferences = Effect.fnUntraced(function*(view: AdminPage, goTo: Recipients) {
  const { choices: chosen, email } = yield* getMailPreferences.call({})
  return html`<section aria-labelledby="preferences">
  <h2 id="preferences">Mails to you</h2>
  <p class="lead">They go to ${Html.named(email)}. Mails about your own sign-in and credentials always come.${
    hearsOfTakeovers(view.admin.role, goTo) ? "" : " The organization’s alerts about accounts do not go to your role."
  }</p>
  ${
    Forms.open(
      view,
      { path: `${path}/preferences` },
      html`<fieldset>
    <legend>What you want</legend>
    ${
        choices.map(([name, label, hint]) =>
          Fields.choice({ type: "checkbox", id: name, name, value: "yes", label, hint, checked: chosen[name] })
        )
      }
  </fieldset>
  <button class="main">Save your choice</button>`
    )
  }
</section>`
})

const notifications = (view: AdminPage, goTo: Recipients): Html.Html =>
  html`<section aria-labelledby="recipients">
  <h2 id="recipients">The organization’s alerts</h2>
  ${
    setNotificationRecipients.roles.includes(view.admin.role)
      ? Forms.open(
        view,
        { path: `${path}/recipients` },
        html`<fieldset>
    <legend>Who gets them</legend>
    ${
          Recipients.literals.map((value) => {
            const [label, hint] = recipients[value]
            return Fields.choice({
              type: "radio",
              id: value,
              name: "recipients",
              value,
              label,
              hint,
              checked: value === goTo
            })
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

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const { protection } = yield* getStatus.call({})
  const goTo = (yield* getNotificationRecipients.call({})).recipients
  const { available } = yield* Outbox
  return yield* Frame.page(view, {
    title: "Mails",
    outcome,
    body: html`
<h1>Mails</h1>
${Tabs.nav(view.visit.base, path)}
${Form.notice(outcome)}
${protection.unheard ? unheard(available) : undefined}
${yield* preferences(view, goTo)}
${notifications(view, goTo)}`
  })
})

const page = Form.page({ path, show })

export const routes = page.routes([
  page.form({
    name: "preferences",
    submit: ({ form }) => {
      const wants = (name: keyof MailChoices) => form.text(name) === "yes"
      return setMailPreferences.call({
        security: wants("security"),
        storage: wants("storage"),
        news: wants("news"),
        offers: wants("offers")
      })
    },
    done: "Your choice of mails is saved."
  }),
  page.form({
    name: "recipients",
    submit: ({ form }) => {
      const chosen = Recipients.literals.find((each) => each === form.text("recipients"))
      return chosen === undefined
        ? Effect.fail(new ParameterInvalid({ param: "recipients", message: "Choose who gets the alerts." }))
        : setNotificationRecipients.call({ recipients: chosen })
    },
    done: "The recipients are saved."
  })
])
