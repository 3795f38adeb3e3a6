/** Inviting an admin. */
import { Effect, Redacted } from "effect"
import { maxAdminNameLength, maxEmailLength } from "../../../domain/Limits.ts"
import { canAccessEveryAccount } from "../../../domain/people/Access.ts"
import type { GivenRole } from "../../../domain/people/Admin.ts"
import * as Authorize from "../../../oauth/authorize/Authorize.ts"
import { inviteAdmin } from "../../../operations/people/invite_admin.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as SentForm from "../kit/SentForm.ts"
import * as Visit from "../kit/Visit.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as Granting from "./AccessFields.ts"
import * as InvitationShown from "./InvitationShown.ts"
import * as Refusals from "./PeopleRefusals.ts"
import { path as people } from "./PeopleWords.ts"

const path = `${people}/invite`

/** The text that the form's token is bound to. */
const token = "invite admin"

interface Draft extends Granting.AccessDraft {
  readonly email: string
  readonly name: string
  readonly role: GivenRole | undefined
}

const empty: Draft = { ...Granting.empty, email: "", name: "", role: "admin" }

const show = Effect.fnUntraced(function*(view: Visit.View, draft: Draft, refusal: Refusals.FormRefusal) {
  const { faults, headers, status } = refusal
  const { base } = view.visit
  const choices = yield* Authorize.choices(view.admin, Granting.wanted(draft))
  const mails = (yield* Outbox).available
  const note = yield* StepUp.note(view, path)
  return yield* Frame.page(view, {
    title: "Invite an admin",
    faults,
    status,
    headers,
    body: html`
<p class="back"><a href="${base}${people}">People</a></p>
<h1>Invite an admin</h1>
<p class="lead">${
      mails
        ? "A mail brings them a link, which works once, for 7 days. With it they choose a password."
        : "This console sends no mail. You get the link once they are invited: it works once, for 7 days, and with it they choose a password."
    }</p>
${note}
${Html.summary(faults)}
${Refusals.searchedNote(refusal)}
<form method="post" action="${base}${path}">
  ${Forms.hidden(view, token)}
  <section aria-label="Who">
    <div class="field" id="main">
      <label for="email">Email address</label>
      <p class="hint" id="email-hint">They sign in with it.</p>
      ${Html.fault(faults, "email")}
      <input type="email" id="email" name="email" required maxlength="${maxEmailLength}" value="${draft.email}" autocomplete="off" autocapitalize="none" spellcheck="false"${
      Html.described(faults, "email", true)
    }>
    </div>
    <div class="field">
      <label for="name">Name</label>
      <p class="hint" id="name-hint">May be left out.</p>
      ${Html.fault(faults, "name")}
      <input type="text" id="name" name="name" maxlength="${maxAdminNameLength}" value="${draft.name}" autocomplete="off"${
      Html.described(faults, "name", true)
    }>
    </div>
    ${Granting.roleField(view.admin.role, draft.role, faults)}
  </section>
  <section aria-labelledby="access" class="granting">
    <h2 id="access">What they can access</h2>
    <p class="hint">For the roles Admin and Archive; it can be changed later.</p>
    ${
      Granting.field(choices, {
        draft,
        faults,
        action: `${base}${path}`,
        archive: true,
        next: "password"
      })
    }
  </section>
  <section aria-label="Confirm">
    ${Refusals.passwordField(view, faults)}
    <div class="actions">
      <button class="main" name="decision" value="invite">Invite</button>
      <a class="button" href="${base}${people}">Cancel</a>
    </div>
  </section>
</form>`
  })
})

const get = (visit: Visit.Visit) =>
  Visit.asAdmin(visit, path, (view) => Refusals.administered(view, show(view, empty, Refusals.none)))

const post = (visit: Visit.Visit) =>
  Forms.submitted(visit, path, () => token, (form, view) => {
    const draft: Draft = {
      ...Granting.read(form),
      email: form.text("email").trim(),
      name: form.text("name").trim(),
      role: Granting.roleOf(form)
    }
    const { accounts, archive, departments, email, name, role } = draft
    if (form.text("decision") !== "invite") return Refusals.administered(view, show(view, draft, Refusals.searched))
    if (role === undefined) {
      return show(view, draft, { faults: new Map([["role", "Choose a role."]]), status: 400, headers: {} })
    }
    const access = canAccessEveryAccount(role) ? undefined : {
      account_ids: accounts,
      department_ids: departments,
      ...(role === "admin" ? { archive } : {})
    }
    const inviting = inviteAdmin.call({
      email,
      role,
      current_password: Redacted.value(form.secret("password")),
      ...(name === "" ? {} : { name }),
      ...(access === undefined ? {} : { access })
    })
    return Refusals.checkPassword(view, form).pipe(
      Effect.andThen(
        InvitationShown.shownOr(view, inviting, ({ id }) => `${visit.base}${people}/${id}?done=invited`)
      ),
      Refusals.again((refusal) => show(view, draft, refusal))
    )
  }, SentForm.limits.access)

export const routes = [Visit.route("GET", path, get), Visit.route("POST", path, post)] as const
