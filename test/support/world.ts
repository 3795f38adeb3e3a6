/** The whole service in a test: every layer that a user runs, over a fresh database and the simulated messenger. */
import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import { HttpEffect, type HttpServerRequest } from "effect/http"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { OrganizationId, type Role, Scope } from "../../src/domain/Access.ts"
import { AccountId } from "../../src/domain/Account.ts"
import { requestsPerMinute, signOutLock } from "../../src/domain/Limits.ts"
import type { MessengerUserId } from "../../src/domain/Messenger.ts"
import { CheckAnswers } from "../../src/edge/Settings.ts"
import * as Site from "../../src/edge/Site.ts"
import { Ownership } from "../../src/engine/Ownership.ts"
import * as App from "../../src/http/App.ts"
import * as Console from "../../src/layers/Console.ts"
import * as Core from "../../src/layers/Core.ts"
import { CheckpointKeys } from "../../src/layers/crypto/CheckpointKeys.ts"
import { PasswordHasher } from "../../src/layers/crypto/PasswordHasher.ts"
import { Peppers } from "../../src/layers/crypto/Peppers.ts"
import * as MailSettings from "../../src/layers/mail/MailSettings.ts"
import * as Simulated from "../../src/layers/messenger/Simulated.ts"
import { type NewAccount as NewPerson, SimulatedPlatform } from "../../src/layers/messenger/SimulatedPlatform.ts"
import * as AccountStatuses from "../../src/layers/sql/AccountStatuses.ts"
import { LastCheckpoint } from "../../src/layers/sql/LastCheckpoint.ts"
import * as Provisioning from "../../src/layers/sql/Provisioning.ts"
import * as Tenant from "../../src/layers/sql/Tenant.ts"
import { ConsoleAddress } from "../../src/ports/ConsoleAddress.ts"
import type { MessengerSession } from "../../src/ports/MessengerSession.ts"
import type { DatabaseLayer } from "./database.ts"
import { undocumented } from "./documented.ts"
import * as Fixtures from "./fixtures.ts"

/** Where the service is reached in tests, unless a test says otherwise. */
export const baseUrl = "http://localhost"

/** The keys that a service in a process of its own must have too, to know what this one has made. */
export const peppers = Buffer.alloc(32, 7).toString("base64")
export const checkpointKeys = Buffer.alloc(32, 11).toString("base64")
export const csrfKeys = Buffer.alloc(32, 9).toString("base64")

const PeppersLayer = Peppers.layerText(Redacted.make(peppers))

const CheckpointsLayer = Layer.merge(
  CheckpointKeys.layerText(Redacted.make(checkpointKeys)),
  LastCheckpoint.layerMemory
)

/** Passwords that cost next to nothing. */
export const PasswordHasherLayer = PasswordHasher.layerWith({ memoryCost: 8, timeCost: 1, parallelism: 1 })

/** How mail is sent in tests: it is written, and nothing sends it unless a test does. */
export const mail = {
  url: Redacted.make("smtp://127.0.0.1:9"),
  from: "Console <console@console.test>",
  support: "support@console.test"
}

const PagesLayer = Console.layerPages({ csrfKeys: Redacted.make(csrfKeys) })

/** A messenger with the world around it, over a database and the peppers. */
export type MessengerLayer = Layer.Layer<
  MessengerSession | SimulatedPlatform,
  never,
  SqlClient.SqlClient | Peppers
>

/** Every layer but the HTTP edge's sites, over the database; every answer is checked by its whole schema. */
export const core = (
  database: DatabaseLayer,
  hasher: Layer.Layer<PasswordHasher> = PasswordHasherLayer,
  messenger: MessengerLayer = Simulated.layerSql
) =>
  PagesLayer.pipe(
    Layer.provideMerge(Core.layer({ keyPrefix: Core.defaultKeyPrefix })),
    Layer.provideMerge(MailSettings.layer(mail)),
    Layer.provideMerge(hasher),
    Layer.provideMerge(Layer.merge(messenger, Ownership.layerAlone)),
    Layer.provideMerge(PeppersLayer),
    Layer.provideMerge(CheckpointsLayer),
    Layer.provideMerge(database),
    Layer.merge(Layer.succeed(CheckAnswers, true))
  )

