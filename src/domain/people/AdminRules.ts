/** Rules for who may act on whom, and what access a role can have: pure, over facts that are read under a lock. */
import {
  AccessNotApplicable,
  AdminProtected,
  NotDisabled,
  NotEnabled,
  NotInvited,
  NotSuperadmin,
  OwnerRequired
} from "../Failure.ts"
import { canAccessEveryAccount, readsArchive, type Role, superadmins } from "./Access.ts"
import type { AdminFacts } from "./Admin.ts"

/** The facts of an admin that the rules need. */
export type Facts = Pick<AdminFacts, "disabled_at" | "id" | "joined_at" | "role">

/** The access of an admin, as it is sent; what is left out stays as it is. */
export interface WantedAccess {
  readonly account_ids?: ReadonlyArray<string>
  readonly department_ids?: ReadonlyArray<string>
  readonly archive?: boolean
}

/** True if the admin administers the organization still: it may have been demoted since the request came in. */
export const administers = (acting: Facts): boolean => acting.disabled_at === null && superadmins.includes(acting.role)

/** Only the owner makes superadmins. */
export const givesRole = (acting: Facts, role: Role): OwnerRequired | null =>
  role === "superadmin" && acting.role !== "owner"
    ? new OwnerRequired({ message: "Only the owner may make somebody a superadmin." })
    : null

/** True if nobody can access more by the change of a role: a superadmin can access and do everything. */
export const narrows = (from: Role, to: Role): boolean =>
  from === to || from === "superadmin" && !canAccessEveryAccount(to)

/**
 * True if a role with the grant gives so much that the console password is asked for: every account, or the archive.
 */
export const givesMuch = (role: Role, archive: boolean): boolean =>
  canAccessEveryAccount(role) || readsArchive(role, archive)

/** True if an admin comes to read the archive by another role, with the grant that they have kept. */
export const opensArchive = (
  { archive_access, role }: Pick<AdminFacts, "archive_access" | "role">,
  to: Role
): boolean => readsArchive(to, archive_access) && !readsArchive(role, archive_access)

/** Only the owner acts on superadmins. */
export const actsOn = (acting: Facts, target: Facts): OwnerRequired | null =>
  target.role === "superadmin" && acting.role !== "owner"
    ? new OwnerRequired({ message: "Only the owner may do this to a superadmin." })
    : null

/** The owner cannot be changed by anyone. */
export const stays = (target: Facts): AdminProtected | null =>
  target.role === "owner"
    ? new AdminProtected({ message: "The owner stays: the ownership is transferred." })
    : null

/** Nobody can reduce the owner's rights or their own, so that an organization is never locked out. */
export const lessens = (acting: Facts, target: Facts): AdminProtected | OwnerRequired | null => {
  const owner = stays(target)
  if (owner !== null) return owner
  if (target.id === acting.id) return new AdminProtected({ message: "Nobody may do this to themselves." })
  return actsOn(acting, target)
}

export const disables = (acting: Facts, target: Facts): AdminProtected | NotEnabled | OwnerRequired | null =>
  lessens(acting, target) ?? (target.disabled_at === null ? null : new NotEnabled({}))

export const enables = (acting: Facts, target: Facts): NotDisabled | OwnerRequired | null =>
  actsOn(acting, target) ?? (target.disabled_at === null ? new NotDisabled({}) : null)

/** An admin with a password needs no invitation, and a disabled one may not use it. */
export const waits = (target: Facts): NotInvited | null =>
  target.joined_at === null && target.disabled_at === null ? null : new NotInvited({})

export const reinvites = (acting: Facts, target: Facts): NotInvited | OwnerRequired | null =>
  actsOn(acting, target) ?? waits(target)

/** The ownership goes to an active superadmin. */
export const canOwn = (target: Facts): NotSuperadmin | null =>
  target.role === "superadmin" && target.joined_at !== null && target.disabled_at === null
    ? null
    : new NotSuperadmin({})

/** Only the owner can transfer the ownership. */
export const transfers = (acting: Facts, target: Facts): NotSuperadmin | OwnerRequired | null =>
  acting.disabled_at !== null || acting.role !== "owner" ? new OwnerRequired({}) : canOwn(target)

/**
 * Accounts are granted to roles whose access is granted; the archive is granted to admins, and archive always has
 * it. The refusal names the input at fault, where the caller has sent one.
 */
export const canHave = (
  role: Role,
  wanted: WantedAccess,
  input: { readonly role?: string; readonly archive?: string } = {}
): AccessNotApplicable | null => {
  if (canAccessEveryAccount(role)) {
    return new AccessNotApplicable({
      ...(input.role === undefined ? {} : { param: input.role }),
      message: "This role can access every account: nothing is granted to it."
    })
  }
  return role === "archive" && wanted.archive === false
    ? new AccessNotApplicable({
      ...(input.archive === undefined ? {} : { param: input.archive }),
      message: "The role archive always reads the archive."
    })
    : null
}
