/** Inviting an admin. */
import { Effect, Redacted } from "effect"
import { ParameterInvalid } from "../../../domain/Failure.ts"
import { maxAdminNameLength, maxEmailLength } from "../../../domain/Limits.ts"
import { canAccessEveryAccount } from "../../../domain/people/Access.ts"
import type { GivenRole } from "../../../domain/people/Admin.ts"
import * as Authorize from "../../../oauth/authorize/Authorize.ts"
import { inviteAdmin } from "../../../operations/people/invite_admin.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import { type AdminPage, Fields, Form, Forms, Frame, type Html, html, SentForm } from "../kit/index.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as AccessFields from "./AccessFields.ts"
import * as InvitationShown from "./InvitationShown.ts"
import { administrators, refusalsAt } from "./PeopleRefusals.ts"
import { path as people } from "./PeopleWords.ts"

const path = `${people}/invite` as const

interface Draft extends AccessFields.AccessDraft {
  readonly email: string
  readonly name: string
  readonly role: GivenRole | undefined
}

const empty: Draft = { ...AccessFields.empty, email: "", name: "", role: "admin" }

const draftOf = (form: SentForm.Form): Draft => ({
  ...AccessFields.read(form),
  email: form.text("email").trim(),
  name: form.text("name").trim(),
  role: AccessFields.roleOf(form)
})

const who = (view: AdminPage, { email, name, role }: Draft, faults: Html.Faults): Html.Html => {
  const address = { name: "email", label: "Email address", hint: "They sign in with it." }
  return html`<section aria-label="Who">
    ${
    Fields.input(faults, address, {
      type: "email",
      required: true,
      maxlength: maxEmailLength,
      value: email,
      autocapitalize: "none",
      ...Fields.verbatim
    })
  }
    ${
    Fields.input(faults, { name: "name", label: "Name", hint: "May be left out." }, {
      maxlength: maxAdminNameLength,
      value: name,
      autocomplete: "off"
    })
  }
    ${AccessFields.roleField(view.admin.role, role, faults)}
  </section>`
}

const confirm = (view: AdminPage, faults: Html.Faults): Html.Html =>
  html`<section aria-label="Confirm">
    ${
    Fields.password(faults, {
      label: "Your console password",
      hint: "Asked for again, because this changes what somebody may do.",
      username: view.admin.email
    })
  }
    <div class="actions">
      <button class="main" name="decision" value="invite">Invite</button>
      <a class="button" href="${view.visit.base}${people}">Cancel</a>
    </div>
  </section>`

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const { base } = view.visit
  const { faults, sent } = outcome
  const draft = sent === undefined ? empty : draftOf(sent)
  const choices = yield* Authorize.choices(view.admin, AccessFields.wanted(draft))
  const mails = (yield* Outbox).available
  const note = yield* StepUp.note(view, path)
  const access = AccessFields.field(choices, {
    draft,
    faults,
    action: `${base}${path}`,
    archive: true,
    next: "password"
  })
  return yield* Frame.page(view, {
    title: "Invite an admin",
    outcome,
    body: html`
<p class="back"><a href="${base}${people}">People</a></p>
<h1>Invite an admin</h1>
<p class="lead">${
      mails
        ? "A mail brings them a link, which works once, for 7 days. With it they choose a password."
        : "This console sends no mail. You get the link once they are invited: it works once, for 7 days, and with it they choose a password."
    }</p>
${note}
${Form.problems(outcome)}
${Form.searchedNote(outcome)}
${
      Forms.open(
        view,
        { path },
        html`${who(view, draft, faults)}
  <section aria-labelledby="access" class="granting">
    <h2 id="access">What they can access</h2>
    <p class="hint">For the roles Admin and Archive; it can be changed later.</p>
    ${access}
  </section>
  ${confirm(view, faults)}`
      )
    }`
  })
})

/** The operation checks the password. */
const invite = ({ form }: Form.Sent) => {
  const { accounts, archive, departments, email, name, role } = draftOf(form)
  if (role === undefined) return Effect.fail(new ParameterInvalid({ param: "role", message: "role: is required." }))
  const access = canAccessEveryAccount(role) ? undefined : {
    account_ids: accounts,
    department_ids: departments,
    ...(role === "admin" ? { archive } : {})
  }
  return inviteAdmin.call({
    email,
    role,
    current_password: Redacted.value(form.secret("password")),
    ...(name === "" ? {} : { name }),
    ...(access === undefined ? {} : { access })
  })
}

const page = Form.page({ path, show, only: administrators, refusals: refusalsAt("main"), strict: true })

export const routes = page.routes([
  page.form({
    name: "",
    pressed: "invite",
    factor: "link",
    submit: (asked) =>
      InvitationShown.showLinkOr(asked.view, invite(asked), ({ id }) => `${people}/${id}?done=invited`),
    next: (answer) => answer,
    limits: SentForm.limits.access
  })
])
