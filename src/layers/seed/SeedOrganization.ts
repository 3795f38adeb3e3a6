/** Makes an organization of a seed file, with everything in it. */
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../domain/accounts/Account.ts"
import { OrganizationId } from "../../domain/people/Access.ts"
import type { NewSecret } from "../../ports/security/Secrets.ts"
import * as Provisioning from "../sql/Provisioning.ts"
import * as Secrets from "../sql/security/Secrets.ts"
import { resolve, type SeedAccount, type SeedOrganization } from "./Seed.ts"
import * as SeedArchive from "./SeedArchive.ts"
import { SeedInvalid } from "./SeedFault.ts"
import { appendHistory } from "./SeedJournal.ts"
import { accountFacts, adminFacts, columns, organizationFacts, sessionFacts } from "./SeedRows.ts"
import { connect, type SeededUser } from "./SimulatedUsers.ts"

/** A key that was made, once and never again readable. */
export interface LoadedKey {
  readonly organization: string
  readonly label: string
  readonly admin: string
  readonly key: Redacted.Redacted
}

/** The statements that follow run as the role, inside the organization. */
const enter = (sql: SqlClient.SqlClient, role: string, organizationId: string) =>
  Effect.orDie(sql`select set_config('role', ${role}, true),
    set_config('console.organization_id', ${organizationId}, true)`)

const currentRole = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.orDie(sql<{ role: string }>`select current_user::text as role`)
  return row?.role ?? (yield* Effect.die(new Error("The database does not say who we are")))
})

const find = (ids: ReadonlyMap<string, string>, name: string): string => {
  const id = ids.get(name)
  if (id === undefined) throw new Error(`The seed was not checked: ${name}`)
  return id
}

/** The service's secrets of the account; of a passkey only that it has one, because nobody signs in with it. */
const heldSecrets = (messenger: SeedAccount["messenger"]): ReadonlyArray<NewSecret> => [
  ...(messenger?.two_fa_managed === true && messenger.two_fa_password !== undefined
    ? [{ kind: "two_fa" as const, secret: Redacted.make(messenger.two_fa_password) }]
    : []),
  ...(messenger?.passkey_managed === true && messenger.passkey_id !== undefined
    ? [{ kind: "passkey" as const, passkeyId: messenger.passkey_id, secret: Redacted.make("seeded") }]
    : [])
]

/** Makes one account with its sessions, and answers its id and theirs. */
const makeAccount = Effect.fnUntraced(function*(
  organizationId: string,
  seed: SeedAccount,
  known: SeededUser | undefined,
  departments: ReadonlyMap<string, string>,
  admins: ReadonlyMap<string, string>,
  now: Date
) {
  const random = yield* SecureRandom.SecureRandom
  const { messenger } = seed
  const id = yield* random.uuidV7()
  yield* Provisioning.account(organizationId, {
    id,
    phone: seed.phone,
    ...(known === undefined ? {} : { messengerUserId: known.userId }),
    first_name: seed.first_name ?? null,
    last_name: seed.last_name ?? null,
    username: seed.username ?? null,
    facts: {
      ...accountFacts(
        seed,
        seed.department === undefined ? undefined : find(departments, seed.department),
        now
      ),
      ...(known === undefined ? {} : { session_ref: known.sessionRef })
    }
  })
  yield* Secrets.provision(
    { organizationId: OrganizationId.make(organizationId), accountId: AccountId.make(id) },
    heldSecrets(messenger)
  )
  if (known !== undefined && known.paired !== null) yield* Provisioning.paired(organizationId, id, known.paired)
  const sessions = yield* Effect.forEach(seed.sessions ?? [], (session, index) =>
    Effect.gen(function*() {
      const made = known?.sessions[index]
      return {
        account_id: id,
        ...sessionFacts(session, now),
        id: made?.id ?? session.id ?? (yield* random.uuidV7()),
        ...(made?.service === true ? { service: true } : {}),
        ...(session.approved_by === undefined ? {} : { approved_by: find(admins, session.approved_by) })
      }
    }))
  yield* Provisioning.rows("session", organizationId, sessions)
  yield* Provisioning.rows(
    "termination",
    organizationId,
    (seed.terminations ?? []).map((termination) => ({
      account_id: id,
      session_id: termination.session_id,
      device_label: termination.device_label ?? null,
      detected_at: resolve(termination.detected_at, now),
      actor: termination.actor,
      reason: termination.reason ?? null
    }))
  )
  const named = (seed.sessions ?? []).map(({ device_model }, index) =>
    [device_model ?? "", sessions[index]?.id ?? ""] as const
  )
  return { id, sessions: new Map(named) }
})

