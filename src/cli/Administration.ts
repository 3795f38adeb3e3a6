/** What an operator can do to a database: each command takes and answers JSON, so that a socket can carry it. */
import { Clock, Duration, Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isOrganizationId, OrganizationId, Role, Scope } from "../domain/Access.ts"
import { maxApiKeyDays, maxApiKeyLabelLength } from "../domain/Limits.ts"
import { Tier } from "../domain/Organization.ts"
import { Timestamp } from "../domain/Wire.ts"
import { isUuid } from "../domain/Wire.ts"
import { PasswordHasher } from "../layers/crypto/PasswordHasher.ts"
import { faultOf, normalized } from "../layers/crypto/PasswordRule.ts"
import * as Loader from "../layers/seed/Loader.ts"
import * as Endings from "../layers/sql/Endings.ts"
import * as Provisioning from "../layers/sql/Provisioning.ts"
import * as Tenant from "../layers/sql/Tenant.ts"
import { approveApplication, listApplications, requireApproval, withdrawApplication } from "./Applications.ts"
import { databaseStatus } from "./DatabaseStatus.ts"
import { command, existing, journaled, refuse, type Refused } from "./Declared.ts"
import { checkpoint, exportJournal, verifyJournal } from "./Journals.ts"
import { records } from "./Records.ts"

interface AdminRow {
  readonly id: string
  readonly role: Role
  readonly disabled_at: Date | null
}

const findAdmin = Effect.fnUntraced(function*(organizationId: string, email: string) {
  const sql = yield* SqlClient.SqlClient
  const [admin] = yield* Effect.orDie(sql<AdminRow>`
    select id, role, disabled_at from admin
    where organization_id = ${organizationId} and lower(email collate "C") = ${email.toLowerCase()} for update`)
  return admin ?? (yield* refuse(`${organizationId} has no admin ${email}.`))
})

/** The admin, not locked: for what has to be locked before. */
const lookUp = Effect.fnUntraced(function*(organizationId: string, email: string) {
  const sql = yield* SqlClient.SqlClient
  const [admin] = yield* Effect.orDie(sql<{ readonly id: string }>`
    select id from admin where organization_id = ${organizationId} and lower(email collate "C") = ${email.toLowerCase()}`)
  return admin ?? (yield* refuse(`${organizationId} has no admin ${email}.`))
})

const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
const Email = Schema.String.check(Schema.isPattern(/^[^\s@]+@[^\s@]+$/, { expected: "an email address" }))
const AdminRef = { organization: Schema.String, email: Email }
const AdminState = Schema.Struct({ organization: Schema.String, email: Schema.String, admin_id: Schema.String })

export const createOrganization = command(
  "create_organization",
  Schema.Struct({
    id: Schema.String,
    name: Schema.String,
    owner: Email,
    plan: Tier,
    seats: Schema.Natural,
    valid_until: Schema.NullOr(Timestamp)
  }),
  Schema.Struct({ organization: Schema.String, owner: Schema.String, admin_id: Schema.String }),
  ({ id, name, owner, plan, seats, valid_until }) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      if (!Schema.is(Schema.String.check(isOrganizationId))(id)) {
        return yield* refuse("An organization's id is 1 to 63 lower-case letters, digits and hyphens.")
      }
      const ids = yield* Tenant.directory(sql)(Provisioning.organizationIds)
      if (ids.includes(id)) return yield* refuse(`There is an organization ${id} already.`)
      return yield* journaled(
        OrganizationId.make(id),
        Effect.gen(function*() {
          yield* Provisioning.organization({
            id,
            name,
            facts: { status: "active", managed: false, plan, seat_limit: seats, valid_until }
          })
          const admin_id = yield* Provisioning.admin(id, { email: owner, role: "owner", facts: { joined_at: null } })
          return [
            { organization: id, owner, admin_id },
            Provisioning.operatorEntry("organization.created", id, { details: { plan, seats, owner } })
          ] as const
        })
      )
    })
)

