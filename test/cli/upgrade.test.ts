import { describe, expect, it } from "@effect/vitest"
import canonicalize from "canonicalize"
import { Effect, Exit, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import * as path from "node:path"
import * as Environment from "../../src/cli/Environment.ts"
import { form } from "../../src/layers/crypto/ApiKeys.ts"
import { readKeys } from "../../src/layers/crypto/Peppers.ts"
import * as DatabaseFacts from "../../src/layers/sql/DatabaseFacts.ts"
import { verify } from "../../src/layers/sql/Journal.ts"
import * as Migrate from "../../src/layers/sql/Migrate.ts"
import { migrations } from "../../src/layers/sql/migrations/index.ts"
import * as Postgres from "../../src/layers/sql/Postgres.ts"
import * as Roles from "../../src/layers/sql/Roles.ts"
import { read } from "../house/house.ts"
import { freshDirectory, serve } from "../support/cli.ts"
import { createConsole, ownerUrl, postgresLayer } from "../support/databaseRoles.ts"
import { DatabaseServer } from "../support/databaseServer.ts"
import * as Fixtures from "../support/fixtures.ts"
import { doneHere, runHere } from "../support/here.ts"
import * as World from "../support/world.ts"

/** The blocks of SQL in the document's section on databases of earlier versions, in their order. */
const documented = () => {
  const [, section = ""] = /^## PostgreSQL of earlier versions\n([^]*?)^## /m.exec(read("docs/operations.md")) ?? []
  return [...section.matchAll(/^```sql\n([^]*?)^```/gm)].map(([, block = ""]) =>
    block.split("\n").map((line) => line.trim()).filter((line) => line !== "")
  )
}

const upTo = (last: string) => Object.fromEntries(Object.entries(migrations).filter(([name]) => name <= last))

const uuid = (n: number) => `0198a000-0000-7000-8000-${String(n).padStart(12, "0")}`
const at = (minutes: number) => new Date(Date.UTC(2026, 0, 5, 9, minutes))
const organizationId = "acme"
const owner = uuid(1)
const admin = uuid(2)
const department = uuid(3)
const filed = uuid(4)
const free = uuid(5)
const connection = uuid(6)
const bytes = (n: number) => Buffer.alloc(32, n)
const key = form("osc_live_").write(bytes(1))
const token = form("osc_oat_").write(bytes(2))

/** What an event says, where it is not what most say. */
interface Told {
  readonly action: string
  readonly account_id: string
  readonly target?: { readonly type: string; readonly id: string }
  readonly outcome?: string
  readonly details?: Readonly<Record<string, string>>
  readonly closes?: number
  readonly actor?: { readonly type: string; readonly admin_id: null; readonly name: null }
  readonly credential?: null
  readonly via?: string
  readonly ip?: null
  readonly request_id?: null
}

/** An event with its hash, as the version of the fifth migration made them. */
const chained = (
  previous: string,
  sequence: number,
  event: Told
) => {
  const whole = {
    object: "journal_event",
    id: uuid(100 + sequence),
    sequence,
    at: at(sequence).toISOString(),
    outcome: "done",
    actor: { type: "admin", admin_id: owner, name: "Olivia" },
    credential: { kind: "api_key", id: uuid(50), label: "First key" },
    via: "rest",
    details: {},
    ip: "192.0.2.7",
    request_id: `req_${sequence}`,
    closes: null,
    ...event,
    target: event.target ?? null,
    prev_hash: previous
  }
  const hash = crypto.createHash("sha256").update(Buffer.from(previous, "hex")).update(canonicalize(whole) ?? "")
    .digest("hex")
  return { ...whole, hash }
}

/** What that version wrote: an organization with its journal, a key, a connected application and a review. */
const written = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [pepper] = yield* readKeys(Redacted.make(World.peppers))
  const kept = (secret: Redacted.Redacted) => ({
    digest: crypto.createHmac("sha256", Buffer.from(World.peppers, "base64")).update(Redacted.value(secret)).digest(
      "hex"
    ),
    pepper_id: pepper.id
  })
  yield* sql`select set_config('role', 'console_app', true), set_config('console.organization_id', ${organizationId}, true)`
  yield* sql`insert into organization ${
    sql.insert({
      id: organizationId,
      name: "Acme",
      status: "active",
      created_at: at(0),
      managed: true,
      billing_state: "active",
      plan: "governance",
      period: "annual",
      licences_governance: 9,
      seat_limit: 9
    })
  }`
  yield* sql`insert into department ${
    sql.insert({ organization_id: organizationId, id: department, name: "Legal", created_at: at(0) })
  }`
  for (const [id, role] of [[owner, "owner"], [admin, "admin"]] as const) {
    yield* sql`insert into admin ${
      sql.insert({
        organization_id: organizationId,
        id,
        email: `${role}@acme.example`,
        name: role,
        role,
        created_at: at(0),
        joined_at: at(0)
      })
    }`
  }
  for (const [id, department_id, name] of [[filed, department, "Ada"], [free, null, "Zoe"]] as const) {
    yield* sql`insert into account ${
      sql.insert({
        organization_id: organizationId,
        id,
        messenger_user_id: name,
        phone_number: "+31600000000",
        first_name: name,
        name_key: name.toLowerCase(),
        department_id,
        joined_at: at(0),
        connected_at: at(0),
        enforcement_active_at: at(24 * 60),
        monitoring_state: "active"
      })
    }`
  }
  yield* sql`insert into session ${
    sql.insert({ organization_id: organizationId, account_id: free, id: "1", review_deadline: at(60), seen_at: at(1) })
  }`
  yield* sql`insert into admin_department ${
    sql.insert({ organization_id: organizationId, admin_id: admin, department_id: department })
  }`
  yield* sql`insert into api_key ${
    sql.insert({
      organization_id: organizationId,
      id: uuid(50),
      admin_id: owner,
      label: "First key",
      scopes: ["org:read", "accounts:write", "journal:read"],
      ...kept(key),
      created_at: at(0)
    })
  }`
  yield* sql`insert into ai_connection ${
    sql.insert({
      organization_id: organizationId,
      id: connection,
      admin_id: owner,
      kind: "oauth",
      label: "Helper",
      client_name: "Helper",
      client_host: "helper.example",
      mode: "cloud",
      scopes: ["org:read"],
      scope_type: "accounts",
      resource: `${World.baseUrl}/v1`,
      created_at: at(0)
    })
  }`
  yield* sql`update ai_connection set account_ids = array[${filed}::uuid] where organization_id = ${organizationId}`
  yield* sql`insert into oauth_token ${
    sql.insert({
      organization_id: organizationId,
      ...kept(token),
      connection_id: connection,
      kind: "access",
      scopes: ["org:read"],
      created_at: at(0),
      expires_at: at(1_000_000)
    })
  }`
  let head = crypto.createHash("sha256").update(`journal/1\n${organizationId}`).digest("hex")
  const told: ReadonlyArray<Told> = [
    {
      action: "account.role_label_changed",
      account_id: filed,
      target: { type: "account", id: filed },
      details: { role_label: "Pilot" }
    },
    { action: "messenger_profile.updated", account_id: free, outcome: "pending", details: { fields: "about" } },
    {
      action: "messenger_profile.updated",
      account_id: free,
      outcome: "failed",
      details: { error: "unknown" },
      closes: 2,
      actor: { type: "service", admin_id: null, name: null },
      credential: null,
      via: "background",
      ip: null,
      request_id: null
    },
    { action: "account.paused", account_id: filed, target: { type: "account", id: filed } }
  ]
  const events = told.map((event, index) => {
    const made = chained(head, index + 1, event)
    head = made.hash
    return made
  })
  for (const { actor, at, credential, details, target, ...made } of events) {
    const { object, ...event } = made
    expect(object).toBe("journal_event")
    const place: unknown = event.account_id === filed ? department : null
    yield* sql`insert into journal_event ${
      sql.insert({
        organization_id: organizationId,
        ...event,
        at: new Date(at),
        department_id: place,
        actor_type: actor.type,
        actor_admin_id: actor.admin_id,
        actor_name: actor.name,
        credential_kind: credential?.kind ?? null,
        credential_id: credential?.id ?? null,
        credential_label: credential?.label ?? null,
        target_type: target?.type ?? null,
        target_id: target?.id ?? null,
        details: JSON.stringify(details)
      })
    }`
  }
  yield* sql`insert into journal_head ${
    sql.insert({ organization_id: organizationId, sequence: events.length, hash: head, at: at(events.length) })
  }`
  return head
})

