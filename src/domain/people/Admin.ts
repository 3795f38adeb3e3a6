/** The stored facts of an admin, and those that the API shows. */
import { Schema } from "effect"
import { AccountId, DepartmentId } from "../accounts/Account.ts"
import { Count, described, Kind, OptionalTimestamp, Text, Uuid } from "../JsonShapes.ts"
import { maxEmailLength, maxGrantedAccounts, maxGrantedDepartments } from "../Limits.ts"
import { type Caller, canAccessEveryAccount, readsArchive, Role, superadmins } from "./Access.ts"

export const AdminStatus = Schema.Literals(["active", "invited", "disabled"])
export type AdminStatus = typeof AdminStatus.Type

export const AdminId = Uuid

/** The admin that an operation is about, as a member of its path. */
export const TargetAdmin = AdminId.annotateKey({ description: "From list_admins." })

/** The roles that are given: the owner's is transferred instead. */
export const GivenRole = Schema.Literals(["superadmin", "admin", "billing", "archive"])
export type GivenRole = typeof GivenRole.Type

/** An address that mail can be sent to as it stands, without quotes; spaces around it are left out. */
export const Email = Schema.String.check(
  Schema.isMaxCodePoints(maxEmailLength),
  Schema.isPattern(/^ *[0-9A-Za-z.!#$%&'*+/=?^_`{|}~-]+@[0-9A-Za-z][0-9A-Za-z.-]* *$/u, {
    expected: "an email address"
  })
).pipe(Schema.decodeTo(Text(maxEmailLength)))

const ids = (kind: Schema.Codec<string>, most: number) => Schema.Array(kind).check(Schema.isMaxLength(most))

/** The accounts and departments of an access as they are sent. */
export const GrantedAccounts = ids(AccountId, maxGrantedAccounts)
export const GrantedDepartments = ids(DepartmentId, maxGrantedDepartments)

export const Admin = Schema.Struct({
  object: Kind("admin"),
  id: described(AdminId, "The admin's id: a UUID."),
  email: described(Schema.String, "The address that the admin signs in with."),
  name: described(Schema.NullOr(Schema.String), "The admin's name."),
  role: described(Role, "What the admin may do."),
  status: described(AdminStatus, "`invited` until a password is set, `active`, or `disabled`."),
  access: described(
    Schema.Struct({
      scope_type: described(
        Schema.Literals(["all", "granted"]),
        "`all` for roles that can access every account; `granted` for `admin` and `archive`, who can access what is granted."
      ),
      account_ids: described(
        Schema.Array(AccountId),
        "The accounts granted one by one, of those that the caller can access: UUIDs. They are kept when the role changes."
      ),
      department_ids: described(
        Schema.Array(DepartmentId),
        "The departments granted, of those that the caller can access: UUIDs. They are kept when the role changes."
      ),
      archive: described(Schema.Boolean, "Whether the admin reads the archive of the accessible accounts.")
    }),
    "Which accounts the admin can access."
  ),
  mine: described(Schema.Boolean, "Whether the credential acts as this admin."),
  invitation_expires_at: described(
    OptionalTimestamp,
    "When the link of the invitation ends or has ended; null once the admin has joined."
  ),
  joined_at: described(OptionalTimestamp, "When the admin first had a password; null until then."),
  last_active_at: described(OptionalTimestamp, "When the admin, or a credential of theirs, last did something."),
  disabled_at: described(OptionalTimestamp, "When the admin was disabled; null otherwise."),
  credentials: described(
    Schema.NullOr(Count),
    "How many API keys and connections the admin has that have not ended; null for readers other than owner and superadmins."
  )
}).annotate({ identifier: "admin" })
export type Admin = typeof Admin.Type

export const RemovedAdmin = Schema.Struct({
  object: Kind("admin"),
  id: described(AdminId, "The id of the admin who was removed: a UUID."),
  deleted: described(Schema.Literal(true), "Always true."),
  credentials_revoked: described(Count, "How many of the admin's API keys and connections ended with it.")
}).annotate({ identifier: "admin_removed" })

export interface AdminFacts {
  readonly id: string
  readonly email: string
  readonly name: string | null
  readonly role: Role
  readonly archive_access: boolean
  readonly has_password: boolean
  readonly created_at: Date
  readonly joined_at: Date | null
  readonly disabled_at: Date | null
}

/** Further facts that are shown of an admin: the grants that the caller can access, and what is counted for it. */
export interface ShownFacts extends Omit<AdminFacts, "created_at" | "has_password"> {
  readonly account_ids: ReadonlyArray<AccountId>
  readonly department_ids: ReadonlyArray<DepartmentId>
  readonly invitation_expires_at: Date | null
  readonly last_active_at: Date | null
  readonly credentials: number
}

/** Disabled, or invited as long as no password was ever set. */
export const adminStatus = (
  { disabled_at, joined_at }: Pick<AdminFacts, "disabled_at" | "joined_at">
): AdminStatus => disabled_at !== null ? "disabled" : joined_at === null ? "invited" : "active"

/** The admin as the API shows it to the caller. */
export const admin = (facts: ShownFacts, caller: Pick<Caller["Service"], "adminId" | "role">): Admin => ({
  object: "admin",
  id: facts.id,
  email: facts.email,
  name: facts.name,
  role: facts.role,
  status: adminStatus(facts),
  access: {
    scope_type: canAccessEveryAccount(facts.role) ? "all" : "granted",
    account_ids: facts.account_ids,
    department_ids: facts.department_ids,
    archive: readsArchive(facts.role, facts.archive_access)
  },
  mine: facts.id === caller.adminId,
  invitation_expires_at: facts.joined_at === null ? facts.invitation_expires_at : null,
  joined_at: facts.joined_at,
  last_active_at: facts.last_active_at,
  disabled_at: facts.disabled_at,
  credentials: superadmins.includes(caller.role) ? facts.credentials : null
})
