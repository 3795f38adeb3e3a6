/** The forms of one admin's page: each does one operation. */
import { Effect, Redacted } from "effect"
import type { HttpServerResponse } from "effect/http"
import { ParameterInvalid, ResourceMissing } from "../../../domain/Failure.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { disableAdmin } from "../../../operations/people/disable_admin.ts"
import { enableAdmin } from "../../../operations/people/enable_admin.ts"
import { getAdmin } from "../../../operations/people/get_admin.ts"
import { removeAdmin } from "../../../operations/people/remove_admin.ts"
import { resendAdminInvitation } from "../../../operations/people/resend_admin_invitation.ts"
import { setAdminAccess } from "../../../operations/people/set_admin_access.ts"
import { setAdminRole } from "../../../operations/people/set_admin_role.ts"
import { transferOwnership } from "../../../operations/people/transfer_ownership.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import * as Forms from "../kit/Forms.ts"
import * as Html from "../kit/Html.ts"
import * as SentForm from "../kit/SentForm.ts"
import * as Visit from "../kit/Visit.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as Granting from "./AccessFields.ts"
import * as Admin from "./AdminPage.ts"
import * as InvitationShown from "./InvitationShown.ts"
import * as Refusals from "./PeopleRefusals.ts"
import * as Words from "./PeopleWords.ts"

/**
 * Where a change leads to: back to the admin, or to the list where they are gone or the caller is no owner any more.
 */
const doneAt = (base: string, id: string, act: Admin.Act): string =>
  act === "remove"
    ? `${base}${Words.path}?done=removed`
    : act === "ownership"
    ? `${base}${Words.path}?done=owner`
    : `${base}${Admin.pathOf(id)}?done=${act}`

/** The changes that ask for the console password: they give rights, or remove them for good. */
const confirmed: ReadonlyArray<Admin.Act> = ["access", "enable", "remove", "role"]

const password = (form: SentForm.Form) => ({ current_password: Redacted.value(form.secret("password")) })

const checked = Effect.fnUntraced(function*(act: Admin.Act, view: Visit.View, form: SentForm.Form) {
  // The link of an invitation, which the page shows where no mail brings it, opens what the invited admin may do.
  const showsLink = act === "resend-invitation" && !(yield* Outbox).available
  if (showsLink || confirmed.includes(act)) return yield* Refusals.checkPassword(view, form)
  // The operation checks the password itself.
  if (act === "ownership") return yield* StepUp.demand(view)
})

type Response = HttpServerResponse.HttpServerResponse

const answered = <E, R>(
  act: Admin.Act,
  run: (id: string, form: SentForm.Form, view: Visit.View) => Effect.Effect<Response, E, R>
) =>
  Visit.route("POST", Admin.actPath(":admin_id", act), (visit) => {
    const id = visit.params["admin_id"] ?? ""
    return Forms.submitted(visit, Admin.pathOf(id), () => Admin.tokenOf(id, act), (form, view) =>
      Effect.gen(function*() {
        if (!isUuid(id)) {
          return yield* new ResourceMissing({ param: "admin_id" })
        }
        const draft = act === "access" ? { draft: Granting.read(form) } : {}
        if (form.text("decision") !== "do") {
          return yield* Admin.show(view, id, { ...Refusals.searched, act, ...draft })
        }
        return yield* checked(act, view, form).pipe(
          Effect.andThen(run(id, form, view)),
          Refusals.again((refusal) => Admin.show(view, id, { ...refusal, act, ...draft }))
        )
      }), SentForm.limits.access)
  })

const change = <A, E, R>(act: Admin.Act, run: (id: string, form: SentForm.Form) => Effect.Effect<A, E, R>) =>
  answered(
    act,
    (id, form, { visit }) => Effect.map(run(id, form), () => Html.redirect(doneAt(visit.base, id, act)))
  )

export const routes = [
  Visit.route(
    "GET",
    Admin.pathOf(":admin_id"),
    (visit) => Visit.asAdmin(visit, Admin.pathOf(visit.params["admin_id"] ?? ""), Admin.get)
  ),
  answered("resend-invitation", (id, _, view) =>
    InvitationShown.shownOr(
      view,
      resendAdminInvitation.call({ admin_id: id }),
      () => doneAt(view.visit.base, id, "resend-invitation")
    )),
  change("role", (id, form) => {
    const role = Granting.roleOf(form)
    return role === undefined
      ? Effect.fail(new ParameterInvalid({ param: "role", message: "role: is required." }))
      : setAdminRole.call({ admin_id: id, role, ...password(form) })
  }),
  change("access", (id, form) =>
    Effect.gen(function*() {
      const { accounts, archive, departments } = Granting.read(form)
      const { role } = yield* getAdmin.call({ admin_id: id })
      return yield* setAdminAccess.call({
        admin_id: id,
        account_ids: accounts,
        department_ids: departments,
        ...(role === "admin" ? { archive } : {}),
        ...password(form)
      })
    })),
  change("enable", (id) => enableAdmin.call({ admin_id: id })),
  change("disable", (id) => disableAdmin.call({ admin_id: id })),
  change("remove", (id) => removeAdmin.call({ admin_id: id })),
  change("ownership", (id, form) => transferOwnership.call({ admin_id: id, ...password(form) }))
] as const
