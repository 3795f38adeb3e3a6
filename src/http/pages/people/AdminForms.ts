/** The forms of one admin's page: each does one operation. */
import { Effect, Redacted } from "effect"
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
import * as Forms from "../kit/Forms.ts"
import * as Html from "../kit/Html.ts"
import * as SentForm from "../kit/SentForm.ts"
import * as Visit from "../kit/Visit.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as Granting from "./AccessFields.ts"
import * as Admin from "./AdminPage.ts"
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

const checked = (act: Admin.Act, view: Visit.View, form: SentForm.Form) =>
  confirmed.includes(act)
    ? Refusals.checkPassword(view, form)
    // The operation checks the password itself.
    : act === "ownership"
    ? StepUp.demand(view)
    : Effect.void

const change = <A, E, R>(
  act: Admin.Act,
  run: (id: string, form: SentForm.Form) => Effect.Effect<A, E, R>
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
          Effect.andThen(run(id, form)),
          Effect.map(() => Html.redirect(doneAt(visit.base, id, act))),
          Refusals.again((refusal) => Admin.show(view, id, { ...refusal, act, ...draft }))
        )
      }), SentForm.limits.access)
  })

export const routes = [
  Visit.route(
    "GET",
    Admin.pathOf(":admin_id"),
    (visit) => Visit.asAdmin(visit, Admin.pathOf(visit.params["admin_id"] ?? ""), Admin.get)
  ),
  change("resend-invitation", (id) => resendAdminInvitation.call({ admin_id: id })),
  change("role", (id, form) => {
    const role = Granting.roleOf(form)
    return role === undefined
      ? Effect.fail(new ParameterInvalid({ param: "role", message: "role: is required." }))
      : setAdminRole.call({ admin_id: id, role })
  }),
  change("access", (id, form) =>
    Effect.gen(function*() {
      const { accounts, archive, departments } = Granting.read(form)
      const { role } = yield* getAdmin.call({ admin_id: id })
      return yield* setAdminAccess.call({
        admin_id: id,
        account_ids: accounts,
        department_ids: departments,
        ...(role === "admin" ? { archive } : {})
      })
    })),
  change("enable", (id) => enableAdmin.call({ admin_id: id })),
  change("disable", (id) => disableAdmin.call({ admin_id: id })),
  change("remove", (id) => removeAdmin.call({ admin_id: id })),
  change(
    "ownership",
    (id, form) => transferOwnership.call({ admin_id: id, current_password: Redacted.value(form.secret("password")) })
  )
] as const
