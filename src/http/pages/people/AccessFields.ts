/** The choice of a role, and of the access of roles that can access only some accounts. */
import { isUuid } from "../../../domain/JsonShapes.ts"
import type { Role } from "../../../domain/people/Access.ts"
import type { GivenRole } from "../../../domain/people/Admin.ts"
import type { Choices } from "../../../ports/oauth/OAuthPorts.ts"
import { Fields, Html, html, type SentForm } from "../kit/index.ts"
import * as AccountChoice from "../oauth/AccountChoice.ts"
import { roles } from "./PeopleWords.ts"

/** The content of a form about access. */
export interface AccessDraft {
  readonly accounts: ReadonlyArray<string>
  readonly departments: ReadonlyArray<string>
  readonly archive: boolean
  readonly findAccount: string
  readonly findDepartment: string
}

export const empty: AccessDraft = { accounts: [], departments: [], archive: false, findAccount: "", findDepartment: "" }

export const read = (form: SentForm.Form): AccessDraft => {
  const { accounts, departments, findAccount, findDepartment } = AccountChoice.read(form)
  return {
    accounts: accounts.filter(isUuid),
    departments: departments.filter(isUuid),
    archive: form.text("archive") === "yes",
    findAccount,
    findDepartment
  }
}

/** The searches of the lists. */
export const wanted = (draft: AccessDraft) => AccountChoice.wanted({ ...draft, by: "accounts" })

const given = ["admin", "archive", "billing", "superadmin"] as const satisfies ReadonlyArray<GivenRole>

/** The role that a form names. */
export const roleOf = (form: SentForm.Form): GivenRole | undefined => given.find((role) => role === form.text("role"))

/** The roles that the admin may give; only the owner makes superadmins. */
export const roleField = (by: Role, chosen: Role | undefined, faults: Html.Faults): Html.Html =>
  html`
<fieldset id="role">
  <legend>Role</legend>
  ${Html.fault(faults, "role")}
  ${
    given.filter((role) => role !== "superadmin" || by === "owner").map((role) =>
      Fields.choice({
        type: "radio",
        id: `role-${role}`,
        name: "role",
        value: role,
        label: roles[role][0],
        hint: roles[role][1],
        checked: role === chosen,
        required: true
      })
    )
  }
</fieldset>`

interface AccessForm {
  readonly draft: AccessDraft
  readonly faults: Html.Faults
  /** The address that the form is sent to, for the searches in it. */
  readonly action: string
  /** True if the archive may be granted: to admins, for the role archive always has it. */
  readonly archive: boolean
  /** The id of what follows in the form. */
  readonly next: string
}

/** Departments, accounts and the archive to tick. */
export const field = (
  { accounts, departments }: Choices,
  { action, archive, draft, faults, next }: AccessForm
): Html.Html =>
  html`
<div class="granting">
  <fieldset id="departments">
    <legend>Departments</legend>
    <p class="hint">Whichever accounts are in them at the time.</p>
    ${Html.fault(faults, "departments")}
    ${
    departments.total === 0
      ? html`<p class="empty">There are no departments yet.</p>`
      : AccountChoice.list({
        kind: "department",
        items: departments,
        ticked: draft.departments,
        find: draft.findDepartment,
        action,
        anchor: "departments",
        next: "accounts"
      })
  }
  </fieldset>
  <fieldset id="accounts">
    <legend>Accounts one by one</legend>
    <p class="hint">They stay granted wherever they are filed.</p>
    ${Html.fault(faults, "accounts")}
    ${
    accounts.total === 0
      ? html`<p class="empty">There are no accounts yet.</p>`
      : AccountChoice.list({
        kind: "account",
        items: {
          ...accounts,
          ticked: accounts.ticked.map(AccountChoice.accountItem),
          found: accounts.found.map(AccountChoice.accountItem)
        },
        ticked: draft.accounts,
        find: draft.findAccount,
        action,
        anchor: "accounts",
        next
      })
  }
  </fieldset>
  ${
    archive
      ? html`<div class="choice archive">
    <input type="checkbox" id="archive" name="archive" value="yes"${draft.archive ? " checked" : ""}>
    <label for="archive"><span class="name">Reads the archive</span> <span class="hint">The messages of these accounts. The role Archive always does.</span></label>
  </div>`
      : undefined
  }
</div>`