/** The service at one address, over the database. */
export const world = (
  database: DatabaseLayer,
  sites: ReadonlyArray<Site.Site> = [{ baseUrl, organizationId: null }],
  messenger?: MessengerLayer
) =>
  Layer.mergeAll(
    Layer.succeed(Site.Sites, Site.make(sites)),
    Layer.succeed(ConsoleAddress, Site.make(sites).addressOf),
    core(database, undefined, messenger)
  )

/** An answer, read. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: any
}

export interface Asking {
  readonly key?: Redacted.Redacted | string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  /** The raw body, instead of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>
  readonly host?: string
}

type WebHandler = (request: Request) => Promise<Response>

/** The service as one function, where it is made otherwise than for the context that a request is sent in. */
export const Prepared = Context.Reference<WebHandler | undefined>("test/support/world/Prepared", {
  defaultValue: () => undefined
})

/** The service as one function, with what is mounted. */
export const webHandler = Effect.gen(function*() {
  const app = yield* App.make
  const handler: WebHandler = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest>(
    yield* Effect.context<never>()
  )(app)
  return handler
})

/** Makes a function of the service once for each context that a request is sent in. */
export const oncePerContext = <E, R>(make: Effect.Effect<WebHandler, E, R>) => {
  const made = new WeakMap<Context.Context<never>, WebHandler>()
  return Effect.gen(function*() {
    const context = yield* Effect.context<never>()
    const handler = made.get(context) ?? (yield* make)
    made.set(context, handler)
    return handler
  })
}

const handlerHere = oncePerContext(webHandler)

/** Sends a request through the whole HTTP edge, without a socket; an answer that the document does not allow dies. */
export const send = Effect.fnUntraced(function*(method: string, path: string, asking: Asking = {}) {
  const handler = (yield* Prepared) ?? (yield* handlerHere)
  const key = asking.key === undefined || typeof asking.key === "string" ? asking.key : Redacted.value(asking.key)
  const content = asking.raw ?? (asking.body === undefined ? undefined : JSON.stringify(asking.body))
  const host = asking.host ?? new URL(baseUrl).host
  // The constructor refuses a GET with a body, which a client may send all the same.
  const smuggled = method === "GET" && content !== undefined
  const request = new Request(`http://${host}${path}`, {
    method: smuggled ? "POST" : method,
    headers: {
      host,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(content === undefined ? {} : { "content-type": "application/json" }),
      ...asking.headers
    },
    ...(content === undefined ? {} : { body: content })
  })
  if (smuggled) Object.defineProperty(request, "method", { value: method })
  const response = yield* Effect.promise(() => handler(request))
  const text = yield* Effect.promise(() => response.text())
  const answer: Answer = {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text)
  }
  const wrong = undocumented(method, path, answer.status, answer.body)
  if (wrong.length > 0) return yield* Effect.die(new Error(`${method} ${path}: ${wrong.join("; ")}`))
  return answer
})

export const get = (path: string, key: Redacted.Redacted | string) => send("GET", path, { key })
export const put = (path: string, key: Redacted.Redacted | string, body: unknown) => send("PUT", path, { key, body })
export const patch = (path: string, key: Redacted.Redacted | string, body?: unknown) =>
  send("PATCH", path, { key, ...(body === undefined ? {} : { body }) })
export const post = (path: string, key: Redacted.Redacted | string) => send("POST", path, { key })

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
export const makeAccount = (organizationId: string, options: Partial<Provisioning.NewAccount> = {}) =>
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
  options: Partial<Provisioning.NewAccount> = {}
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

/** Runs a statement inside the organization, as its tenant. */
export const query = <A extends object>(
  organizationId: string,
  statement: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<A>, unknown>
) => Fixtures.within(organizationId, Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.orDie(statement(sql))))

