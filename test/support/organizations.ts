/** What tests make in an organization. */
import { Clock, Duration, Effect, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { requestsPerMinute, signOutLock } from "../../src/domain/Limits.ts"
import type { MessengerUserId } from "../../src/domain/messenger/Messenger.ts"
import { OrganizationId, type Role, Scope } from "../../src/domain/people/Access.ts"
import {
  type NewSimulatedAccount as NewPerson,
  SimulatedPlatform
} from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Tenant from "../../src/layers/postgres/Tenant.ts"
import * as Provisioning from "../../src/layers/sql/Provisioning.ts"
import * as Fixtures from "./fixtures.ts"
import { query } from "./postgres/rows.ts"

/** A fresh organization's id; tests on one database do not meet. */
export const freshId = () => `t-${crypto.randomUUID()}`

/** An admin and a key of theirs. */
export interface Person {
  readonly id: string
  readonly keyId: string
  readonly key: Redacted.Redacted
}

/** An organization with an admin of every role, each with a key for every scope. */
export interface Organization {
  readonly id: OrganizationId
  readonly admins: Record<Role, Person>
}

const roles = ["owner", "superadmin", "admin", "billing", "archive"] as const

/** Statements of one transaction that do not need each other's answers: they are sent together. */
export const inOneWrite = { concurrency: "unbounded" } as const

interface PersonOptions {
  readonly scopes?: ReadonlyArray<Scope>
  readonly facts?: Record<string, unknown>
  readonly email?: string
  readonly key?: Partial<Provisioning.NewKey>
}

const personWithin = Effect.fnUntraced(function*(organizationId: string, role: Role, options: PersonOptions) {
  const email = options.email ?? `${role}-${crypto.randomUUID().slice(0, 8)}@example.com`
  const id = yield* Provisioning.admin(organizationId, {
    email,
    role,
    ...(options.facts === undefined ? {} : { facts: options.facts })
  })
  const { id: keyId, key } = yield* Provisioning.apiKey(organizationId, id, {
    label: `${role} key`,
    expiresAt: null,
    scopes: options.scopes ?? Scope.literals,
    ...options.key
  })
  return { id, keyId, key } satisfies Person
})

/** Makes an admin with a key. */
export const makePerson = (organizationId: string, role: Role, options: PersonOptions = {}) =>
  Fixtures.within(organizationId, personWithin(organizationId, role, options))

/** Makes a further key of an admin. */
export const makeKey = (
  organizationId: string,
  adminId: string,
  scopes: ReadonlyArray<Scope> = Scope.literals,
  options: Partial<Provisioning.NewKey> = {}
) =>
  Fixtures.within(
    organizationId,
    Provisioning.apiKey(organizationId, adminId, { label: "A further key", expiresAt: null, scopes, ...options })
  )

/** Spends the whole budget of a key, as that many requests at this moment would. */
export const spend = Effect.fnUntraced(function*(keyId: string) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* Tenant.directory(sql)(sql`
    insert into rate_limit (key, hits, admitted)
    values (${keyId}, array_fill(${now}::bigint, array[${requestsPerMinute}::int]), true)
    on conflict (key) do update set hits = excluded.hits`)
})

/** Makes an active organization on the governance plan with 100 seats, unless `facts` says otherwise. */
export const makeOrganization = Effect.fnUntraced(function*(
  facts: Record<string, unknown> = {},
  ownId: string = freshId()
) {
  const id = OrganizationId.make(ownId)
  const organization = Provisioning.organization({
    id,
    name: `Organization ${id}`,
    facts: {
      status: "active",
      billing_state: "active",
      plan: "governance",
      period: "annual",
      licences_governance: 100,
      seat_limit: 100,
      archive_key_set: true,
      ...facts
    }
  })
  const everybody = Effect.forEach(
    roles,
    (role) => Effect.map(personWithin(id, role, {}), (made) => [role, made] as const),
    inOneWrite
  )
  const people = yield* Fixtures.within(id, Effect.andThen(organization, everybody))
  return { id, admins: Object.fromEntries(people) as Record<Role, Person> } satisfies Organization
})

/** Makes an account without a person on the messenger. */
export const makeAccount = (organizationId: string, options: Partial<Provisioning.AccountOptions> = {}) =>
  Effect.map(
    Fixtures.within(
      organizationId,
      Provisioning.account(organizationId, {
        phone: `+1${crypto.randomInt(1_000_000_000, 9_999_999_999)}`,
        first_name: `Name ${crypto.randomUUID().slice(0, 8)}`,
        ...options
      })
    ),
    (id) => AccountId.make(id)
  )

