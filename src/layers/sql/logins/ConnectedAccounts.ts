/** Connects the account of a completed sign-in, within the transaction of the login's last step. */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { AccountId, nameKey } from "../../../domain/accounts/Account.ts"
import { enforcementFrom, type KnownAccount, newTier, refuses } from "../../../domain/logins/Connecting.ts"
import type { LoginFacts } from "../../../domain/logins/Login.ts"
import type { MessengerUserId, Profile } from "../../../domain/messenger/Messenger.ts"
import * as Ports from "../../../ports/index.ts"
import { Alarm } from "../../../ports/protection/Alarm.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { canAccess } from "../accounts/AccountAccess.ts"
import * as AccountStatuses from "../accounts/AccountStatuses.ts"
import * as SearchTexts from "../accounts/SearchTexts.ts"
import { add, retire } from "../protection/ServiceSessions.ts"

interface KnownAccountRow extends KnownAccount {
  readonly role_label: string | null
  readonly department_id: string | null
  readonly paused_at: Date | null
  readonly phone_number: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly username: string | null
}

/** The reset of what an account that is protected again has left behind. */
const anew = {
  offboarded_at: null,
  paused_at: null,
  resumed_at: null,
  takeover_stopped_at: null,
  locked_at: null,
  lock_reason: null,
  security_lock: false,
  baselined: false,
  recovery: null,
  paired_state: "none",
  paired_since: null,
  paired_error: null
} as const

/** The first state of an account's monitor; what earlier polls saw stays where the account goes on. */
const watchedAnew = { failures: 0, first_failure_at: null, last_poll_error: null, flood_until: null, due_at: null }

const makeNames = (login: LoginFacts, profile: Profile | null, known: KnownAccountRow | null) => ({
  first_name: profile === null ? known?.first_name ?? null : profile.first_name,
  last_name: profile === null ? known?.last_name ?? null : profile.last_name,
  username: profile === null ? known?.username ?? null : profile.username,
  phone_number: profile?.phone === undefined || profile.phone === null ? login.phone_number : `+${profile.phone}`
})

