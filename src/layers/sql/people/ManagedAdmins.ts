import { Duration, Effect, Layer, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import * as crypto from "node:crypto"
import { invitationLifetime, invitationsPerAddress, invitationsPerOrganization } from "../../../domain/Limits.ts"
import type { CancelledLogin } from "../../../domain/logins/Login.ts"
import { after } from "../../../domain/Moments.ts"
import { type Caller, isNarrowing, superadmins } from "../../../domain/people/Access.ts"
import type { AdminFacts, AdminStatus, ShownFacts } from "../../../domain/people/Admin.ts"
import { CredentialEndings } from "../../../ports/credentials/CredentialEndings.ts"
import * as Ports from "../../../ports/index.ts"
import { InvitationTokens } from "../../crypto/signin/LinkTokens.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { canAccess, canAccessDepartment } from "../accounts/AccountAccess.ts"
import { LastUses } from "../credentials/LastUses.ts"
import { adminFacts } from "./Admins.ts"

interface Cursor {
  readonly other: boolean
  readonly address: string
  readonly id: string
}

/** The condition on the columns that an admin has the status. */
const statusIs = (sql: SqlClient.SqlClient, status: AdminStatus): Statement.Fragment =>
  status === "disabled"
    ? sql`disabled_at is not null`
    : status === "invited"
    ? sql`disabled_at is null and joined_at is null`
    : sql`disabled_at is null and joined_at is not null`

const day = Duration.toMillis(Duration.days(1))

/** Admins, their grants and invitations in SQL. */
export const layer = Layer.effect(
  Ports.ManagedAdmins,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const random = yield* SecureRandom.SecureRandom
    const tokens = yield* InvitationTokens
    const uses = yield* LastUses
    const endings = yield* CredentialEndings
    const factors = yield* Ports.FactorRecords
    const place = sql.literal(`(role <> 'owner'), lower(email collate "C"), admin.id`)

    /** The condition that the caller sees a row of `admin`: owner and superadmins see all, any other role itself. */
    const seen = ({ adminId, organizationId, role }: Caller["Service"]): Statement.Fragment =>
      sql`admin.organization_id = ${organizationId} and removed_at is null
        and ${superadmins.includes(role) ? sql`true` : sql`admin.id = ${adminId}`}`

    /** The condition that a grant of the kind lies within the caller's limit. */
    const within = (caller: Caller["Service"], kind: "account" | "department"): Statement.Fragment =>
      !isNarrowing(caller.limit) ? sql`true` : sql`exists (
        select 1 from ${sql(kind)}
        where ${sql(kind)}.organization_id = granted.organization_id and ${sql(kind)}.id = granted.${sql(`${kind}_id`)}
          and ${kind === "account" ? canAccess(sql, caller) : canAccessDepartment(sql, caller)})`

    const grants = (caller: Caller["Service"], kind: "account" | "department"): Statement.Fragment =>
      sql`array(
        select ${sql(`${kind}_id`)} from ${sql(`admin_${kind}`)} granted
        where granted.organization_id = admin.organization_id and granted.admin_id = admin.id
          and ${within(caller, kind)}
        order by 1)`

    const own = (table: string): Statement.Fragment =>
      sql`${sql(table)}.organization_id = admin.organization_id and ${sql(table)}.admin_id = admin.id`

    /**
     * The number of the admin's credentials that have not ended; those that expire and the others, each by the index.
     */
    const live = (table: "ai_connection" | "api_key", now: Date, more = sql``): Statement.Fragment => {
      const count = (ends: Statement.Fragment) =>
        sql`(select count(*) from ${sql(table)} where ${own(table)} and revoked_at is null and ${ends} ${more})`
      return sql`${count(sql`expires_at > ${now}`)} + ${count(sql`expires_at is null`)}`
    }

    const shown = (caller: Caller["Service"], now: Date): Statement.Fragment =>
      sql`admin.id, email, name, role, archive_access, joined_at, disabled_at, invitation_expires_at,
        ${grants(caller, "account")} as account_ids, ${grants(caller, "department")} as department_ids,
        greatest(
          (select max(last_used_at) from api_key where ${own("api_key")}),
          (select max(last_used_at) from ai_connection where ${own("ai_connection")}),
          (select max(last_used_at) from console_session where ${own("console_session")}),
          (select at from journal_event
            where journal_event.organization_id = admin.organization_id and actor_admin_id = admin.id
            order by sequence desc limit 1)) as last_active_at,
        ${live("api_key", now, sql`and (password_changed_at is null or password_changed_at <= api_key.created_at)`)}
          + ${live("ai_connection", now)} as credentials`

    const invitation = (token: Redacted.Redacted) => {
      const { digest, pepperId } = tokens.digest(token)
      return { invitation_digest: digest, invitation_pepper_id: pepperId }
    }

    const expiry = (now: Date): Date => after(now, invitationLifetime)

    const setGrants = Effect.fnUntraced(function*(
      caller: Caller["Service"],
      adminId: string,
      kind: "account" | "department",
      ids: ReadonlyArray<string> | undefined
    ) {
      if (ids === undefined) return { added: 0, taken: 0 }
      const { organizationId } = caller
      const table = sql(`admin_${kind}`)
      const id = sql(`${kind}_id`)
      const taken = sql`
        delete from ${table} granted
        where granted.organization_id = ${organizationId} and granted.admin_id = ${adminId}
          and not granted.${id} = any(${ids}::uuid[]) and ${within(caller, kind)}
        returning 1`
      const added = sql`
        insert into ${table} (organization_id, admin_id, ${id})
        select ${organizationId}::text, ${adminId}::uuid, wanted.id
        from (select distinct unnest(${ids}::uuid[]) as id) as wanted
        on conflict do nothing returning 1`
      const rows = yield* Effect.all({ taken, added }, Tenant.together)
      return { added: rows.added.length, taken: rows.taken.length }
    })

    return Ports.ManagedAdmins.of({
      list: Effect.fnUntraced(function*(caller, { after, limit, role, status }, now) {
        const [cursor] = after === undefined ? [] : yield* sql<Cursor>`
          select (role <> 'owner') as other, lower(email collate "C") as address, id from admin
          where ${seen(caller)} and admin.id = ${after}`
        if (after !== undefined && cursor === undefined) return null
        const wanted = sql.and([
          seen(caller),
          ...(cursor === undefined
            ? []
            : [sql`(${place}) > (${cursor.other}::boolean, ${cursor.address}::text, ${cursor.id}::uuid)`]),
          ...(role === undefined ? [] : [sql`role = ${role}`]),
          ...(status === undefined ? [] : [statusIs(sql, status)])
        ])
        yield* uses.written
        return yield* sql<ShownFacts>`
          select ${shown(caller, now)}
          from (select * from admin where ${wanted} order by ${place} limit ${sql.literal(String(limit + 1))}) as admin
          order by ${place}`
      }, Effect.orDie),

      find: (caller, id, now) =>
        Effect.andThen(
          uses.written,
          sql<ShownFacts>`select ${shown(caller, now)} from admin where ${seen(caller)} and admin.id = ${id}`
        ).pipe(Effect.orDie, Sql.one),

      lock: (organizationId, ids) =>
        sql<AdminFacts>`
          select ${sql.literal(adminFacts)} from admin
          where organization_id = ${organizationId} and id = any(${ids}::uuid[]) and removed_at is null
          order by id for no key update`.pipe(Effect.orDie),

      isGrantedBeyond: (caller, id) => {
        const beyond = (kind: "account" | "department") =>
          sql`exists (
            select 1 from ${sql(`admin_${kind}`)} granted
            where granted.organization_id = ${caller.organizationId} and granted.admin_id = ${id}
              and not ${within(caller, kind)})`
        return isNarrowing(caller.limit)
          ? sql<{ readonly beyond: boolean }>`
            select ${beyond("account")} or ${beyond("department")} as beyond`.pipe(
            Effect.orDie,
            Effect.map(([row]) => row?.beyond ?? true)
          )
          : Effect.succeed(false)
      },

      inaccessible: Effect.fnUntraced(function*(caller, { account_ids = [], department_ids = [] }) {
        const departments = sql`
          select 1 from department
          where organization_id = ${caller.organizationId} and id = any(${department_ids}::uuid[])
            and ${canAccessDepartment(sql, caller)}
          order by id for key share`
        const accounts = sql<{ readonly found: number }>`
          select count(*) as found from account
          where organization_id = ${caller.organizationId} and id = any(${account_ids}::uuid[])
            and ${canAccess(sql, caller)}`
        const accessible = yield* Effect.all({ departments, accounts }, Tenant.together)
        if (accessible.departments.length < new Set(department_ids).size) return "department_ids"
        return (accessible.accounts[0]?.found ?? 0) < new Set(account_ids).size ? "account_ids" : null
      }, Effect.orDie),

      setAccess: Effect.fnUntraced(function*(caller, id, { account_ids, archive, department_ids }) {
        const { accounts, departments } = yield* Effect.all({
          departments: setGrants(caller, id, "department", department_ids),
          accounts: setGrants(caller, id, "account", account_ids)
        }, Tenant.together)
        if (archive !== undefined) {
          yield* post(sql`
            update admin set archive_access = ${archive}
            where organization_id = ${caller.organizationId} and id = ${id}`)
        }
        return { added: departments.added + accounts.added, taken: departments.taken + accounts.taken }
      }, Effect.orDie),

      lockCredentials: (organizationId, adminId) => endings.lockConnections({ organizationId, adminId }),

      remove: Effect.fnUntraced(function*(organizationId, id, now) {
        const admin = { organizationId, adminId: id }
        for (const table of ["admin_account", "admin_department"]) {
          yield* post(sql`delete from ${sql(table)} where organization_id = ${organizationId} and admin_id = ${id}`)
        }
        const credentials = {
          api_keys: endings.endKeys(admin, now),
          connections: endings.endConnections(admin, now),
          sessions: endings.endSessions(admin)
        }
        // The traces that they have left on the messenger are taken back by the job that ends logins.
        const started = sql<CancelledLogin>`
          update login set state = 'cancelled', ended_at = ${now}
          where organization_id = ${organizationId} and started_by = ${id} and state in ('code_sent', 'password_needed')
          returning id, kind, account_id, phone_number`
        const [ended, logins] = yield* Effect.all([
          Effect.all(credentials, Tenant.together),
          started,
          factors.removeAll(admin)
        ], Tenant.together)
        yield* endings.forgetBrowsers(admin)
        yield* endings.endResets(admin)
        yield* post(sql`
          update admin set removed_at = ${now}, disabled_at = coalesce(disabled_at, ${now}::timestamptz),
            password_hash = null, invitation_digest = null, invitation_pepper_id = null
          where organization_id = ${organizationId} and id = ${id}`)
        return { ended, logins }
      }, Effect.orDie),

      transfer: Effect.fnUntraced(function*(organizationId, owner, next) {
        // Nobody's id is null: an organization without an owner gets one.
        for (const [id, role] of [[owner, "superadmin"], [next, "owner"]]) {
          yield* post(sql`update admin set role = ${role} where organization_id = ${organizationId} and id = ${id}`)
        }
      }, Effect.orDie),

      countInvitation: Effect.fnUntraced(function*(organizationId, email, now) {
        const address = crypto.createHash("sha256").update(email.toLowerCase()).digest("hex")
        const since = new Date(now.getTime() - day)
        yield* post(sql`delete from invitation_sent where organization_id = ${organizationId} and sent_at <= ${since}`)
        const nth = (most: number, which: Statement.Fragment) =>
          sql`(select sent_at from invitation_sent where organization_id = ${organizationId} and ${which}
            order by sent_at desc offset ${sql.literal(String(most - 1))} limit 1)`
        const [row] = yield* sql<{ readonly full: Date | null }>`
          select greatest(${nth(invitationsPerAddress, sql`address = ${address}`)}, ${
          nth(invitationsPerOrganization, sql`true`)
        }) as full`
        const full = row?.full ?? null
        if (full !== null) return Math.max(1, Math.ceil((full.getTime() + day - now.getTime()) / 1000))
        yield* post(
          sql`insert into invitation_sent ${
            sql.insert({ organization_id: organizationId, id: yield* random.uuidV7(), address, sent_at: now })
          }`
        )
        return null
      }, Effect.orDie),

      invite: Effect.fnUntraced(function*({ adminId, organizationId }, invited, now) {
        const token = yield* tokens.make
        const expiresAt = expiry(now)
        const [made] = yield* sql<{ readonly id: string }>`insert into admin ${
          sql.insert({
            organization_id: organizationId,
            id: yield* random.uuidV7(),
            ...invited,
            created_at: now,
            invited_by: adminId,
            invitation_expires_at: expiresAt,
            ...invitation(token)
          })
        } on conflict do nothing returning id`
        return made === undefined ? null : { id: made.id, token, expiresAt }
      }, Effect.orDie),

      reinvite: Effect.fnUntraced(function*(organizationId, id, now) {
        const token = yield* tokens.make
        const expiresAt = expiry(now)
        yield* post(sql`
          update admin set ${sql.update({ invitation_expires_at: expiresAt, ...invitation(token) })}
          where organization_id = ${organizationId} and id = ${id}`)
        return { id, token, expiresAt }
      })
    })
  })
)
