/** The profile of an account on the messenger, read live, and changed on the real account. */
import { Effect } from "effect"
import { maxAboutLength, maxNameLength, maxUsernameLength } from "../../../domain/Limits.ts"
import { getAccount } from "../../../operations/accounts/get_account.ts"
import { getAccountMessengerProfile } from "../../../operations/accounts/get_account_messenger_profile.ts"
import { setMessengerUsername } from "../../../operations/accounts/set_messenger_username.ts"
import { updateMessengerProfile } from "../../../operations/accounts/update_messenger_profile.ts"
import { answer } from "../../../transport/Answer.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Problem from "../kit/Problem.ts"
import * as Refused from "../kit/RefusedForms.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as Visit from "../kit/Visit.ts"
import * as AccountForms from "./AccountForms.ts"

const path = "/console/accounts/:account_id/profile"
export const pathOf = (accountId: string): `/${string}` => `${AccountForms.pathOf(accountId)}/profile`

/** The forms, each by the end of its address, and what is said when it is done. */
const dones = {
  texts: "The profile is changed on the messenger.",
  username: "The username is changed on the messenger."
}
type Action = keyof typeof dones

/** The text that a form's token is bound to. */
const token = (action: Action, accountId: string): string => `profile ${action} ${accountId}`

/** The contents of the fields. */
interface Texts {
  readonly first_name: string
  readonly last_name: string
  readonly about: string
  readonly username: string
}

const inputs = {
  first_name: `Give a first name of at most ${maxNameLength} characters.`,
  last_name: `Give a last name of at most ${maxNameLength} characters.`,
  about: `Write a bio of at most ${maxAboutLength} characters.`,
  username: `Give a username of at most ${maxUsernameLength} characters, without @.`
}

interface Shown {
  readonly done?: string | undefined
  readonly refused?: Refused.RefusedForm
  /** The contents of the form that was refused. */
  readonly draft?: Partial<Texts>
}

/** The profile as it is, with what a refused form had in it; or why the messenger does not report it. */
const load = (id: string, draft: Partial<Texts> = {}) =>
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

const field = (
  faults: Html.Faults,
  { hint, label, max, name, required = false, value }: {
    readonly name: keyof Texts
    readonly label: string
    readonly hint: string
    readonly max: number
    readonly value: string
    readonly required?: boolean
  }
): Html.Html =>
  html`<div class="field">
    <label for="${name}">${label}</label>
    <p class="hint" id="${name}-hint">${hint}</p>
    ${Html.fault(faults, name)}
    <input type="text" id="${name}" name="${name}"${
    required ? " required" : ""
  } maxlength="${max}" value="${value}" autocomplete="off" spellcheck="false"${Html.described(faults, name, true)}>
  </div>`

const form = (view: Visit.View, id: string, action: Action, content: Html.Html): Html.Html =>
  html`<form method="post" action="${view.visit.base}${pathOf(id)}/${action}">
  ${Forms.hidden(view, token(action, id))}
  ${content}
</form>`

const bio = (faults: Html.Faults, text: string, limit: number): Html.Html =>
  html`<div class="field">
    <label for="about">Bio</label>
    <p class="hint" id="about-hint">At most ${limit} characters; empty removes it.</p>
    ${Html.fault(faults, "about")}
    <textarea id="about" name="about" rows="3" maxlength="${limit}"${Html.described(faults, "about", true)}>
${text}</textarea>
  </div>`

const forms = (view: Visit.View, id: string, texts: Texts, bioLimit: number, faults: Html.Faults): Html.Html =>
  html`<section aria-labelledby="texts">
  <h2 id="texts">Name and bio</h2>
  ${
    form(
      view,
      id,
      "texts",
      html`${
        field(faults, {
          name: "first_name",
          label: "First name",
          hint: "The messenger requires one.",
          max: maxNameLength,
          value: texts.first_name,
          required: true
        })
      }
  ${
        field(faults, {
          name: "last_name",
          label: "Last name",
          hint: "Empty removes it.",
          max: maxNameLength,
          value: texts.last_name
        })
      }
  ${bio(faults, texts.about, bioLimit)}
  <button class="main">Change name and bio</button>`
    )
  }
</section>
<section aria-labelledby="of-username">
  <h2 id="of-username">Username</h2>
  ${
    form(
      view,
      id,
      "username",
      html`${
        field(faults, {
          name: "username",
          label: "Username",
          hint: "Without @. Links with the one before lead nowhere from then on; empty removes it.",
          max: maxUsernameLength,
          value: texts.username
        })
      }
  <button class="main">Change the username</button>`
    )
  }
</section>`

const show = Effect.fnUntraced(function*(view: Visit.View, id: string, { done, draft, refused }: Shown) {
  if (!getAccountMessengerProfile.roles.includes(view.admin.role)) {
    return yield* Problem.notForRole(view.visit, "The owner, superadmins and admins see and change profiles.")
  }
  const account = yield* getAccount.call({ account_id: id })
  const profile = yield* load(id, draft)
  const faults = Refused.faultsOf(refused, inputs)
  return yield* Frame.page(view, {
    title: `${refused === undefined ? "Profile" : "Problem: profile"} of ${account.name}`,
    status: refused?.status,
    headers: refused?.headers,
    body: html`
<p class="back"><a href="${view.visit.base}${AccountForms.pathOf(id)}">The account</a></p>
<h1>Profile of ${Html.named(account.name)}</h1>
<p class="lead">As it is on the messenger now. A change is made on the real account, and everybody there sees it.</p>
${done === undefined ? undefined : html`<p class="good" role="status">${done}</p>`}
${faults.size > 0 ? Html.summary(faults) : Refused.box(refused?.problem)}
${
      "unread" in profile
        ? html`<div class="warning"><h2>The messenger does not show the profile now</h2><p>${profile.unread}</p></div>`
        : forms(view, id, profile.texts, profile.bioLimit, faults)
    }`
  })
})

const get = (visit: Visit.Visit) =>
  Visit.asAdmin(visit, visit.path, (view) =>
    Effect.flatMap(Visit.idOf(visit, "account_id"), (id) => {
      const wanted = new URLSearchParams(visit.query).get("done")
      return show(view, id, { done: Object.entries(dones).find(([action]) => action === wanted)?.[1] })
    }))

/** Answers a form by its operation, which takes what is in the form's fields. */
const act = <Fields extends Partial<Texts>, A, E, R>(
  action: Action,
  read: (form: SentForm.Form) => Fields,
  run: (input: Fields & { readonly account_id: string }) => Effect.Effect<A, E, R>
) =>
  Visit.route(
    "POST",
    `${path}/${action}`,
    (visit) =>
      Effect.flatMap(Visit.idOf(visit, "account_id"), (id) =>
        Forms.submitted(visit, pathOf(id), () =>
          token(action, id), (form, view) => {
          const draft = read(form)
          return run({ account_id: id, ...draft }).pipe(
            Effect.map(() => Html.redirect(`${visit.base}${pathOf(id)}?done=${action}`)),
            Refused.orShow((refused) => show(view, id, { refused, draft }))
          )
        }))
  )

export const routes = [
  Visit.route("GET", path, get),
  act(
    "texts",
    (form) => ({ first_name: form.text("first_name"), last_name: form.text("last_name"), about: form.lines("about") }),
    (input) => updateMessengerProfile.call(input)
  ),
  // People write a username as the messenger shows it.
  act(
    "username",
    (form) => ({ username: form.text("username").trim().replace(/^@/, "") }),
    (input) => setMessengerUsername.call(input)
  )
] as const
