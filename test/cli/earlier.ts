/** What versions before this one have written into a database. */
import { expect } from "@effect/vitest"
import canonicalize from "canonicalize"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { form } from "../../src/layers/crypto/credentials/ApiKeys.ts"
import { readKeys } from "../../src/layers/crypto/Peppers.ts"
import * as World from "../support/world.ts"

const uuid = (n: number) => `0198a000-0000-7000-8000-${String(n).padStart(12, "0")}`
export const at = (minutes: number) => new Date(Date.UTC(2026, 0, 5, 9, minutes))
export const organizationId = "acme"
const owner = uuid(1)
const admin = uuid(2)
const department = uuid(3)
export const filed = uuid(4)
export const free = uuid(5)
const connection = uuid(6)
const bytes = (n: number) => Buffer.alloc(32, n)
export const key = form("osc_live_").write(bytes(1))
export const token = form("osc_oat_").write(bytes(2))

/** What an event says, where it is not what most say. */
interface Entry {
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
  event: Entry
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
export const written = Effect.gen(function*() {
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
  const entries: ReadonlyArray<Entry> = [
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
  const events = entries.map((event, index) => {
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
export const signedIn = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select set_config('role', 'console_app', true), set_config('console.organization_id', ${organizationId}, true)`
  const who = { organization_id: organizationId, admin_id: owner, digest: "a digest", last_used_at: at(5) }
  yield* sql`insert into known_browser ${sql.insert({ ...who, seen_sequence: 0 })}`
  yield* sql`insert into console_session ${sql.insert({ ...who, id: uuid(70), created_at: at(5) })}`
})
