/** Rows of organizations and of what belongs to them, as seed files describe them; never through the API. */
import { Clock, Effect, type Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { type MessengerNames, nameKey } from "../../domain/accounts/Account.ts"
import { MonitoringState, type StatusFacts } from "../../domain/accounts/ProtectionStatus.ts"
import { defaultApiKeyExpiry, signOutLock } from "../../domain/Limits.ts"
import { after, before } from "../../domain/Moments.ts"
import { type Role, Scope } from "../../domain/people/Access.ts"
import { departmentKey } from "../../domain/people/Department.ts"
import { ApiKeys } from "../crypto/credentials/ApiKeys.ts"
import { PasswordHasher } from "../crypto/signin/PasswordHasher.ts"
import * as Tenant from "../postgres/Tenant.ts"
import * as AccountStatuses from "./accounts/AccountStatuses.ts"
import { statusColumns } from "./accounts/AccountStatuses.ts"
import * as SearchTexts from "./accounts/SearchTexts.ts"

const newId = Effect.flatMap(SecureRandom.SecureRandom, (random) => random.uuidV7())

/** Columns of a row, where the table's defaults do not do. */
type Columns = { readonly [column: string]: unknown }

const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

export interface OrganizationOptions {
  readonly id: string
  readonly name: string
  readonly facts?: Columns
}

/** Makes an organization: pending, managed, without a plan and with no seat, unless `facts` says otherwise. */
export const organization = Effect.fnUntraced(function*(options: OrganizationOptions) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into organization ${
    sql.insert({
      id: options.id,
      name: options.name,
      status: "pending",
      created_at: yield* now,
      managed: true,
      billing_state: "none",
      seat_limit: 0,
      ...options.facts
    })
  }`.pipe(Effect.orDie)
})

export interface AdminOptions {
  readonly id?: string
  readonly email: string
  readonly role: Role
  readonly name?: string
  readonly facts?: Columns
}

/** Makes an admin who has joined already, and answers the id. */
export const admin = Effect.fnUntraced(function*(organizationId: string, options: AdminOptions) {
  const sql = yield* SqlClient.SqlClient
  const id = options.id ?? (yield* newId)
  const at = yield* now
  yield* sql`insert into admin ${
    sql.insert({
      organization_id: organizationId,
      id,
      email: options.email,
      name: options.name ?? null,
      role: options.role,
      created_at: at,
      joined_at: at,
      ...options.facts
    })
  }`.pipe(Effect.orDie)
  return id
})

export interface NewKey {
  readonly id?: string
  readonly label: string
  readonly scopes?: ReadonlyArray<Scope>
  /** Null for never; 90 days from now by default. */
  readonly expiresAt?: Date | null
  readonly facts?: Columns
}

/** Makes an API key of the admin, and answers it: the only time that it can be seen. */
export const apiKey = Effect.fnUntraced(
  function*(organizationId: string, adminId: string, options: NewKey): Effect.fn.Return<
    { readonly id: string; readonly key: Redacted.Redacted },
    never,
    SqlClient.SqlClient | ApiKeys | SecureRandom.SecureRandom
  > {
    const sql = yield* SqlClient.SqlClient
    const keys = yield* ApiKeys
    const key = yield* keys.make
    const id = options.id ?? (yield* newId)
    const at = yield* now
    yield* sql`insert into api_key ${
      sql.insert({
        organization_id: organizationId,
        id,
        admin_id: adminId,
        label: options.label,
        scopes: options.scopes ?? Scope.literals,
        ...keys.digest(key),
        created_at: at,
        expires_at: options.expiresAt === undefined
          ? after(at, defaultApiKeyExpiry)
          : options.expiresAt,
        ...options.facts
      })
    }`.pipe(Effect.orDie)
    return { id, key }
  }
)

export interface AccountOptions extends Partial<MessengerNames> {
  readonly id?: string
  readonly phone: string
  readonly messengerUserId?: string
  readonly facts?: Columns
}

const moment = (columns: Columns, name: string): Date | null => {
  const value = columns[name] ?? null
  if (value === null || value instanceof Date) return value
  throw new TypeError(`${name} is a Date or null`)
}

const isMonitoringState = Schema.is(MonitoringState)

/** The facts from which the status of a new account without sessions is derived. */
const statusFacts = (columns: Columns): StatusFacts => {
  const state = columns["monitoring_state"]
  if (!isMonitoringState(state)) throw new TypeError(`monitoring_state is ${MonitoringState.literals.join(", ")}`)
  return {
    offboarded_at: moment(columns, "offboarded_at"),
    paused_at: moment(columns, "paused_at"),
    stopped_at: moment(columns, "stopped_at"),
    monitoring_state: state,
    takeover_stopped_at: moment(columns, "takeover_stopped_at"),
    resumed_at: moment(columns, "resumed_at"),
    review_pending: false,
    connected_at: moment(columns, "connected_at"),
    enforcement_active_at: moment(columns, "enforcement_active_at")
  }
}

type Table = "account" | "monitor" | "archive_state"

const monitorColumns = new Set(["last_polled_at", "last_ok_at", "last_poll_error", "failures"])

const tableOf = (column: string): Table =>
  monitorColumns.has(column)
    ? "monitor"
    : column.startsWith("archive_") && column !== "archive_consent_at"
    ? "archive_state"
    : "account"

/** The columns of an account by the table that has them. */
export const accountParts = (columns: Columns): { readonly [In in Table]: Columns } => {
  const parts = Map.groupBy(Object.entries(columns), ([name]) => tableOf(name))
  const of = (table: Table) => Object.fromEntries(parts.get(table) ?? [])
  return { account: of("account"), monitor: of("monitor"), archive_state: of("archive_state") }
}

/** Claims the person of a new account that the service has a session in; one who is claimed already stays so. */
const claim = (organizationId: string, id: string, userId: string, { offboarded_at }: StatusFacts) =>
  SqlClient.SqlClient.use((sql) =>
    offboarded_at !== null ? Effect.void : Effect.orDie(sql`
      insert into messenger_identity (messenger_user_id, organization_id, account_id)
      values (${userId}, ${organizationId}, ${id}) on conflict do nothing`)
  )

/** Has a new account polled by the protection, through the service's session on the messenger. */
const watch = Effect.fnUntraced(
  function*(organizationId: string, id: string, sessionRef: string, { enforcement_active_at, ...facts }: StatusFacts) {
    const sql = yield* SqlClient.SqlClient
    const at = yield* now
    const since = enforcement_active_at === null
      ? facts.connected_at ?? at
      : before(enforcement_active_at, signOutLock)
    yield* sql`insert into service_session ${
      sql.insert({
        organization_id: organizationId,
        account_id: id,
        slot: "main",
        session_ref: sessionRef,
        created_at: since
      })
    }`
    const watched = facts.monitoring_state !== "stopped" && facts.offboarded_at === null &&
      facts.paused_at === null && facts.stopped_at === null
    yield* sql`
      update monitor set started_at = ${facts.resumed_at ?? since}, next_at = ${watched ? at : null}
      where organization_id = ${organizationId} and account_id = ${id}`
  },
  Effect.orDie
)

/** A second session of the service in an account. */
export interface PairedSession {
  readonly sessionRef: string
  /** The id under which the first one sees it. */
  readonly seenAs: string
  readonly createdAt: Date
}

/** Gives an account its second session. */
export const paired = Effect.fnUntraced(
  function*(organizationId: string, id: string, { createdAt, seenAs, sessionRef }: PairedSession) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`insert into service_session ${
      sql.insert({
        organization_id: organizationId,
        account_id: id,
        slot: "paired",
        session_ref: sessionRef,
        seen_as: seenAs,
        created_at: createdAt
      })
    }`
  },
  Effect.orDie
)

/**
 * Makes an account that is protected and monitored, without a session, unless `facts` says otherwise; answers the id.
 */
export const account = Effect.fnUntraced(function*(organizationId: string, options: AccountOptions) {
  const sql = yield* SqlClient.SqlClient
  const id = options.id ?? (yield* newId)
  const names = {
    first_name: options.first_name ?? null,
    last_name: options.last_name ?? null,
    username: options.username ?? null,
    phone_number: options.phone
  }
  const { recovery, ...given } = options.facts ?? {}
  const { account: facts, archive_state: archive, ...others } = accountParts(given)
  // As stated, without rules that would say so.
  const apart = { ...others, archive_state: { archive_selects: true, ...archive } }
  const stored = { monitoring_state: "active", baselined: true, ...facts }
  yield* sql`insert into account ${
    sql.insert({
      organization_id: organizationId,
      id,
      messenger_user_id: options.messengerUserId ?? id,
      ...names,
      name_key: nameKey(names),
      ...stored,
      ...statusColumns(statusFacts(stored), yield* now)
    })
  }`.pipe(Effect.orDie)
  yield* SearchTexts.add(sql, organizationId, id, {
    ...names,
    role_label: typeof facts["role_label"] === "string" ? facts["role_label"] : null
  }).pipe(Effect.orDie)
  if (recovery !== undefined) {
    yield* sql`update account set recovery = ${JSON.stringify(recovery)}::jsonb
      where organization_id = ${organizationId} and id = ${id}`.pipe(Effect.orDie)
  }
  const sessionRef = facts["session_ref"]
  if (typeof sessionRef === "string") {
    yield* claim(organizationId, id, options.messengerUserId ?? id, statusFacts(stored))
    yield* watch(organizationId, id, sessionRef, statusFacts(stored))
  }
  for (const [table, columns] of Object.entries(apart)) {
    if (Object.keys(columns).length === 0) continue
    yield* sql`update ${sql(table)} set ${sql.update(columns)}
      where organization_id = ${organizationId} and account_id = ${id}`.pipe(Effect.orDie)
  }
  return id
})

/** Inserts rows of a table that belongs to an organization. */
export const rows = Effect.fnUntraced(
  function*(
    table:
      | "department"
      | "admin_account"
      | "archive_rule"
      | "admin_department"
      | "sign_up_link"
      | "session"
      | "termination"
      | "ai_connection"
      | "ai_connection_account"
      | "ai_connection_department"
      | "login"
      | "status_sample"
      | "support_request",
    organizationId: string,
    values: ReadonlyArray<Columns>
  ) {
    const sql = yield* SqlClient.SqlClient
    for (const value of values) {
      const derived = table === "department" ? { name_key: departmentKey(String(value["name"])) } : {}
      yield* Effect.orDie(
        sql`insert into ${sql(table)} ${sql.insert({ organization_id: organizationId, ...value, ...derived })}`
      )
    }
    if (table !== "session") return
    const accounts = new Set(values.flatMap(({ account_id }) => typeof account_id === "string" ? [account_id] : []))
    yield* Effect.orDie(AccountStatuses.save(sql, organizationId, [...accounts], yield* now))
  }
)

/**
 * Gives the admin a password where there is none, and answers whether it is theirs; the keys made before keep working,
 * as they do for nobody else.
 */
export const password = Effect.fnUntraced(
  function*(organizationId: string, adminId: string, chosen: Redacted.Redacted) {
    const sql = yield* SqlClient.SqlClient
    const hasher = yield* PasswordHasher
    const within = Tenant.transaction(sql, organizationId)
    const [row] = yield* within(sql<{ readonly password_hash: string | null }>`
      select password_hash from admin where organization_id = ${organizationId} and id = ${adminId}`)
    if (typeof row?.password_hash === "string") return yield* hasher.verify(row.password_hash, chosen)
    const hashed = yield* hasher.hash(chosen)
    const given = yield* within(sql`
      update admin set password_hash = ${hashed}
      where organization_id = ${organizationId} and id = ${adminId} and password_hash is null returning id`)
    return given.length > 0
  }
)
