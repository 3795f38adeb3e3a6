/** Names for what the pages show of people. */
import { isUuid } from "../../../domain/JsonShapes.ts"
import { maxDepartmentNameLength } from "../../../domain/Limits.ts"
import type { Role } from "../../../domain/people/Access.ts"
import type { Admin, AdminStatus } from "../../../domain/people/Admin.ts"
import * as Statuses from "../accounts/Statuses.ts"
import { type Form, Html, html, Lists } from "../kit/index.ts"

export const path = "/console/people"
export const departmentsPath = `${path}/departments`

export const roles: Readonly<Record<Role, readonly [name: string, hint: string]>> = {
  owner: ["Owner", "Administers everything, and alone makes superadmins and gives the ownership away."],
  superadmin: ["Superadmin", "Administers everything but superadmins, and can access every account."],
  admin: ["Admin", "Protects the accounts that are granted, and reads their archive where you allow it."],
  billing: ["Billing", "Sees the subscription and the bills, and the accounts without their devices."],
  archive: ["Archive", "Reads the archive of the accounts that are granted, and protects none."]
}

export const statuses: Readonly<Record<AdminStatus, string>> = {
  active: "Active",
  invited: "Invited",
  disabled: "Disabled"
}

const tones = { active: "good", invited: "note", disabled: "off" } as const

export const badge = ({ status }: Admin): Html.Html => Statuses.mark(tones[status], statuses[status])

const counted = (count: number, noun: string): string =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`

/** The admin's access, in a few words. */
export const accessOf = ({ access: { account_ids, archive, department_ids, scope_type }, role }: Admin): string => {
  const reads = role === "admin" && archive ? ", with the archive" : ""
  if (scope_type === "all") return "Every account"
  const parts = [
    ...(department_ids.length === 0 ? [] : [counted(department_ids.length, "department")]),
    ...(account_ids.length === 0 ? [] : [counted(account_ids.length, "account")])
  ]
  return parts.length === 0 ? "No account yet" : `${parts.join(" and ")}${reads}`
}

/** The admin's name or, without one, their address. */
export const called = ({ email, name }: Admin): Html.Html => Html.named(name ?? email)

/** The links to the two lists. */
export const tabs = (base: string, at: "admins" | "departments"): Html.Html =>
  html`<nav aria-label="People" class="tabs"><ul>
  <li><a href="${base}${path}"${at === "admins" ? html` aria-current="page"` : undefined}>Admins</a></li>
  <li><a href="${base}${departmentsPath}"${
    at === "departments" ? html` aria-current="page"` : undefined
  }>Departments</a></li>
</ul></nav>`

/** The name of a department, with the button that sends it. */
export const departmentName = (
  { faults }: Form.Outcome,
  value: string | undefined,
  label: string,
  kind: Html.Html | undefined,
  verb: string
): Html.Html =>
  html`<label for="name" class="name">${label}</label>
    ${Html.fault(faults, "name")}
    <div class="row">
      <input type="text" id="name" name="name" required maxlength="${maxDepartmentNameLength}" value="${
    value ?? ""
  }" autocomplete="off"${Html.described(faults, "name", false)}>
      <button${kind === undefined ? undefined : html` ${kind}`}>${verb}</button>
    </div>`

/** The id that a page of a list comes after; what is no id is left out. */
export const after = (query: URLSearchParams): string | undefined => {
  const id = query.get("after")
  return id !== null && isUuid(id) ? id : undefined
}

/** The links of a list that goes on. */
export const pages = (
  address: string,
  query: Readonly<Record<string, string>>,
  { after, next }: { readonly after: string | undefined; readonly next: string | undefined }
): Html.Html | undefined => {
  return Lists.paging({
    label: "Pages",
    first: after === undefined ? undefined : Lists.address(address, query),
    next: next === undefined ? undefined : Lists.address(address, { ...query, after: next })
  })
}