export const make = Effect.gen(function*() {
  const alarm = yield* Alarm
  const sql = yield* SqlClient.SqlClient
  const post = Tenant.post(sql)
  const random = yield* SecureRandom.SecureRandom
  const identities = yield* Ports.Identities
  const licences = yield* Ports.Licences

  const find = (
    { login, organizationId }: Ports.HeldLogin,
    userId: MessengerUserId,
    caller: Parameters<Ports.Logins["Service"]["complete"]>[3]["caller"]
  ) =>
    sql<KnownAccountRow>`
      select id, messenger_user_id, offboarded_at, role_label, department_id, paused_at, phone_number, first_name,
        last_name, username, ${caller === null ? sql`false` : canAccess(sql, caller)} as accessible
      from account
      where organization_id = ${organizationId}
        and ${login.kind === "relogin" ? sql`id = ${login.account_id}` : sql`messenger_user_id = ${userId}`}
      for no key update of account`

  /** The service's sessions: the new one is the main one, and the one before it goes. */
  const own = Effect.fnUntraced(function*(
    { login, organizationId }: Ports.HeldLogin,
    accountId: AccountId,
    createdAt: Date,
    now: Date
  ) {
    const mine = sql`organization_id = ${organizationId} and account_id = ${accountId}`
    yield* retire(sql, { organizationId, accountId }, sql`slot = 'main'`, { due: now, now })
    yield* add(sql, { organizationId, accountId }, "main", login.session_ref, createdAt)
    const live = yield* sql<{ created_at: Date }>`
      select created_at from service_session where ${mine} and slot in ('main', 'paired')`
    const enforcement = enforcementFrom(live.map(({ created_at }) => created_at))
    yield* post(sql`
      update account set session_ref = ${login.session_ref}, enforcement_active_at = ${enforcement}
      where organization_id = ${organizationId} and id = ${accountId}`)
  })

  /** Grants the new account to the admin who connected it, if the admin is granted accounts one by one. */
  const grant = ({ login, organizationId }: Ports.HeldLogin, accountId: string) =>
    sql`
      insert into admin_account (organization_id, admin_id, account_id)
      select organization_id, id, ${accountId}::uuid from admin
      where organization_id = ${organizationId} and id = ${login.started_by} and role = 'admin'
        and removed_at is null and not exists (
          select 1 from admin_department granted
          where granted.organization_id = admin.organization_id and granted.admin_id = admin.id
            and granted.department_id = ${login.department_id}::uuid)
      on conflict do nothing`

  const complete: Ports.Logins["Service"]["complete"] = (held, { createdAt, userId }, profile, context) =>
    Effect.gen(function*() {
      const { caller, now, organization } = context
      const { login, organizationId } = held
      const [found] = yield* find(held, userId, caller)
      const known = found ?? null
      const refusal = refuses(organization, login.kind, userId, known, now)
      if (refusal !== null) return yield* new Ports.LoginRefusal({ reason: refusal })
      const id = AccountId.make(known?.id ?? (yield* random.uuidV7()))
      const names = makeNames(login, profile, known)
      const role_label = login.role_label ?? known?.role_label ?? null
      const shown = {
        ...names,
        name_key: nameKey(names),
        role_label,
        department_id: login.department_id ?? known?.department_id ?? null
      }
      const paused = login.kind === "relogin" && known !== null && known.paused_at !== null
      const facts = {
        ...shown,
        connected_at: now,
        stopped_at: null,
        stop_reason: null,
        licence_stopped_at: null,
        monitoring_state: paused ? "stopped" : "active"
      }
      if (known === null) {
        yield* post(sql`insert into account ${
          sql.insert({
            organization_id: organizationId,
            id,
            messenger_user_id: userId,
            licence_tier: newTier(organization, yield* licences.used(organizationId)),
            joined_at: now,
            enrolled_at: now,
            ...facts,
            ...AccountStatuses.statusColumns({
              ...anew,
              connected_at: now,
              stopped_at: null,
              monitoring_state: "active",
              review_pending: false,
              enforcement_active_at: null
            }, now)
          })
        }`)
        yield* post(SearchTexts.add(sql, organizationId, id, { ...names, role_label }))
        yield* grant(held, id)
      } else {
        const revived = login.kind === "connect" ? { ...anew, enrolled_at: now } : {}
        yield* post(sql`
          update account set ${sql.update({ ...facts, ...revived })}, joined_at = coalesce(joined_at, ${now})
          where organization_id = ${organizationId} and id = ${id}`)
        yield* post(SearchTexts.set(sql, organizationId, id, { ...names, role_label }))
        if (login.kind === "connect") {
          yield* post(sql`delete from session where organization_id = ${organizationId} and account_id = ${id}`)
        }
        yield* post(sql`
          update account_secret set erase_at = null, end_told_at = null
          where organization_id = ${organizationId} and account_id = ${id} and slot <> 'retired'`)
      }
      if (!(yield* identities.claim(organizationId, userId, id))) {
        return yield* new Ports.LoginRefusal({ reason: "protected_elsewhere" })
      }
      yield* own(held, id, createdAt, now)
      yield* post(sql`
        update monitor set ${sql.update(watchedAnew)}, epoch = epoch + 1, next_at = ${paused ? null : now},
          urgent = ${!paused}, started_at = ${now}, look_at = null, seen_mark = null
          ${login.kind === "connect" ? sql`, facets = '{}', last_ok_at = null, sign_out_retry_at = null` : sql``}
        where organization_id = ${organizationId} and account_id = ${id}`)
      yield* alarm.ring
      yield* AccountStatuses.save(sql, organizationId, [id], now)
      const ended = { state: "completed" as const, account_id: id, ended_at: now, busy_until: null }
      const completed = yield* sql`
        update login set ${
        sql.update({ ...ended, attempts_left: login.attempts_left })
      }, state_sealed = null, busy_by = null
        where organization_id = ${organizationId} and id = ${login.id} and busy_by = ${held.token}
          and state in ('code_sent', 'password_needed')
        returning id`
      if (completed.length === 0) return yield* new Ports.LoginEnded({})
      return {
        accountId: id,
        login: { ...login, ...ended },
        revived: known !== null && login.kind === "connect"
      }
    }).pipe(Effect.catchTag("SqlError", Effect.die))

  return complete
})