export const createAdmin = command(
  "create_admin",
  Schema.Struct({ ...AdminRef, role: Role, name: Schema.NullOr(Schema.String), archive_access: Schema.Boolean }),
  AdminState,
  ({ archive_access, email, name, organization, role }) =>
    Effect.gen(function*() {
      const id = yield* existing(organization)
      return yield* journaled(
        id,
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const found = yield* Effect.orDie(sql<{ email: string; role: Role }>`
            select email, role from admin where organization_id = ${id}`)
          if (found.some((admin) => admin.email.toLowerCase() === email.toLowerCase())) {
            return yield* refuse(`${organization} has an admin ${email} already.`)
          }
          if (role === "owner" && found.some((admin) => admin.role === "owner")) {
            return yield* refuse(`${organization} has an owner already.`)
          }
          const admin_id = yield* Provisioning.admin(organization, {
            email,
            role,
            ...(name === null ? {} : { name }),
            facts: { joined_at: null, archive_access }
          })
          return [
            { organization, email, admin_id },
            Provisioning.operatorEntry("admin.created", id, {
              targetId: admin_id,
              details: { email, role }
            })
          ] as const
        })
      )
    })
)

export const setPassword = command(
  "set_password",
  Schema.Struct({ ...AdminRef, password: Schema.String }),
  Schema.Struct({
    ...AdminState.fields,
    ended: Schema.Struct({ api_keys: Schema.Int, connections: Schema.Int, sessions: Schema.Int })
  }),
  ({ email, organization, password }) =>
    Effect.gen(function*() {
      const id = yield* existing(organization)
      const fault = yield* faultOf(password, { organizationId: organization, email })
      if (fault !== null) return yield* refuse(fault)
      const hasher = yield* PasswordHasher
      const hashed = yield* hasher.hash(Redacted.make(normalized(password)))
      return yield* journaled(
        id,
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const known = yield* lookUp(organization, email)
          yield* Endings.lockConnections(sql, id, known.id)
          const admin = yield* findAdmin(organization, email)
          const at = yield* now
          yield* Effect.orDie(sql`
            update admin set password_hash = ${hashed}, password_changed_at = ${at},
              joined_at = coalesce(joined_at, ${at}::timestamptz)
            where organization_id = ${id} and id = ${admin.id}`)
          const ended = {
            api_keys: yield* Endings.endKeys(sql, id, admin.id, at),
            connections: yield* Endings.endConnections(sql, id, admin.id, at),
            sessions: yield* Endings.endSessions(sql, id, admin.id)
          }
          yield* Endings.forgetBrowsers(sql, id, admin.id)
          return [
            { organization, email, admin_id: admin.id, ended },
            Provisioning.operatorEntry("admin.password_set", id, {
              targetId: admin.id,
              details: ended
            })
          ] as const
        })
      )
    })
)

const setDisabled = (disabled: boolean) =>
  command(
    disabled ? "disable_admin" : "enable_admin",
    Schema.Struct(AdminRef),
    AdminState,
    ({ email, organization }) =>
      Effect.gen(function*() {
        const id = yield* existing(organization)
        return yield* journaled(
          id,
          Effect.gen(function*() {
            const sql = yield* SqlClient.SqlClient
            const admin = yield* findAdmin(organization, email)
            const answer = { organization, email, admin_id: admin.id }
            if ((admin.disabled_at !== null) === disabled) return [answer, null] as const
            yield* Effect.orDie(sql`
              update admin set disabled_at = ${disabled ? yield* now : null}
              where organization_id = ${id} and id = ${admin.id}`)
            return [
              answer,
              Provisioning.operatorEntry(disabled ? "admin.disabled" : "admin.enabled", id, {
                targetId: admin.id
              })
            ] as const
          })
        )
      })
  )

