import { Clock, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { accountName, nameKey } from "../../../domain/accounts/Account.ts"
import type { Searched } from "../../../domain/accounts/AccountSearch.ts"
import type { AccountChange } from "../../../domain/protection/Decision.ts"
import type { Facets, GuardedAccount, MonitorFacts, WatchedSession } from "../../../domain/protection/Facts.ts"
import type { ServiceSession } from "../../../domain/protection/ServiceSession.ts"
import { AccountLock, type LockedAccountRef } from "../../../ports/accounts/AccountLock.ts"
import { Identities } from "../../../ports/accounts/Identities.ts"
import { Db } from "../../../ports/Db.ts"
import { type StepChanges, Watch } from "../../../ports/protection/MonitorStore.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as AccountStatuses from "../accounts/AccountStatuses.ts"
import * as SearchTexts from "../accounts/SearchTexts.ts"
import { isSpared } from "../sessions/Sessions.ts"
import { retire } from "./ServiceSessions.ts"

/** The time within which sessions that others ended count together. */
const endedTogether = Duration.minutes(10)

/** The columns of a session's row and their types, in the statements that write many. */
const sessionColumns = {
  service: "boolean",
  current: "boolean",
  baseline: "boolean",
  approved_at: "timestamptz",
  review_deadline: "timestamptz",
  queued_at: "timestamptz",
  device_model: "text",
  platform: "text",
  app_name: "text",
  app_version: "text",
  ip: "text",
  country: "text",
  last_active_at: "timestamptz",
  created_at: "timestamptz",
  seen_at: "timestamptz",
  withheld_at: "timestamptz",
  withheld_reason: "text",
  ending_reason: "text",
  ending_at: "timestamptz",
  ending_by: "uuid",
  ending_intent: "bigint"
} as const satisfies { readonly [Column in Exclude<keyof WatchedSession, "id" | "record_id">]: string }

const names = Object.keys(sessionColumns)
const typed = Object.entries(sessionColumns).map(([name, type]) => `${name} ${type}`).join(", ")
const columns = names.join(", ")
const replaced = names.map((name) => `${name} = excluded.${name}`).join(", ")

type AccountRow = Omit<GuardedAccount, "login_open" | "two_fa_managed"> & {
  readonly two_fa_managed: boolean
  readonly lockdown: boolean
  readonly away: boolean
  readonly login_open: boolean
  readonly login_id: string | null
  readonly login_until: Date | null
}

type MonitorRow = MonitorFacts & { readonly facets: Facets }

/** The protection of accounts in SQL. */
export const layer = Layer.effect(
  Watch,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const db = yield* Db
    const guard = yield* AccountLock
    const identities = yield* Identities
    const sessionList = sql.literal(columns)

    const ownOf = ({ accountId, organizationId }: LockedAccountRef) =>
      sql<ServiceSession>`
        select id, slot, session_ref, seen_as, created_at from service_session
        where organization_id = ${organizationId} and account_id = ${accountId} order by created_at, id`

    const lock = Effect.fnUntraced(function*(held: LockedAccountRef) {
      const { accountId, organizationId } = held
      const [row] = yield* Effect.orDie(sql<AccountRow>`
        select account.id, account.phone_number, first_name, last_name, username, recovery, offboarded_at, paused_at, resumed_at,
          stopped_at, monitoring_state, takeover_stopped_at, enforcement_active_at, locked_at, lock_reason, security_lock,
          paired_state, paired_since, paired_error, baselined, exists (
            select from account_secret where account_secret.organization_id = account.organization_id
              and account_secret.account_id = account.id and kind = 'two_fa' and slot = 'held') as two_fa_managed,
          tamper_lockdown_enabled as lockdown, messenger_away_at is not null as away, login.id is not null as login_open,
          case when login.busy_until is not null then login.id end as login_id, login.busy_until as login_until
        from account join organization on organization.id = account.organization_id
        left join login on login.organization_id = account.organization_id and login.account_id = account.id
          and login.state in ('code_sent', 'password_needed')
        where account.organization_id = ${organizationId} and account.id = ${accountId} for no key update of account`)
      const epoch = yield* guard.confirm(held)
      if (row === undefined) return null
      const { away, lockdown, login_id, login_until, ...account } = row
      const now = yield* Clock.currentTimeMillis
      const mine = sql`organization_id = ${organizationId} and account_id = ${accountId}`
      return yield* Effect.gen(function*() {
        const [monitor] = yield* sql<MonitorRow>`
          select started_at, last_ok_at, last_poll_error, failures, first_failure_at, flood_until, sign_out_retry_at,
            look_at, facets
          from monitor where ${mine}`
        if (monitor === undefined) return yield* Effect.die(new Error("An account without a monitor"))
        const { facets, ...looks } = monitor
        const ended = yield* sql<{ detected_at: Date }>`
          select detected_at from termination
          where ${mine} and actor = 'external' and detected_at > ${new Date(now - Duration.toMillis(endedTogether))}`
        return {
          epoch,
          name: accountName(account),
          login: login_id === null || login_until === null
            ? null
            : { id: login_id, busy: login_until.getTime() > now },
          facts: {
            lockdown,
            away,
            account,
            sessions: yield* sql<WatchedSession>`select id, record_id, ${sessionList} from session where ${mine}`,
            own: yield* ownOf(held),
            monitor: looks,
            facets,
            endedOutside: ended.map(({ detected_at }) => detected_at)
          }
        }
      }).pipe(Effect.orDie)
    })

    /** The columns that follow from others: by which name the account is found, and in which order listed. */
    const rename = Effect.fnUntraced(function*({ accountId, organizationId }: LockedAccountRef) {
      const [row] = yield* sql<Searched>`
        select first_name, last_name, username, phone_number, role_label from account
        where organization_id = ${organizationId} and id = ${accountId}`
      if (row === undefined) return
      yield* post(sql`
        update account set name_key = ${nameKey(row)} where organization_id = ${organizationId} and id = ${accountId}`)
      yield* post(SearchTexts.set(sql, organizationId, accountId, row))
    })

    const writeAccount = Effect.fnUntraced(
      function*(held: LockedAccountRef, { recovery, ...change }: AccountChange) {
        const { accountId, organizationId } = held
        const changed = {
          ...change,
          ...(recovery === undefined ? {} : { recovery: recovery === null ? null : JSON.stringify(recovery) })
        }
        if (Object.keys(changed).length === 0) return
        yield* post(sql`
          update account set ${sql.update(changed)} where organization_id = ${organizationId} and id = ${accountId}`)
        const { first_name, last_name, phone_number, username } = change
        if ([first_name, last_name, phone_number, username].some((name) => name !== undefined)) yield* rename(held)
      }
    )

    const writeSessions = Effect.fnUntraced(
      function*({ accountId, organizationId }: LockedAccountRef, { ended, upserts }: StepChanges) {
        if (ended.length > 0) {
          yield* post(sql`
          delete from session where organization_id = ${organizationId} and account_id = ${accountId}
            and record_id = any(${ended.map(({ record_id }) => record_id)}::uuid[])`)
          const terminations = ended.flatMap(({ session_id, termination }) =>
            termination === null ? [] : [{ session_id, ...termination }]
          )
          yield* post(sql`
          insert into termination (organization_id, account_id, session_id, device_label, detected_at, actor, reason)
          select ${organizationId}, ${accountId}, session_id, device_label, detected_at, actor, reason
          from jsonb_to_recordset(${JSON.stringify(terminations)}::jsonb)
            as made (session_id text, device_label text, detected_at timestamptz, actor text, reason text)`)
        }
        if (upserts.length > 0) {
          const rows = upserts.map(({ record_id, row }) => ({ ...row, record_id }))
          yield* post(sql`
          insert into session (organization_id, account_id, id, record_id, ${sessionList})
          select ${organizationId}, ${accountId}, id, coalesce(record_id, gen_random_uuid()), ${sessionList}
          from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as made (id text, record_id uuid, ${
            sql.literal(typed)
          })
          on conflict (organization_id, account_id, id) do update set ${sql.literal(replaced)}`)
        }
      }
    )

    const writeOwn = Effect.fnUntraced(function*(held: LockedAccountRef, own: StepChanges["own"] = [], now: Date) {
      const { accountId, organizationId } = held
      if (own.length === 0) return
      const mine = sql`organization_id = ${organizationId} and account_id = ${accountId}`
      const ended = own.filter(({ slot }) => slot === "ended").map(({ id }) => id)
      yield* post(sql`delete from service_session where ${mine} and id = any(${ended}::uuid[])`)
      const retired = own.filter(({ slot }) => slot === "retired").map(({ id }) => id)
      yield* retire(sql, held, sql`id = any(${retired}::uuid[])`, { due: now, now })
      for (const { id, seen_as, slot } of own.filter(({ slot }) => slot === "main" || slot === "paired")) {
        yield* post(sql`update service_session set slot = ${slot}, seen_as = ${seen_as} where ${mine} and id = ${id}`)
      }
      yield* post(sql`
        update account set session_ref = (select session_ref from service_session where ${mine} and slot = 'main')
        where organization_id = ${organizationId} and id = ${accountId}`)
    })

    return {
      lock,

      write: Effect.fnUntraced(
        function*(held, changes, now) {
          const { accountId, epoch, organizationId } = held
          yield* writeAccount(held, changes.account)
          yield* writeOwn(held, changes.own, now)
          if (changes.freesIdentity === true) yield* identities.release(organizationId, accountId)
          const { nextAt, release } = changes
          // A request since the account was claimed is not undone; a push only makes it due earlier.
          yield* post(sql`
            update monitor set ${
            sql.update({
              ...changes.monitor,
              facets: JSON.stringify(changes.facets),
              due_at: changes.dueAt,
              ...(changes.lookAt === undefined ? {} : { look_at: changes.lookAt }),
              ...(changes.seenMark === undefined ? {} : { seen_mark: changes.seenMark }),
              ...(release ? { busy_by: null, busy_until: null } : {})
            })
          }, next_at = case
              when epoch <> ${epoch} then next_at
              when urgent then least(next_at, ${nextAt}::timestamptz)
              else ${nextAt}::timestamptz
            end
            where organization_id = ${organizationId} and account_id = ${accountId}`)
          yield* writeSessions(held, changes)
          yield* AccountStatuses.save(sql, organizationId, [accountId], now)
        },
        Effect.orDie
      ),

      begin: (held, endings, now) =>
        endings.length === 0 ? Effect.void : post(sql`
          update session set ending_reason = made.reason, ending_by = made.by, ending_intent = made.intent,
            ending_at = greatest(${now}::timestamptz, approved_at + interval '1 millisecond')
          from jsonb_to_recordset(${JSON.stringify(endings)}::jsonb)
            as made ("sessionId" text, reason text, by uuid, intent bigint)
          where organization_id = ${held.organizationId} and account_id = ${held.accountId}
            and session.id = made."sessionId"`),

      own: (held) => db.read(held.organizationId, Effect.orDie(ownOf(held))),

      mayEnd: ({ accountId, organizationId }, sessionId, intent) =>
        db.read(
          organizationId,
          sql`
            select 1 from account join session on session.organization_id = account.organization_id
              and session.account_id = account.id
            where account.organization_id = ${organizationId} and account.id = ${accountId} and paused_at is null
              and offboarded_at is null and stopped_at is null and session.id = ${sessionId}
              and ending_intent = ${intent} and not ${sql.literal(isSpared)}`.pipe(Effect.orDie)
        ).pipe(Sql.exists),

      digest: (mark) => crypto.createHash("sha256").update(mark).digest("base64url")
    }
  })
)