/** Makes one organization with everything in it, and answers its keys. */
export const makeOrganization = Effect.fnUntraced(function*(seed: SeedOrganization, now: Date) {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const people = yield* Effect.forEach(
    seed.accounts ?? [],
    (account, index) =>
      Effect.mapError(connect(account, now), (refusal) =>
        new SeedInvalid({
          faults: [{
            path: `organizations(${seed.id}).accounts[${index}].messenger`,
            message: `the messenger refuses it: ${refusal.reason.replaceAll("_", " ")}`
          }]
        }))
  )
  const owner = yield* currentRole
  yield* enter(sql, "console_app", seed.id)
  yield* Provisioning.organization({ id: seed.id, name: seed.name, facts: organizationFacts(seed, now) })

  const departments = new Map<string, string>()
  for (const name of seed.departments ?? []) {
    const id = yield* random.uuidV7()
    departments.set(name, id)
    yield* Provisioning.rows("department", seed.id, [{ id, name, created_at: now }])
  }
  const admins = new Map<string, string>()
  for (const admin of seed.admins) {
    const { email, name, role } = admin
    const facts = adminFacts(admin, now)
    admins.set(
      email,
      yield* Provisioning.admin(seed.id, { email, role, ...(name === undefined ? {} : { name }), facts })
    )
  }
  const accounts = new Map<string, string>()
  const sessions = new Map<string, ReadonlyMap<string, string>>()
  for (const [index, account] of (seed.accounts ?? []).entries()) {
    const made = yield* makeAccount(seed.id, account, people[index], departments, admins, now)
    accounts.set(account.phone, made.id)
    sessions.set(account.phone, made.sessions)
  }
  yield* Provisioning.rows(
    "archive_rule",
    seed.id,
    yield* Effect.forEach(
      seed.archive?.rules ?? [],
      ({ chat_type, effect, live = true, media = "all" }) =>
        Effect.map(random.uuidV7(), (rule_id) => ({
          rule_id,
          level: "organization",
          chat_type,
          effect,
          live,
          media,
          updated_at: now
        }))
    )
  )
  if (seed.archive?.password !== undefined) {
    const organizationId = OrganizationId.make(seed.id)
    const key = yield* SeedArchive.makeKey(organizationId, seed.archive.password, now)
    for (const account of seed.accounts ?? []) {
      const accountId = AccountId.make(find(accounts, account.phone))
      yield* SeedArchive.writeChats(organizationId, accountId, account, key, now)
    }
  }
  for (const admin of seed.admins) {
    const admin_id = find(admins, admin.email)
    yield* Provisioning.rows(
      "admin_account",
      seed.id,
      (admin.accounts ?? []).map((phone) => ({ admin_id, account_id: find(accounts, phone) }))
    )
    yield* Provisioning.rows(
      "admin_department",
      seed.id,
      (admin.departments ?? []).map((name) => ({ admin_id, department_id: find(departments, name) }))
    )
  }
  const links = [
    ...Array.from({ length: seed.unused_sign_up_links ?? 0 }, () => null),
    ...Array.from({ length: seed.used_sign_up_links ?? 0 }, () => now)
  ]
  for (const used_at of links) {
    yield* Provisioning.rows("sign_up_link", seed.id, [{ id: yield* random.uuidV7(), created_at: now, used_at }])
  }
  for (const connection of seed.ai_connections ?? []) {
    const connection_id = yield* random.uuidV7()
    yield* Provisioning.rows("ai_connection", seed.id, [{
      id: connection_id,
      admin_id: find(admins, connection.admin),
      kind: connection.kind,
      label: connection.label,
      client_name: connection.client?.name ?? null,
      client_host: connection.client?.host ?? null,
      client_known: connection.client?.known ?? null,
      mode: connection.mode ?? "cloud",
      scopes: connection.scopes,
      scope_type: connection.departments === undefined ? "accounts" : "departments",
      has_stored_password: connection.has_stored_password ?? false,
      created_at: resolve(connection.created_at ?? "now", now),
      ...columns(now, {}, {
        last_used_at: connection.last_used_at,
        expires_at: connection.expires_at,
        revoked_at: connection.revoked_at
      })
    }])
    yield* Provisioning.rows(
      "ai_connection_account",
      seed.id,
      [...new Set(connection.accounts)].map((phone, place) => ({
        connection_id,
        account_id: find(accounts, phone),
        place
      }))
    )
    yield* Provisioning.rows(
      "ai_connection_department",
      seed.id,
      [...new Set(connection.departments)].map((name, place) => ({
        connection_id,
        department_id: find(departments, name),
        place
      }))
    )
  }
  const requests = seed.support_requests ?? []
  for (const [place, { admin, ...text }] of requests.entries()) {
    yield* Provisioning.rows("support_request", seed.id, [{
      id: yield* random.uuidV7(),
      number: place + 1,
      ...text,
      created_by: find(admins, admin),
      created_at: now,
      updated_at: now
    }])
  }
  yield* Effect.orDie(sql`update organization set support_number = ${requests.length} where id = ${seed.id}`)
  yield* appendHistory(seed, { ids: new Map([...admins, ...accounts]), sessions }, now)
  const keys = yield* Effect.forEach(seed.api_keys ?? [], (key) =>
    Effect.map(
      Provisioning.apiKey(seed.id, find(admins, key.admin), {
        label: key.label,
        scopes: key.scopes,
        ...(key.expires_at === undefined
          ? {}
          : { expiresAt: key.expires_at === null ? null : resolve(key.expires_at, now) }),
        facts: columns(now, {}, {
          created_at: key.created_at,
          last_used_at: key.last_used_at,
          revoked_at: key.revoked_at
        })
      }),
      (made): LoadedKey => ({ organization: seed.id, label: key.label, admin: key.admin, key: made.key })
    ))
  yield* enter(sql, owner, "")
  yield* Provisioning.rows(
    "status_sample",
    seed.id,
    (seed.status_samples ?? []).map(({ accounts, at }) => ({
      at: resolve(at, now),
      accounts: JSON.stringify(accounts)
    }))
  )
  return keys
}, Effect.provide(SeedArchive.layer, { local: true }))
