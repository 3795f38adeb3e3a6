/** The forms of one admin's page: each does one operation. */
import { Effect, Redacted } from "effect"
import { ParameterInvalid } from "../../../domain/Failure.ts"
import { disableAdmin } from "../../../operations/people/disable_admin.ts"
import { enableAdmin } from "../../../operations/people/enable_admin.ts"
import { getAdmin } from "../../../operations/people/get_admin.ts"
import { removeAdmin } from "../../../operations/people/remove_admin.ts"
import { resendAdminInvitation } from "../../../operations/people/resend_admin_invitation.ts"
import { setAdminAccess } from "../../../operations/people/set_admin_access.ts"
import { setAdminRole } from "../../../operations/people/set_admin_role.ts"
import { transferOwnership } from "../../../operations/people/transfer_ownership.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import { Form, SentForm } from "../kit/index.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as AccessFields from "./AccessFields.ts"
import { mailed, pathOf, show } from "./AdminPage.ts"
import * as InvitationShown from "./InvitationShown.ts"
import { administrators, checkPassword, refusalsAt } from "./PeopleRefusals.ts"
import * as Words from "./PeopleWords.ts"

const page = Form.page({
  path: pathOf(":admin_id"),
  show,
  only: administrators,
  refusals: refusalsAt("changes"),
  strict: true,
  done: { invited: mailed.invited }
})

/** A form is sent by its own button alone: Enter in the search of a list searches. */
const sent = { pressed: "do", limits: SentForm.limits.access } as const

const passwordOf = ({ form }: Form.Sent) => ({ current_password: Redacted.value(form.secret("password")) })

/** The link of an invitation, which the page shows where no mail brings it, opens what the invited admin may do. */
const checkLink = Effect.fnUntraced(function*(asked: Form.Sent) {
  if ((yield* Outbox).available) return
  yield* StepUp.demand(asked.view)
  yield* checkPassword(asked)
})

const setAccess = Effect.fnUntraced(function*(asked: Form.Sent) {
  const { accounts, archive, departments } = AccessFields.read(asked.form)
  const { role } = yield* getAdmin.call({ admin_id: asked.id })
  return yield* setAdminAccess.call({
    admin_id: asked.id,
    account_ids: accounts,
    department_ids: departments,
    ...(role === "admin" ? { archive } : {}),
    ...passwordOf(asked)
  })
})

const setRole = (asked: Form.Sent) => {
  const role = AccessFields.roleOf(asked.form)
  return role === undefined
    ? Effect.fail(new ParameterInvalid({ param: "role", message: "role: is required." }))
    : setAdminRole.call({ admin_id: asked.id, role, ...passwordOf(asked) })
}

/** A form that gives rights, or takes them for good, asks for the password; the operations that give some check it. */
export const routes = page.routes([
  page.form({
    ...sent,
    name: "resend-invitation",
    submit: (asked) =>
      Effect.andThen(
        checkLink(asked),
        InvitationShown.showLinkOr(
          asked.view,
          resendAdminInvitation.call({ admin_id: asked.id }),
          () => `${pathOf(asked.id)}?done=resend-invitation`
        )
      ),
    next: (answer) => answer,
    done: mailed.resent
  }),
  page.form({ ...sent, name: "role", factor: "link", submit: setRole, done: "The role is changed." }),
  page.form({ ...sent, name: "access", factor: "link", submit: setAccess, done: "The access is changed." }),
  page.form({
    ...sent,
    name: "enable",
    factor: "link",
    submit: (asked) => Effect.andThen(checkPassword(asked), enableAdmin.call({ admin_id: asked.id })),
    done: "The admin is enabled again."
  }),
  page.form({
    ...sent,
    name: "disable",
    submit: ({ id }) => disableAdmin.call({ admin_id: id }),
    done: "The admin is disabled: nothing works in their name."
  }),
  page.form({
    ...sent,
    name: "remove",
    factor: "link",
    submit: (asked) => Effect.andThen(checkPassword(asked), removeAdmin.call({ admin_id: asked.id })),
    next: () => `${Words.path}?done=removed`
  }),
  page.form({
    ...sent,
    name: "ownership",
    factor: "link",
    submit: (asked) => transferOwnership.call({ admin_id: asked.id, ...passwordOf(asked) }),
    next: () => `${Words.path}?done=owner`
  })
])
