/** What an operator reads and changes of organizations, admins and keys that are there. */
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Role, Scope } from "../domain/Access.ts"
import { type OrganizationFacts, OrganizationStatus, planHasArchive, Tier } from "../domain/Organization.ts"
import { Timestamp } from "../domain/Wire.ts"
import * as Provisioning from "../layers/sql/Provisioning.ts"
import * as Tenant from "../layers/sql/Tenant.ts"
import { Organizations } from "../ports/Organizations.ts"
import { command, existing, journaled, refuse } from "./Declared.ts"

/** How long the name of an organization or a person may be. */
const maxName = 80

const OrganizationRecord = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  status: OrganizationStatus,
  /** Licensed by subscription, not by agreement. */
  managed: Schema.Boolean,
  simulated: Schema.Boolean,
  plan: Schema.NullOr(Tier),
  seats: Schema.Struct({ limit: Schema.Int, used: Schema.Int }),
  valid_until: Schema.NullOr(Timestamp),
  created_at: Timestamp
})

interface OrganizationRow extends Omit<typeof OrganizationRecord.Type, "seats"> {
  readonly seat_limit: number
  readonly seats_used: number
}

const organizationRecord = (
  { seat_limit, seats_used, ...row }: OrganizationRow
): typeof OrganizationRecord.Type => ({ ...row, seats: { limit: seat_limit, used: seats_used } })

const readOrganizations = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Tenant.directory(sql)(sql<OrganizationRow>`
    select id, name, status, managed, simulated, plan, seat_limit, seats_used, valid_until, created_at
    from organization order by created_at, id`)
  return rows.map(organizationRecord)
})

const AdminRecord = Schema.Struct({
  id: Schema.String,
  email: Schema.String,
  name: Schema.NullOr(Schema.String),
  role: Role,
  /** Invited: no password was ever set. */
  state: Schema.Literals(["active", "invited", "disabled"]),
  archive_access: Schema.Boolean,
  has_password: Schema.Boolean,
  created_at: Timestamp,
  disabled_at: Schema.NullOr(Timestamp)
})

interface AdminRow extends Omit<typeof AdminRecord.Type, "state"> {
  readonly joined_at: Date | null
}

const adminRecord = ({ joined_at, ...row }: AdminRow): typeof AdminRecord.Type => ({
  ...row,
  state: row.disabled_at !== null ? "disabled" : joined_at === null ? "invited" : "active"
})

/** The admins of an organization, its owner first, or the one of an address. */
const admins = Effect.fnUntraced(function*(id: string, email: string | null) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Tenant.transaction(sql, id, { access: "read" })(sql<AdminRow>`
    select id, email, name, role, archive_access, password_hash is not null as has_password, created_at, disabled_at,
      joined_at
    from admin where organization_id = ${id}
      ${email === null ? sql`` : sql`and lower(email collate "C") = ${email.toLowerCase()}`}
    order by role = 'owner' desc, created_at, email`)
  return rows.map(adminRecord)
})

const KeyRecord = Schema.Struct({
  key_id: Schema.String,
  label: Schema.String,
  admin: Schema.String,
  scopes: Schema.Array(Scope),
  /** Stopped: its admin is disabled, or has another password since. */
  state: Schema.Literals(["works", "revoked", "expired", "stopped"]),
  created_at: Timestamp,
  last_used_at: Schema.NullOr(Timestamp),
  expires_at: Schema.NullOr(Timestamp),
  revoked_at: Schema.NullOr(Timestamp)
})

interface KeyRow extends Omit<typeof KeyRecord.Type, "state"> {
  readonly stopped: boolean
}

const keyRecord = (now: number) => ({ stopped, ...row }: KeyRow): typeof KeyRecord.Type => ({
  ...row,
  state: row.revoked_at !== null
    ? "revoked"
    : row.expires_at !== null && row.expires_at.getTime() <= now
    ? "expired"
    : stopped
    ? "stopped"
    : "works"
})

/** The keys of an organization, the newest first, or the one of an id. */
const keys = Effect.fnUntraced(function*(id: string, keyId: string | null) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Tenant.transaction(sql, id, { access: "read" })(sql<KeyRow>`
    select k.id as key_id, k.label, a.email as admin, k.scopes, k.created_at, k.last_used_at, k.expires_at, k.revoked_at,
      a.disabled_at is not null or coalesce(a.password_changed_at > k.created_at, false) as stopped
    from api_key k join admin a on a.organization_id = k.organization_id and a.id = k.admin_id
    where k.organization_id = ${id} ${keyId === null ? sql`` : sql`and k.id::text = ${keyId.toLowerCase()}`}
    order by k.created_at desc, k.id desc`)
  return rows.map(keyRecord(yield* Clock.currentTimeMillis))
})

const Name = Schema.String.check(Schema.isNonEmpty(), Schema.isMaxCodePoints(maxName))

export const listOrganizations = command(
  "list_organizations",
  Schema.Struct({}),
  Schema.Struct({ organizations: Schema.Array(OrganizationRecord) }),
  () => Effect.map(readOrganizations, (organizations) => ({ organizations }))
)

const findOrganization = Effect.fnUntraced(function*(id: string) {
  const found = (yield* readOrganizations).find((each) => each.id === id)
  return found ?? (yield* refuse(`There is no organization ${id}.`))
})

export const showOrganization = command(
  "show_organization",
  Schema.Struct({ organization: Schema.String }),
  OrganizationRecord,
  ({ organization }) => findOrganization(organization)
)

