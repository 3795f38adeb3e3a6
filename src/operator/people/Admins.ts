/** An operator's actions on admins. */
import { Effect, Schema } from "effect"
import * as Changes from "../../changes/SharedChanges.ts"
import { Timestamp } from "../../domain/JsonShapes.ts"
import { secondFactorReset } from "../../domain/mail/AdminMails.ts"
import { type OrganizationId, Role } from "../../domain/people/Access.ts"
import { type AdminFacts, AdminStatus, adminStatus } from "../../domain/people/Admin.ts"
import { canOwn, stays } from "../../domain/people/AdminRules.ts"
import { Db } from "../../ports/Db.ts"
import { Admins } from "../../ports/people/Admins.ts"
import { ManagedAdmins } from "../../ports/people/ManagedAdmins.ts"
import { ConsolePasswords } from "../../ports/signin/ConsolePasswords.ts"
import { FactorRecords } from "../../ports/signin/FactorRecords.ts"
import { change, entry, existing, journaled, now } from "../Journaled.ts"
import { adminRef, Name } from "../RequestFields.ts"
import { refuse, useCase } from "../UseCase.ts"

const Admin = Schema.Struct({
  id: Schema.String,
  email: Schema.String,
  name: Schema.NullOr(Schema.String),
  role: Role,
  state: AdminStatus,
  archive_access: Schema.Boolean,
  has_password: Schema.Boolean,
  created_at: Timestamp,
  disabled_at: Schema.NullOr(Timestamp)
})

export const AdminId = Schema.Struct({ organization: Schema.String, email: Schema.String, admin_id: Schema.String })

const shown = ({ joined_at, ...admin }: AdminFacts): typeof Admin.Type => ({
  ...admin,
  state: adminStatus({ joined_at, disabled_at: admin.disabled_at })
})

/** The admin of an address within the organization's transaction, locked, or a refusal. */
export const locked = Effect.fnUntraced(function*(organizationId: OrganizationId, email: string) {
  const found = yield* (yield* Admins).findByEmail(organizationId, email, true)
  return found ?? (yield* refuse(`${organizationId} has no admin ${email}.`))
})

/** The admin of an address, or a refusal. */
const find = Effect.fnUntraced(function*(organizationId: OrganizationId, email: string) {
  const found = yield* (yield* Db).read(organizationId, (yield* Admins).findByEmail(organizationId, email, false))
  return found ?? (yield* refuse(`${organizationId} has no admin ${email}.`))
})

export const createAdmin = change(
  "admins_create",
  Schema.Struct({ ...adminRef, role: Role, name: Schema.NullOr(Schema.String), archive_access: Schema.Boolean }),
  AdminId,
  ({ archive_access, email, name, organization, role }, { at, id }) =>
    Effect.gen(function*() {
      const admins = yield* Admins
      const admin_id = yield* admins.create(id, { email, name, role, archiveAccess: archive_access }, at)
      if (admin_id === null) {
        const taken = (yield* admins.findByEmail(id, email, false)) === null ? "owner" : `admin ${email}`
        return yield* refuse(`${organization} has an ${taken} already.`)
      }
      return [{ organization, email, admin_id }, entry("admin.created", admin_id, { email, role })]
    })
)

export const setPassword = useCase(
  "admins_set_password",
  Schema.Struct({ ...adminRef, password: Schema.RedactedFromValue(Schema.String) }),
  Schema.Struct({
    ...AdminId.fields,
    ended: Schema.Struct({ api_keys: Schema.Int, connections: Schema.Int, sessions: Schema.Int })
  }),
  ({ email, organization, password }) =>
    Effect.gen(function*() {
      const passwords = yield* ConsolePasswords
      const id = yield* existing(organization)
      const hash = yield* passwords.hash({ organizationId: id, email }, password)
      const { id: adminId } = yield* find(id, email)
      const at = yield* now
      return yield* journaled(
        id,
        Effect.gen(function*() {
          const ended = yield* passwords.set({ organizationId: id, adminId }, hash, at)
          return [
            { organization, email, admin_id: adminId, ended },
            entry("admin.password_set", adminId, { ...ended })
          ]
        })
      )
    })
)

export const resetFactor = useCase(
  "admins_reset_factor",
  Schema.Struct(adminRef),
  Schema.Struct({ ...AdminId.fields, factors: Schema.Int, sessions: Schema.Int }),
  ({ email, organization }) =>
    Effect.gen(function*() {
      const records = yield* FactorRecords
      const id = yield* existing(organization)
      const { id: adminId } = yield* find(id, email)
      return yield* journaled(
        id,
        Effect.gen(function*() {
          const ended = yield* records.reset({ organizationId: id, adminId })
          const answer = { organization, email, admin_id: adminId, ...ended }
          return ended.factors === 0
            ? [answer, null]
            : [answer, entry("second_factor.reset", adminId, { ...ended }), [secondFactorReset({ adminId })]]
        })
      )
    })
)