/** Changes columns of one row that belongs to the organization; what the status of its account follows from is heeded. */
export const set = (
  organizationId: string,
  table: "organization" | "admin" | "account" | "api_key" | "session" | "monitor",
  id: string,
  columns: Record<string, unknown>
) =>
  query<{ id: string }>(organizationId, (sql) =>
    Effect.gen(function*() {
      const rows = yield* sql<{ id: string }>`update ${sql(table)} set ${sql.update(columns)}
        where ${sql(table === "organization" ? "id" : "organization_id")} = ${organizationId}
          and ${sql(table === "monitor" ? "account_id" : "id")} = ${id}
        returning ${sql(table === "session" || table === "monitor" ? "account_id" : "id")} as id`
      if (table === "account" || table === "session") {
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* AccountStatuses.save(sql, organizationId, rows.map((row) => row.id), now)
      }
      return rows
    })).pipe(
      Effect.flatMap((rows) => rows.length === 1 ? Effect.void : Effect.die(new Error(`There is no ${table} ${id}`)))
    )

/** An event of the journal as it is stored. */
export interface StoredEvent {
  readonly sequence: number
  readonly id: string
  readonly at: Date
  readonly action: string
  readonly outcome: string
  readonly actor_type: string
  readonly actor_admin_id: string | null
  readonly actor_name: string | null
  readonly credential_kind: string | null
  readonly credential_id: string | null
  readonly credential_label: string | null
  readonly via: string
  readonly account_id: string | null
  readonly target_type: string | null
  readonly target_id: string | null
  readonly details: Record<string, unknown>
  readonly ip: string | null
  readonly request_id: string | null
  readonly closes: number | null
}

/** The organization's journal as it is stored, oldest first. */
export const journal = (organizationId: string) =>
  query<StoredEvent>(
    organizationId,
    (sql) => sql`select * from journal_event where organization_id = ${organizationId} order by sequence`
  )

/** The journal without the sign-ins and sign-outs at the console. */
export const changes = (organizationId: string) =>
  Effect.map(journal(organizationId), (events) => events.filter(({ action }) => !action.startsWith("console.")))

/** Columns that a refusal may change, as SQL: when credentials were last used, and who holds an account. */
export const unsaidColumns = "array['last_used_at', 'fence', 'busy_by', 'busy_until']"

const knownTables = new WeakMap<SqlClient.SqlClient, ReadonlyArray<string>>()

/** The tables whose rows belong to an organization, which are asked for once a database. */
const tablesOf = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  const known = knownTables.get(sql)
  if (known !== undefined) return known
  const tables = yield* sql<{ table_name: string }>`
    select table_name from information_schema.columns
    where table_schema = 'public' and column_name = 'organization_id' order by table_name`
  const names = tables.map(({ table_name }) => table_name)
  knownTables.set(sql, names)
  return names
})

/** Every row of the organization in every table, but for when its credentials were last used and who holds its accounts. */
export const snapshot = (organizationId: string) =>
  query<{ table: string; rows: ReadonlyArray<unknown> }>(organizationId, (sql) =>
    Effect.gen(function*() {
      const tables = yield* tablesOf(sql)
      const rowsOf = (table: string, column: string) =>
        sql`select ${table}::text as "table", coalesce(json_agg(row order by row::text collate "C"), '[]') as rows
          from (select to_jsonb(rows) - ${sql.literal(unsaidColumns)} as row from ${sql(table)} rows
            where ${sql(column)} = ${organizationId}) as rows`
      return yield* sql<{ table: string; rows: ReadonlyArray<unknown> }>`${
        sql.join(" union all ", false)([
          rowsOf("organization", "id"),
          ...tables.map((table) => rowsOf(table, "organization_id"))
        ])
      }`
    })).pipe(Effect.map((all) => Object.fromEntries(all.map(({ rows, table }) => [table, rows]))))

/** Every row of the password throttle. */
export const throttle = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => Effect.orDie(sql<object>`select * from password_throttle`)
)

/** What a refusal says: its status, code and the input at fault. */
export const refusal = ({ body, status }: Answer): ReadonlyArray<unknown> =>
  body?.error?.param === undefined
    ? [status, body?.error?.code]
    : [status, body.error.code, body.error.param]