/** Refuses what the organization cannot become. */
const refuseOrganizationChange = Effect.fnUntraced(function*(
  facts: OrganizationFacts,
  { ends, seats }: { readonly ends: boolean; readonly seats: number | null }
) {
  const taken = facts.seats_used + facts.seats_reserved
  if (seats !== null && seats < taken) {
    return yield* refuse(`${facts.id} has ${taken} seats in use or kept for sign-up links: it cannot have ${seats}.`)
  }
  if (ends && facts.managed) {
    return yield* refuse(`${facts.id} is licensed by subscription: it has no end by agreement.`)
  }
})

export const setOrganization = command(
  "set_organization",
  Schema.Struct({
    organization: Schema.String,
    /** Null leaves it as it is, here and below. */
    name: Schema.NullOr(Name),
    plan: Schema.NullOr(Tier),
    seats: Schema.NullOr(Schema.Natural),
    valid_until: Schema.NullOr(Timestamp),
    /** Takes the end away. */
    open_ended: Schema.Boolean
  }),
  OrganizationRecord,
  ({ name, open_ended, organization, plan, seats, valid_until }) =>
    Effect.gen(function*() {
      const id = yield* existing(organization)
      if (open_ended && valid_until !== null) return yield* refuse("A licence has an end or none: not both.")
      const changes = {
        ...(name === null ? {} : { name }),
        ...(plan === null ? {} : { plan }),
        ...(seats === null ? {} : { seat_limit: seats }),
        ...(open_ended || valid_until !== null ? { valid_until } : {})
      }
      if (Object.keys(changes).length === 0) return yield* refuse("There is nothing to change: say what, by its flag.")
      yield* journaled(
        id,
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const port = yield* Organizations
          yield* port.lockRecipients(id)
          const facts = yield* port.facts(id)
          yield* refuseOrganizationChange(facts, { ends: open_ended || valid_until !== null, seats })
          const now = new Date(yield* Clock.currentTimeMillis)
          const after = { ...facts, ...(plan === null ? {} : { plan }) }
          const archive = planHasArchive(facts) === planHasArchive(after)
            ? {}
            : { archive_plan_ended_at: planHasArchive(after) ? null : now }
          yield* Effect.orDie(sql`update organization set ${sql.update({ ...changes, ...archive })} where id = ${id}`)
          const details = {
            ...(name === null ? {} : { name }),
            ...(plan === null ? {} : { plan }),
            ...(seats === null ? {} : { seats }),
            ...(open_ended ? { open_ended } : {}),
            ...(valid_until === null ? {} : { valid_until: valid_until.toISOString() })
          }
          return [null, Provisioning.operatorEntry("organization.set", id, { details })] as const
        })
      )
      return yield* findOrganization(organization)
    })
)

export const listAdmins = command(
  "list_admins",
  Schema.Struct({ organization: Schema.String }),
  Schema.Struct({ admins: Schema.Array(AdminRecord) }),
  ({ organization }) =>
    Effect.gen(function*() {
      return { admins: yield* admins(yield* existing(organization), null) }
    })
)

const findAdmin = Effect.fnUntraced(function*(organization: string, email: string) {
  const [found] = yield* admins(yield* existing(organization), email)
  return found ?? (yield* refuse(`${organization} has no admin ${email}.`))
})

export const showAdmin = command(
  "show_admin",
  Schema.Struct({ organization: Schema.String, email: Schema.String }),
  AdminRecord,
  ({ email, organization }) => findAdmin(organization, email)
)

export const setAdmin = command(
  "set_admin",
  Schema.Struct({
    organization: Schema.String,
    email: Schema.String,
    name: Schema.NullOr(Name),
    role: Schema.NullOr(Role)
  }),
  AdminRecord,
  ({ email, name, organization, role }) =>
    Effect.gen(function*() {
      const id = yield* existing(organization)
      if (name === null && role === null) return yield* refuse("There is nothing to change: say what, by its flag.")
      yield* journaled(
        id,
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const [admin] = yield* Effect.orDie(sql<{ id: string; name: string | null; role: Role }>`
            select id, name, role from admin
            where organization_id = ${id} and lower(email collate "C") = ${email.toLowerCase()} for update`)
          if (admin === undefined) return yield* refuse(`${organization} has no admin ${email}.`)
          if (role !== null && role !== admin.role && (admin.role === "owner" || role === "owner")) {
            return yield* refuse("An organization has one owner, whose role stays: it is not given or taken here.")
          }
          const changes = {
            ...(name === null || name === admin.name ? {} : { name }),
            ...(role === null || role === admin.role ? {} : { role })
          }
          if (Object.keys(changes).length === 0) return [null, null] as const
          yield* Effect.orDie(sql`
            update admin set ${sql.update(changes)} where organization_id = ${id} and id = ${admin.id}`)
          return [
            null,
            Provisioning.operatorEntry("role" in changes ? "admin.role_set" : "admin.set", id, {
              targetId: admin.id,
              details: { email, ...changes, ...("role" in changes ? { from: admin.role } : {}) }
            })
          ] as const
        })
      )
      return yield* findAdmin(organization, email)
    })
)

export const listKeys = command(
  "list_keys",
  Schema.Struct({ organization: Schema.String }),
  Schema.Struct({ keys: Schema.Array(KeyRecord) }),
  ({ organization }) =>
    Effect.gen(function*() {
      return { keys: yield* keys(yield* existing(organization), null) }
    })
)

export const showKey = command(
  "show_key",
  Schema.Struct({ organization: Schema.String, key_id: Schema.String }),
  KeyRecord,
  ({ key_id, organization }) =>
    Effect.gen(function*() {
      const [found] = yield* keys(yield* existing(organization), key_id)
      return found ?? (yield* refuse(`${organization} has no key ${key_id}.`))
    })
)

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