const setDisabled = <const Name extends string>(name: Name, disabled: boolean) =>
  change(name, Schema.Struct(adminRef), AdminId, ({ email, organization }, { at, id }) =>
    Effect.gen(function*() {
      const admins = yield* Admins
      const admin = yield* locked(id, email)
      const answer = { organization, email, admin_id: admin.id }
      const refused = disabled ? stays(admin) : null
      if (refused !== null) return yield* refuse(refused.message)
      if ((admin.disabled_at !== null) === disabled) return [answer, null]
      if (!disabled) {
        yield* admins.enable(id, admin.id)
        return [answer, entry("admin.enabled", admin.id)]
      }
      const sessions = yield* admins.disable(id, admin.id, at)
      return [answer, entry("admin.disabled", admin.id, { sessions })]
    }))

export const disableAdmin = setDisabled("admins_disable", true)
export const enableAdmin = setDisabled("admins_enable", false)

export const listAdmins = useCase(
  "admins_list",
  Schema.Struct({ organization: Schema.String }),
  Schema.Struct({ admins: Schema.Array(Admin) }),
  ({ organization }) =>
    Effect.gen(function*() {
      const id = yield* existing(organization)
      const found = yield* (yield* Db).read(id, (yield* Admins).list(id))
      return { admins: found.map(shown) }
    })
)

export const showAdmin = useCase(
  "admins_show",
  Schema.Struct({ organization: Schema.String, email: Schema.String }),
  Admin,
  ({ email, organization }) =>
    Effect.gen(function*() {
      return shown(yield* find(yield* existing(organization), email))
    })
)

export const setAdmin = useCase(
  "admins_set",
  Schema.Struct({
    organization: Schema.String,
    email: Schema.String,
    /** Null leaves it as it is. */
    name: Schema.NullOr(Name),
    role: Schema.NullOr(Role)
  }),
  Admin,
  ({ email, name, organization, role }) =>
    Effect.gen(function*() {
      const admins = yield* Admins
      const id = yield* existing(organization)
      if (name === null && role === null) return yield* refuse("There is nothing to change: say what, by its flag.")
      yield* journaled(
        id,
        Effect.gen(function*() {
          const admin = yield* locked(id, email)
          if (role !== null && role !== admin.role && (admin.role === "owner" || role === "owner")) {
            return yield* refuse("An organization has one owner, whose role stays: it is not given or taken here.")
          }
          const changes = {
            ...(name === null || name === admin.name ? {} : { name }),
            ...(role === null || role === admin.role ? {} : { role })
          }
          if (Object.keys(changes).length === 0) return [null, null]
          yield* admins.update(id, admin.id, changes)
          return [
            null,
            "role" in changes
              ? entry("admin.role_set", admin.id, { email, ...changes, from: admin.role })
              : entry("admin.set", admin.id, { email, ...changes })
          ]
        })
      )
      return shown(yield* find(id, email))
    })
)

export const transferOwnership = useCase(
  "organizations_transfer_ownership",
  Schema.Struct(adminRef),
  Schema.Struct({ ...AdminId.fields, from: Schema.NullOr(Schema.String) }),
  ({ email, organization }) =>
    Effect.gen(function*() {
      const admins = yield* Admins
      const managed = yield* ManagedAdmins
      const id = yield* existing(organization)
      const { id: nextId } = yield* find(id, email)
      return yield* journaled(
        id,
        Effect.gen(function*() {
          const before = (yield* admins.list(id)).find(({ role }) => role === "owner")
          const held = yield* managed.lock(id, before === undefined ? [nextId] : [before.id, nextId])
          const owner = held.find(({ role }) => role === "owner")
          const next = held.find((one) => one.id === nextId)
          if (next === undefined || owner?.id !== before?.id) {
            return yield* refuse("Somebody has changed this at the same time: try again.")
          }
          const refused = canOwn(next)
          if (refused !== null) return yield* refuse(`${email}: ${refused.message}`)
          const { details, mails } = yield* Changes.transferOwnership(id, owner ?? null, next)
          return [
            { organization, email: next.email, admin_id: next.id, from: owner?.email ?? null },
            entry("ownership.transferred", next.id, details),
            mails
          ]
        })
      )
    })
)