/** A browser that is known and a session in it, as the version of the thirty-sixth migration kept them. */
const signedIn = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select set_config('role', 'console_app', true), set_config('console.organization_id', ${organizationId}, true)`
  const who = { organization_id: organizationId, admin_id: owner, digest: "a digest", last_used_at: at(5) }
  yield* sql`insert into known_browser ${sql.insert({ ...who, seen_sequence: 0 })}`
  yield* sql`insert into console_session ${sql.insert({ ...who, id: uuid(70), created_at: at(5) })}`
})

/** What `serve` would warn of, and what `status` says of the owner. */
const looked = Effect.gen(function*() {
  const warned: Array<string> = []
  const logger = Logger.make(({ message }) => void warned.push(String(message)))
  yield* Effect.provide(Environment.warnOwner, Logger.layer([logger]))
  const { owns_tables, schema } = yield* DatabaseFacts.facts
  return { warned, owns_tables, upToDate: schema.applied === schema.known }
})

/** The service works as it did: credentials, journal, search, lists by status, writes. */
const works = (events: number) =>
  Effect.gen(function*() {
    const verified = yield* Fixtures.within(organizationId, verify(organizationId))
    expect(verified).toMatchObject({ ok: true, sequence: events })
    expect((yield* World.get("/v1/organization", key)).body).toMatchObject({ id: organizationId })
    const page = (path: string, secret: Redacted.Redacted) =>
      Effect.map(World.get(path, secret), ({ body }) => body.data.map(({ id }: { readonly id: string }) => id))
    expect(yield* page("/v1/accounts", token)).toEqual([filed])
    expect(yield* page("/v1/accounts?status=new_sign_in", key)).toEqual([free])
    expect(yield* page("/v1/account-search?query=zo", key)).toEqual([free])
    expect((yield* World.post(`/v1/accounts/${filed}/pause`, key)).status).toBe(200)
    expect((yield* World.post(`/v1/accounts/${filed}/resume`, key)).status).toBe(200)
    const after = yield* Fixtures.within(organizationId, verify(organizationId))
    expect(after).toMatchObject({ ok: true, sequence: events + 2 })
  })

describe("a database of an earlier version", () => {
  it.effect(
    "comes over with its journal, keys and connections, served by the tables' owner and then by a role that owns nothing",
    () =>
      Effect.gen(function*() {
        const server = yield* Effect.acquireRelease(
          Effect.promise(() => DatabaseServer.start()),
          (server) => Effect.promise(() => server.remove())
        )
        const url = server.url("console", "console")
        const as = (address: string) => <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
          Effect.orDie(Effect.provide(effect, Layer.fresh(postgresLayer(address))))
        const run = (address: string, statements: ReadonlyArray<string>) =>
          as(address)(SqlClient.SqlClient.use((sql) =>
            Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
          ))
        const serving = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.provide(effect, Layer.fresh(World.world(postgresLayer(url))))
        const asLogin = Postgres.layer({ url: Redacted.make(url) })

        // As the documents of that version had it made.
        yield* run(server.url(), [
          "create role console_app nologin",
          `create role console login password '${server.password}' in role console_app`,
          "create database console owner console"
        ])
        yield* Effect.provide(Migrate.run(upTo("0005~")), Layer.fresh(asLogin))
        yield* Effect.provide(
          SqlClient.SqlClient.use((sql) =>
            sql.withTransaction(written)
          ),
          Layer.fresh(asLogin)
        )

        const [before = [], separation = [], ...others] = documented()
        expect(others).toEqual([])
        yield* run(server.url("console"), before)
        yield* Effect.provide(
          Effect.gen(function*() {
            const sql = yield* SqlClient.SqlClient
            yield* Roles.ensure({ alone: true })
            yield* Migrate.run(upTo("0036~"))
            yield* sql.withTransaction(signedIn)
            yield* Migrate.run(migrations)
          }),
          Layer.fresh(asLogin)
        )
        expect(
          yield* as(server.url("console"))(
            SqlClient.SqlClient.use((sql) => sql`select known_since, long_known from known_browser, console_session`)
          )
        ).toEqual([{ known_since: at(5), long_known: false }])
        yield* TestClock.setTime(at(100).getTime())
        yield* serving(works(4))
        const owned = yield* serving(looked)
        expect(owned).toMatchObject({ owns_tables: true, upToDate: true })
        expect(owned.warned).toEqual([expect.stringContaining("The service's login role console owns the tables")])
        const statements = separation.map((line) => line.replace("'choose another'", "'...'"))
        expect(owned.warned[0]?.replaceAll("\"", "")).toContain(statements.join(" "))

        yield* run(server.url("console"), separation.map((line) => line.replace("choose another", server.password)))
        yield* serving(works(6))
        expect(yield* serving(looked)).toEqual({ warned: [], owns_tables: false, upToDate: true })
        const rewritten = yield* Effect.exit(
          Effect.provide(
            SqlClient.SqlClient.use((sql) => sql`alter table journal_event disable trigger all`),
            Layer.fresh(asLogin)
          )
        )
        expect(Exit.isFailure(rewritten)).toBe(true)

        // From then on the owner migrates, and the service's login role cannot.
        const later = {
          ...migrations,
          "9000_extend": SqlClient.SqlClient.use((sql) => sql`alter table account add column later text`)
        }
        const refused = yield* Effect.exit(Effect.provide(Migrate.run(later), Layer.fresh(asLogin)))
        expect(Exit.isFailure(refused)).toBe(true)
        expect(yield* as(ownerUrl(url))(Migrate.run(later))).toEqual([[9000, "extend"]])
      }).pipe(Effect.scoped),
    120_000
  )
})

describe("the migration URL", () => {
  it.effect(
    "names the role that brings the schema up to date, for migrate and for serve, which then warns of nothing",
    () =>
      Effect.gen(function*() {
        const server = yield* Effect.acquireRelease(
          Effect.promise(() => DatabaseServer.start()),
          (server) => Effect.promise(() => server.remove())
        )
        const url = yield* Effect.promise(() => createConsole(server, "console"))
        const env = {
          CONSOLE_DATABASE_URL: url,
          CONSOLE_PEPPERS: World.peppers,
          CONSOLE_CHECKPOINT_KEYS: World.checkpointKeys,
          CONSOLE_CSRF_KEYS: World.csrfKeys,
          CONSOLE_DATA: path.join(freshDirectory(), "never")
        }
        const migrated = { ...env, CONSOLE_MIGRATION_URL: ownerUrl(url) }
        yield* Effect.promise(async () => {
          const refused = await runHere(["migrate"], { env })
          expect([refused.status, refused.stdout]).toEqual([1, ""])
          expect(refused.stderr).toContain("permission denied")
          const service = await serve(["--migrate"], migrated)
          expect(service.stderr()).not.toContain("owns the tables")
          expect(await service.stop()).toBe(0)
          expect(await doneHere(["migrate"], { env: migrated })).toBe("The schema is up to date.\n")
          const { database } = JSON.parse((await runHere(["status", "--json"], { env })).stdout)
          expect(database).toMatchObject({ role: "console", owns_tables: false, jobs: null })
        })
      }).pipe(Effect.scoped),
    180_000
  )
})