export const createKey = command(
  "create_key",
  Schema.Struct({
    ...AdminRef,
    label: Schema.String.check(Schema.isNonEmpty(), Schema.isMaxCodePoints(maxApiKeyLabelLength)),
    scopes: Schema.NonEmptyArray(Scope),
    /** Null for never. */
    expires_in_days: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxApiKeyDays })))
  }),
  Schema.Struct({
    organization: Schema.String,
    key_id: Schema.String,
    label: Schema.String,
    key: Schema.String,
    expires_at: Schema.NullOr(Timestamp)
  }),
  ({ email, expires_in_days, label, organization, scopes }) =>
    Effect.gen(function*() {
      const id = yield* existing(organization)
      return yield* journaled(
        id,
        Effect.gen(function*() {
          const admin = yield* findAdmin(organization, email)
          if (admin.disabled_at !== null) {
            return yield* refuse(`${email} is disabled: enable the admin first, or the key would not work.`)
          }
          const expires_at = expires_in_days === null
            ? null
            : new Date((yield* Clock.currentTimeMillis) + Duration.toMillis(Duration.days(expires_in_days)))
          const made = yield* Provisioning.apiKey(organization, admin.id, { label, scopes, expiresAt: expires_at })
          return [
            { organization, key_id: made.id, label, key: Redacted.value(made.key), expires_at },
            Provisioning.operatorEntry("api_key.created", id, {
              targetId: made.id,
              details: { label, scopes: scopes.join(" "), email }
            })
          ] as const
        })
      )
    })
)

export const revokeKey = command(
  "revoke_key",
  Schema.Struct({ organization: Schema.String, key_id: Schema.String }),
  Schema.Struct({ organization: Schema.String, key_id: Schema.String, revoked_at: Timestamp }),
  ({ key_id, organization }) =>
    Effect.gen(function*() {
      const id = yield* existing(organization)
      return yield* journaled(
        id,
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const at = yield* now
          const key = isUuid(key_id.toLowerCase()) ? yield* Endings.lockKey(sql, id, key_id, "update") : undefined
          if (key === undefined) return yield* refuse(`${organization} has no key ${key_id}.`)
          if (key.revokedAt !== null) return [{ organization, key_id, revoked_at: key.revokedAt }, null] as const
          const made = (yield* Endings.revokeKey(sql, id, key_id, at)) - 1
          return [
            { organization, key_id, revoked_at: at },
            Provisioning.operatorEntry("api_key.revoked", id, {
              targetId: key_id.toLowerCase(),
              details: made === 0 ? {} : { keys_made_with_it: made }
            })
          ] as const
        })
      )
    })
)

export const seed = command(
  "seed",
  Schema.Struct({ seed: Schema.Json }),
  Schema.Struct({
    created: Schema.Array(Schema.String),
    unchanged: Schema.Array(Schema.String),
    keys: Schema.Array(Schema.Struct({
      organization: Schema.String,
      label: Schema.String,
      admin: Schema.String,
      key: Schema.String
    }))
  }),
  (input) =>
    Effect.gen(function*() {
      const loaded = yield* Loader.load(yield* Loader.decode(input.seed))
      return { ...loaded, keys: loaded.keys.map((made) => ({ ...made, key: Redacted.value(made.key) })) }
    })
)

export const disableAdmin = setDisabled(true)
export const enableAdmin = setDisabled(false)

/** Every command. */
export const commands = [
  createOrganization,
  createAdmin,
  setPassword,
  disableAdmin,
  enableAdmin,
  createKey,
  revokeKey,
  listApplications,
  requireApproval,
  approveApplication,
  withdrawApplication,
  seed,
  verifyJournal,
  checkpoint,
  exportJournal,
  ...records,
  databaseStatus
] as const

/** What commands need. */
export type CommandServices = Effect.Services<ReturnType<(typeof commands)[number]["execute"]>>

/** One command, for code that runs any. */
export interface Command<Input, Output> {
  readonly name: string
  readonly input: Schema.Codec<Input, unknown>
  readonly output: Schema.Codec<Output, unknown>
  execute(json: unknown): Effect.Effect<unknown, Refused, CommandServices>
}