/** Makes a person on the simulated messenger, and their account with a live session of the service. */
export const makeLiveAccount = Effect.fnUntraced(function*(
  organizationId: string,
  person: Partial<NewPerson> = {},
  options: Partial<Provisioning.AccountOptions> = {}
) {
  const platform = yield* SimulatedPlatform
  const phone = person.phone ?? `1${crypto.randomInt(1_000_000_000, 9_999_999_999)}`
  const made = { first_name: "Ada", last_name: "Lovelace", ...person, phone }
  const userId: MessengerUserId = yield* platform.createAccount(made)
  const enforced = options.facts?.["enforcement_active_at"]
  const sessionRef = yield* platform.connect(
    userId,
    enforced instanceof Date ? { created_at: new Date(enforced.getTime() - Duration.toMillis(signOutLock)) } : {}
  )
  const id = yield* makeAccount(organizationId, {
    phone: `+${phone}`,
    messengerUserId: userId,
    first_name: made.first_name === "" ? null : made.first_name,
    last_name: made.last_name === "" ? null : made.last_name,
    username: made.username ?? null,
    ...options,
    facts: { session_ref: sessionRef, ...options.facts }
  })
  return { id, userId, sessionRef, phone }
})

/** Grants accounts or departments to an admin. */
export const grant = (
  organizationId: string,
  adminId: string,
  what: { readonly accounts?: ReadonlyArray<string>; readonly departments?: ReadonlyArray<string> }
) =>
  Fixtures.within(
    organizationId,
    Effect.gen(function*() {
      yield* Provisioning.rows(
        "admin_account",
        organizationId,
        (what.accounts ?? []).map((account_id) => ({ admin_id: adminId, account_id }))
      )
      yield* Provisioning.rows(
        "admin_department",
        organizationId,
        (what.departments ?? []).map((department_id) => ({ admin_id: adminId, department_id }))
      )
    })
  )

/** Makes a department, and answers its id. */
export const makeDepartment = Effect.fnUntraced(function*(organizationId: string, name?: string) {
  const id = crypto.randomUUID()
  yield* Fixtures.within(
    organizationId,
    Provisioning.rows("department", organizationId, [{ id, name: name ?? `Department ${id}`, created_at: new Date(0) }])
  )
  return id
})

/** Adds rows that belong to an organization. */
export const addRows = (...[table, organizationId, rows]: Parameters<typeof Provisioning.rows>) =>
  Fixtures.within(organizationId, Provisioning.rows(table, organizationId, rows))

/** Adds what was counted of the organization's accounts at some moments. */
export const sample = Effect.fnUntraced(function*(
  organizationId: string,
  samples: ReadonlyArray<readonly [at: Date, accounts: Readonly<Record<string, number>>]>
) {
  const sql = yield* SqlClient.SqlClient
  for (const [at, accounts] of samples) {
    yield* Effect.orDie(
      sql`insert into status_sample values (${organizationId}, ${at}, ${JSON.stringify(accounts)}::text::jsonb)`
    )
  }
})

/** Makes the organization's next request to the support, and answers its id. */
export const makeSupportRequest = Effect.fnUntraced(function*(organizationId: string, adminId: string, text = "Help") {
  const id = crypto.randomUUID()
  const [made] = yield* query<{ support_number: number }>(
    organizationId,
    (sql) =>
      sql`update organization set support_number = support_number + 1 where id = ${organizationId}
      returning support_number`
  )
  yield* addRows("support_request", organizationId, [{
    id,
    number: made?.support_number,
    category: "other",
    subject: text,
    message: text,
    created_by: adminId,
    created_at: new Date(0),
    updated_at: new Date(0)
  }])
  return id
})

/** Makes a login that has ended, unless `facts` says otherwise, and answers its id. */
export const makeLogin = Effect.fnUntraced(function*(
  organizationId: string,
  adminId: string,
  facts: Record<string, unknown> = {}
) {
  const id = crypto.randomUUID()
  yield* addRows("login", organizationId, [{
    id,
    kind: "connect",
    phone_number: "+4915550199",
    state: "failed",
    error: "code_invalid",
    attempts_left: 0,
    expires_at: new Date(0),
    created_at: new Date(0),
    ended_at: new Date(0),
    started_by: adminId,
    session_ref: `login-${id}`,
    ...facts
  }])
  return id
})
