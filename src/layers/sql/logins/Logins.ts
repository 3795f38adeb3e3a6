import { Duration, Effect, Layer, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import { loginHeld, loginKept } from "../../../domain/Limits.ts"
import { fresh, type LoginFacts, type StartedLogins } from "../../../domain/logins/Login.ts"
import { cleanText } from "../../../domain/messenger/Messenger.ts"
import { after, before } from "../../../domain/Moments.ts"
import { type Caller, isNarrowing, OrganizationId, superadmins } from "../../../domain/people/Access.ts"
import * as Ports from "../../../ports/index.ts"
import { Vault } from "../../crypto/Vault.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { canAccess, canAccessDepartment } from "../accounts/AccountAccess.ts"
import * as Connecting from "./ConnectedAccounts.ts"

const columns = [
  "id",
  "kind",
  "account_id",
  "phone_number",
  "role_label",
  "department_id",
  "state",
  "code_delivery",
  "code_length",
  "resend_at",
  "resends",
  "password_hint",
  "attempts_left",
  "error",
  "expires_at",
  "created_at",
  "ended_at",
  "started_by",
  "session_ref",
  "busy_until"
].map((name) => `login.${name}`).join(", ")

const isOpen = "login.state in ('code_sent', 'password_needed')"

const loginsListed = 50

/** The number of logins that one run takes; the next one takes the rest. */
const leftOver = `
  select organization_id, id from login
  where (state in ('code_sent', 'password_needed') and expires_at <= $1
      or state not in ('code_sent', 'password_needed') and state_sealed is not null)
    and (busy_until is null or busy_until <= $1)
  order by expires_at limit 200`

const forgotten = `delete from login where ended_at <= $1 and state_sealed is null returning id`

const ended = new Set(["completed", "failed", "expired", "cancelled"])

/** The context that the state of a login is sealed for. */
const sealedFor = (organizationId: string, id: string): ReadonlyArray<string> => [organizationId, id, "login"]

/** The logins in SQL; what the messenger needs at the next step is sealed in the row. */
export const layer = Layer.effect(
  Ports.Logins,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const random = yield* SecureRandom.SecureRandom
    const vault = yield* Vault
    const complete = yield* Connecting.make
    const facts = sql.literal(columns)
    const open = sql.literal(isOpen)

    const one = (organizationId: string, id: string): Statement.Fragment =>
      sql`login.organization_id = ${organizationId} and login.id = ${id}`

    /** The condition that a login is for an account that the connection is limited to. */
    const within = (caller: Caller["Service"]): Statement.Fragment =>
      sql`(account_id is null or exists (
          select 1 from account
          where account.organization_id = login.organization_id and account.id = login.account_id
            and ${canAccess(sql, caller)}))
        and ${
        !isNarrowing(caller.limit)
          ? sql`true`
          : sql`(account_id is not null or exists (
            select 1 from department
            where department.organization_id = login.organization_id and department.id = login.department_id
              and ${canAccessDepartment(sql, caller)}))`
      }`

    /** The condition that the caller may see a login: owner and superadmins see all, any other admin their own. */
    const visible = (caller: Caller["Service"]): Statement.Fragment =>
      sql`${within(caller)} and ${superadmins.includes(caller.role) ? sql`true` : sql`started_by = ${caller.adminId}`}`

    const seal = (organizationId: string, id: string, state: Redacted.Redacted | null | undefined) =>
      state === undefined
        ? {}
        : { state_sealed: state === null ? null : vault.seal(state, sealedFor(organizationId, id)) }

    const changes = (organizationId: string, id: string, change: Ports.LoginChange, now: Date) => {
      const { messenger, ...rest } = change
      return {
        ...rest,
        ...(rest.password_hint === undefined ? {} : { password_hint: cleanText(rest.password_hint) }),
        ...(rest.state === undefined || !ended.has(rest.state) ? {} : { ended_at: now }),
        ...seal(organizationId, id, messenger)
      }
    }

    const held = Effect.fnUntraced(function*(
      organizationId: OrganizationId,
      token: string,
      { state_sealed, unsettled, ...login }: LoginFacts & { state_sealed: string | null; unsettled: boolean }
    ) {
      const state = state_sealed === null ? null : yield* vault.open(state_sealed, sealedFor(organizationId, login.id))
      return { organizationId, login, token, state, unsettled } satisfies Ports.HeldLogin
    })

    const until = (now: Date) => after(now, loginHeld)

    return Ports.Logins.of({
      find: (caller, id) =>
        sql<LoginFacts>`
          select ${facts} from login
          where ${one(caller.organizationId, id)} and ${visible(caller)}`.pipe(Effect.orDie, Sql.one),

      unfinished: (caller, now) =>
        Effect.orDie(sql<LoginFacts>`
          select ${facts} from login
          where login.organization_id = ${caller.organizationId} and ${open} and expires_at > ${now} and ${
          visible(caller)
        }
          order by created_at desc, id limit ${loginsListed}`),

      read: (organizationId, id) =>
        sql<LoginFacts>`select ${facts} from login where ${one(organizationId, id)}`.pipe(Effect.orDie, Sql.one),

      open: (organizationId, phoneNumber, accountId) =>
        Effect.orDie(sql<LoginFacts>`
          select ${facts} from login
          where organization_id = ${organizationId} and ${open}
            and (phone_number = ${phoneNumber} or account_id = ${accountId}::uuid)
          order by id for update`),

      started: Effect.fnUntraced(function*(organizationId, phoneNumber, now) {
        const count = (since: Duration.Duration, which: Statement.Fragment) =>
          sql<StartedLogins>`
            select count(*)::integer as count, min(created_at) as oldest from login
            where organization_id = ${organizationId} and ${which}
              and created_at > ${before(now, since)}`
        const [hour] = yield* count(Duration.hours(1), sql`true`)
        const [day] = yield* count(Duration.days(1), sql`phone_number = ${phoneNumber}`)
        const none = { count: 0, oldest: null }
        return { hour: hour ?? none, day: day ?? none }
      }, Effect.orDie),

      isKnownNumber: (organizationId, phoneNumber) =>
        sql`
          select 1 from account
          where organization_id = ${organizationId} and phone_number = ${phoneNumber} and offboarded_at is null
          limit 1`.pipe(Effect.orDie, Sql.exists),

      isWatched: (organizationId, accountId, since) =>
        sql`
          select 1 from account join monitor
            on monitor.organization_id = account.organization_id and monitor.account_id = account.id
          where account.organization_id = ${organizationId} and account.id = ${accountId} and paused_at is null
            and stopped_at is null and monitoring_state = 'active' and last_ok_at > ${since}`.pipe(
          Effect.orDie,
          Sql.exists
        ),

      left: Effect.fnUntraced(function*(now) {
        yield* Tenant.ask(sql, forgotten, [before(now, loginKept)])
        const rows = yield* Tenant.ask<{ organization_id: string; id: string }>(sql, leftOver, [now])
        return rows.map(({ id, organization_id }) => ({ id, organizationId: OrganizationId.make(organization_id) }))
      }),

      start: Effect.fnUntraced(function*(organizationId, login, now) {
        const [id, token, ref] = [yield* random.uuidV7(), yield* random.uuidV7(), yield* random.uuidV7()]
        const [row] = yield* sql<LoginFacts>`insert into login ${
          sql.insert({
            organization_id: organizationId,
            id,
            kind: login.kind,
            account_id: login.accountId,
            phone_number: login.phoneNumber,
            role_label: login.roleLabel,
            department_id: login.departmentId,
            started_by: login.startedBy,
            session_ref: `login-${ref}`,
            busy_by: token,
            busy_until: until(now),
            ...fresh(now)
          })
        } returning ${facts}`
        return row === undefined
          ? yield* Effect.die(new Error("A login was not made"))
          : { organizationId, login: row, token, state: null, unsettled: false }
      }, Effect.orDie),

      hold: Effect.fnUntraced(function*(organizationId, id, change, now) {
        const [free] = yield* sql<{ unsettled: boolean }>`
          select busy_until is not null as unsettled from login
          where ${one(organizationId, id)} and (busy_until is null or busy_until <= ${now}) for update`
        if (free === undefined) return null
        const token = yield* random.uuidV7()
        const [row] = yield* sql<LoginFacts & { state_sealed: string | null }>`
          update login set ${
          sql.update({ ...changes(organizationId, id, change, now), busy_by: token, busy_until: until(now) })
        }
          where ${one(organizationId, id)} returning ${facts}, state_sealed`
        return row === undefined ? null : yield* held(organizationId, token, { ...row, ...free })
      }, Effect.orDie),

      finishStep: ({ login: { id }, organizationId, token }, change, release, now) =>
        sql<LoginFacts>`
          update login set ${
          sql.update({
            ...changes(organizationId, id, change, now),
            ...(release === "release" ? { busy_by: null } : {}),
            busy_until: release === "keep" ? until(now) : release === "unsettled" ? now : null
          })
        }
          where ${one(organizationId, id)} and busy_by = ${token} and ${open} returning ${facts}`.pipe(
          Effect.orDie,
          Sql.one
        ),

      leave: ({ login: { id }, organizationId, token }, left) =>
        post(sql`
          update login set busy_by = null, busy_until = null
            ${left ? sql`` : sql`, state_sealed = null`}
          where ${one(organizationId, id)} and busy_by = ${token}`),

      end: (organizationId, id, state, now) =>
        sql<LoginFacts>`
          update login set state = ${state}, ended_at = ${now} where ${one(organizationId, id)} and ${open}
          returning ${facts}`.pipe(Effect.orDie, Sql.one),

      complete
    })
  })
)
