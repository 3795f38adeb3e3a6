/** What an operator reads and changes of organizations, admins and keys that are there. */
import * as Admins from "../administration/Admins.ts"
import * as ApiKeys from "../administration/ApiKeys.ts"
import * as Organizations from "../administration/Organizations.ts"
import { commandOf } from "./Declared.ts"

export const listOrganizations = commandOf(Organizations.listOrganizations)
export const showOrganization = commandOf(Organizations.showOrganization)
export const setOrganization = commandOf(Organizations.setOrganization)
export const listAdmins = commandOf(Admins.listAdmins)
export const showAdmin = commandOf(Admins.showAdmin)
export const setAdmin = commandOf(Admins.setAdmin)
export const listKeys = commandOf(ApiKeys.listKeys)
export const showKey = commandOf(ApiKeys.showKey)

/** The commands of this file. */
export const records = [
  listOrganizations,
  showOrganization,
  setOrganization,
  listAdmins,
  showAdmin,
  setAdmin,
  listKeys,
  showKey
] as const
