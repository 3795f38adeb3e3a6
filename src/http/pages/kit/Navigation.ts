/** The navigation of the console: the links above every page of an admin who is signed in. */
import { archiveReaders, everyone, type Role, superadmins } from "../../../domain/people/Access.ts"

/** One link; a page below its path belongs to it. */
export interface Entry {
  readonly path: "/console" | `/console/${string}`
  readonly text: string
  /** The roles that see the link; the operations themselves refuse any other role. */
  readonly roles: ReadonlyArray<Role>
  /** True if admins see it who may read the archive, and no other. */
  readonly archive?: true
}

/** The page after a sign-in, by default. */
export const home = "/console"

const entries: ReadonlyArray<Entry> = [
  { path: home, text: "Overview", roles: everyone },
  { path: "/console/accounts", text: "Accounts", roles: everyone },
  { path: "/console/archive", text: "Archive", roles: archiveReaders, archive: true },
  { path: "/console/journal", text: "Journal", roles: everyone },
  { path: "/console/developer", text: "Developer", roles: everyone },
  { path: "/console/secrets", text: "Secrets", roles: superadmins },
  { path: "/console/people", text: "People", roles: superadmins },
  { path: "/console/organization", text: "Organization", roles: everyone },
  { path: "/console/security", text: "Password and sessions", roles: everyone }
]

/** The links of an admin, in their order. */
export const shownTo = (
  { readsArchive, role }: { readonly role: Role; readonly readsArchive: boolean }
): ReadonlyArray<Entry> =>
  entries.filter(({ archive, roles }) => roles.includes(role) && (archive !== true || readsArchive))

/** Pages whose address is not below the link that they belong to. */
const moved: ReadonlyArray<{ readonly page: RegExp; readonly to: Entry["path"] }> = [
  { page: /^\/console\/accounts\/[^/]+\/secrets$/, to: "/console/secrets" },
  {
    page: /^\/console\/archive-(?:cleanups|exports|holds|key|redactions|rules|verification)(?:\/|$)/,
    to: "/console/organization"
  },
  { page: /^\/console\/(?:logins\/|reviews$)/, to: "/console/accounts" }
]

/** True if the page at the path belongs to the link; every page is below the first one. */
export const isAt = (path: string, entry: Entry): boolean => {
  const at = moved.find(({ page }) => page.test(path))?.to ?? path
  return at === entry.path || entry.path !== home && at.startsWith(`${entry.path}/`)
}
