/** The profile of an account on the messenger, read live, and changed on the real account. */
import { Effect } from "effect"
import { maxAboutLength, maxNameLength, maxUsernameLength } from "../../../domain/Limits.ts"
import { getAccount } from "../../../operations/accounts/get_account.ts"
import { getAccountMessengerProfile } from "../../../operations/accounts/get_account_messenger_profile.ts"
import { setMessengerUsername } from "../../../operations/accounts/set_messenger_username.ts"
import { updateMessengerProfile } from "../../../operations/accounts/update_messenger_profile.ts"
import { answer } from "../../../transport/Answer.ts"
import { type AdminPage, Fields, Form, Forms, Frame, Html, html, type SentForm } from "../kit/index.ts"
import * as AccountForms from "./AccountForms.ts"

export const pathOf = (accountId: string): `/${string}` => `${AccountForms.pathOf(accountId)}/profile`

/** The contents of the fields. */
interface Texts {
  readonly first_name: string
  readonly last_name: string
  readonly about: string
  readonly username: string
}

/** The contents of the form that was sent: those of the other form are as they were. */
const draftOf = ({ form, sent }: Form.Outcome): Partial<Texts> =>
  sent === undefined ? {} : form === "username" ? usernameOf(sent) : textsOf(sent)

const textsOf = (form: SentForm.Form) => ({
  first_name: form.text("first_name"),
  last_name: form.text("last_name"),
  about: form.lines("about")
})

/** People write a username as the messenger shows it. */
const usernameOf = (form: SentForm.Form) => ({ username: form.text("username").trim().replace(/^@/, "") })

/** The profile as it is, with what a refused form had in it; or why the messenger does not report it. */
const load = (id: string, draft: Partial<Texts>) =>
  Effect.match(getAccountMessengerProfile.call({ account_id: id }), {
    onFailure: (failure) => ({ unread: answer(failure).body.error.message }),
    onSuccess: ({ about, bio_limit, first_name, last_name, username }) => ({
      bioLimit: bio_limit,
      texts: {
        first_name: first_name ?? "",
        last_name: last_name ?? "",
        about: about ?? "",
        username: username ?? "",
        ...draft
      }
    })
  })

const bio = (faults: Html.Faults, text: string, limit: number): Html.Html =>
  Fields.textarea(
    faults,
    { name: "about", label: "Bio", hint: `At most ${limit} characters; empty removes it.` },
    text,
    { rows: 3, maxlength: limit }
  )

const texts = (view: AdminPage, id: string, texts: Texts, bioLimit: number, faults: Html.Faults): Html.Html => {
  const names = { maxlength: maxNameLength, ...Fields.verbatim }
  const first = { name: "first_name", label: "First name", hint: "The messenger requires one." }
  const last = { name: "last_name", label: "Last name", hint: "Empty removes it." }
  return html`<section aria-labelledby="texts">
  <h2 id="texts">Name and bio</h2>
  ${
    Forms.open(
      view,
      { path: `${pathOf(id)}/texts` },
      html`${Fields.input(faults, first, { required: true, value: texts.first_name, ...names })}
  ${Fields.input(faults, last, { value: texts.last_name, ...names })}
  ${bio(faults, texts.about, bioLimit)}
  <button class="main">Change name and bio</button>`
    )
  }
</section>`
}

const username = (view: AdminPage, id: string, value: string, faults: Html.Faults): Html.Html => {
  const hint = "Without @. Links with the one before lead nowhere from then on; empty removes it."
  const more = { maxlength: maxUsernameLength, value, ...Fields.verbatim }
  return html`<section aria-labelledby="of-username">
  <h2 id="of-username">Username</h2>
  ${
    Forms.open(
      view,
      { path: `${pathOf(id)}/username` },
      html`${Fields.input(faults, { name: "username", label: "Username", hint }, more)}
  <button class="main">Change the username</button>`
    )
  }
</section>`
}

const show = Effect.fnUntraced(function*(view: AdminPage, id: string, outcome: Form.Outcome) {
  const { faults } = outcome
  const account = yield* getAccount.call({ account_id: id })
  const profile = yield* load(id, draftOf(outcome))
  return yield* Frame.page(view, {
    title: `Profile of ${account.name}`,
    outcome,
    body: html`
<p class="back"><a href="${view.visit.base}${AccountForms.pathOf(id)}">The account</a></p>
<h1>Profile of ${Html.named(account.name)}</h1>
<p class="lead">As it is on the messenger now. A change is made on the real account, and everybody there sees it.</p>
${Form.notice(outcome)}
${
      "unread" in profile
        ? html`<div class="warning"><h2>The messenger does not show the profile now</h2><p>${profile.unread}</p></div>`
        : html`${texts(view, id, profile.texts, profile.bioLimit, faults)}
${username(view, id, profile.texts.username, faults)}`
    }`
  })
})

const page = Form.page({
  path: "/console/accounts/:account_id/profile",
  show,
  only: [getAccountMessengerProfile.roles, "The owner, superadmins and admins see and change profiles."],
  refusals: {
    first_name: `Give a first name of at most ${maxNameLength} characters.`,
    last_name: `Give a last name of at most ${maxNameLength} characters.`,
    about: `Write a bio of at most ${maxAboutLength} characters.`,
    username: `Give a username of at most ${maxUsernameLength} characters, without @.`
  }
})

export const routes = page.routes([
  page.form({
    name: "texts",
    submit: ({ form, id }) => updateMessengerProfile.call({ account_id: id, ...textsOf(form) }),
    done: "The profile is changed on the messenger."
  }),
  page.form({
    name: "username",
    submit: ({ form, id }) => setMessengerUsername.call({ account_id: id, ...usernameOf(form) }),
    done: "The username is changed on the messenger."
  })
])
