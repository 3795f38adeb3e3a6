import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { type Role, Scope } from "../../src/domain/people/Access.ts"
import { forSpecification } from "../support/postgres/database.ts"
import { at, day, hour, now } from "../support/stored.ts"
import * as World from "../support/world.ts"

const roles = ["owner", "superadmin", "admin", "billing", "archive"] as const

const arrange = Effect.fnUntraced(function*() {
  yield* TestClock.setTime(now.getTime())
  const organization = yield* World.makeOrganization()
  const { admins, id } = organization
  const connect = Effect.fnUntraced(function*(
    role: Role,
    columns: object = {},
    reach: { readonly accounts: ReadonlyArray<string>; readonly departments: ReadonlyArray<string> } = {
      accounts: [],
      departments: []
    }
  ) {
    const connection = crypto.randomUUID()
    yield* World.addRows("ai_connection", id, [{
      id: connection,
      admin_id: admins[role].id,
      kind: "token",
      label: "Token",
      mode: "cloud",
      scopes: ["org:read"],
      scope_type: "accounts",
      created_at: at(-day),
      ...columns
    }])
    for (const account_id of reach.accounts) {
      yield* World.addRows("ai_connection_account", id, [{ connection_id: connection, account_id, place: 1 }])
    }
    for (const department_id of reach.departments) {
      yield* World.addRows("ai_connection_department", id, [{ connection_id: connection, department_id, place: 1 }])
    }
    return connection
  })
  const readAs = (role: Role) => Effect.map(World.get("/v1/ai-connections", admins[role].key), ({ body }) => body)
  return { ...organization, connect, readAs }
})

const oauth = { kind: "oauth", client_name: "Assistant", client_host: "assistant.example.com" }

describe("2.8 ai_connection", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S2.8-01, S2.8-02, S2.8-03, S2.8-07, S2.8-10, S2.8-11: a token with nothing set shows every field", () =>
        Effect.gen(function*() {
          const { connect, readAs } = yield* arrange()
          const id = yield* connect("archive")
          assert.deepStrictEqual((yield* readAs("archive")).connections, [{
            object: "ai_connection",
            id,
            kind: "token",
            label: "Token",
            client: null,
            mode: "cloud",
            scopes: ["org:read"],
            scope_type: "accounts",
            all_accounts: false,
            account_ids: [],
            department_ids: [],
            owner_email: null,
            mine: true,
            has_stored_password: false,
            created_at: at(-day).toISOString(),
            last_used_at: null,
            expires_at: null,
            revoked_at: null
          }])
        }))

      it.effect("S2.8-02, S2.8-03, S2.8-05, S2.8-06, S2.8-07, S2.8-10, S2.8-11: an app with everything set shows it", () =>
        Effect.gen(function*() {
          const { connect, id: organizationId, readAs } = yield* arrange()
          const account = yield* World.makeAccount(organizationId)
          const department = yield* World.makeDepartment(organizationId)
          const id = yield* connect("archive", {
            ...oauth,
            client_known: "assistant_a",
            label: "My app",
            mode: "local",
            scopes: Scope.literals,
            scope_type: "departments",
            has_stored_password: true,
            last_used_at: at(-hour),
            expires_at: at(day),
            revoked_at: at(-1)
          }, { accounts: [account], departments: [department] })
          assert.deepStrictEqual((yield* readAs("archive")).connections, [{
            object: "ai_connection",
            id,
            kind: "oauth",
            label: "My app",
            client: { name: "Assistant", host: "assistant.example.com", known: "assistant_a" },
            mode: "local",
            scopes: [
              "archive:read",
              "org:read",
              "accounts:write",
              "security:write",
              "admins:write",
              "archive:delete"
            ],
            scope_type: "departments",
            all_accounts: false,
            account_ids: [account],
            department_ids: [department],
            owner_email: null,
            mine: true,
            has_stored_password: true,
            created_at: at(-day).toISOString(),
            last_used_at: at(-hour).toISOString(),
            expires_at: at(day).toISOString(),
            revoked_at: at(-1).toISOString()
          }])
        }))

      it.effect("S2.8-02, S2.8-03, S2.8-05, S2.8-07: no other kind, mode or scope type is stored, and an app has its client", () =>
        Effect.gen(function*() {
          const { connect } = yield* arrange()
          const stored = (columns: object) => Effect.map(Effect.exit(connect("owner", columns)), ({ _tag }) => _tag)
          for (
            const columns of [
              { kind: "other" },
              { mode: "other" },
              { scope_type: "other" },
              { kind: "oauth" },
              { ...oauth, client_host: null },
              { ...oauth, kind: "token" },
              { ...oauth, client_known: "other" }
            ]
          ) {
            assert.strictEqual(yield* stored(columns), "Failure")
          }
          assert.strictEqual(yield* stored({ ...oauth, client_known: null }), "Success")
        }))

      it.effect("S2.8-08, S2.8-09: owner and superadmin see whose each is, the others their own without an address", () =>
        Effect.gen(function*() {
          const { admins, connect, id, readAs } = yield* arrange()
          const emails = new Map<string, string>()
          for (const role of roles) {
            yield* World.set(id, "admin", admins[role].id, { email: `${role}@example.com`, archive_access: true })
            emails.set(yield* connect(role, oauth), role)
            emails.set(admins[role].keyId, role)
          }
          for (const role of roles) {
            const { api_keys, connections } = yield* readAs(role)
            const all = [...connections, ...api_keys]
            const everything = role === "owner" || role === "superadmin"
            assert.deepStrictEqual(
              all.map(({ id }) => id).toSorted(),
              [...emails].flatMap(([id, owner]) => everything || owner === role ? [id] : []).toSorted()
            )
            for (const credential of all) {
              const owner = emails.get(credential.id)
              assert.strictEqual(credential.mine, owner === role)
              assert.strictEqual(credential.owner_email, everything ? `${owner}@example.com` : null)
            }
          }
        }))
    })
  })
})

describe("2.8 api_key", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S2.8-01, S2.8-11, S2.8-12: shows every field; expires_at is null for never", () =>
        Effect.gen(function*() {
          const { admins, id, readAs } = yield* arrange()
          yield* TestClock.setTime(now.getTime() + hour)
          const { id: revoked } = yield* World.makeKey(id, admins.billing.id, ["org:read", "accounts:write"], {
            label: "Old",
            expiresAt: at(day),
            facts: { revoked_at: at(hour + 1), last_used_at: at(hour) }
          })
          assert.deepStrictEqual((yield* readAs("billing")).api_keys, [
            {
              object: "api_key",
              id: revoked,
              label: "Old",
              scopes: ["org:read", "accounts:write"],
              owner_email: null,
              mine: true,
              created_at: at(hour).toISOString(),
              last_used_at: at(hour).toISOString(),
              expires_at: at(day).toISOString(),
              revoked_at: at(hour + 1).toISOString()
            },
            {
              object: "api_key",
              id: admins.billing.keyId,
              label: "billing key",
              scopes: Scope.literals,
              owner_email: null,
              mine: true,
              created_at: at(0).toISOString(),
              last_used_at: at(hour).toISOString(),
              expires_at: null,
              revoked_at: null
            }
          ])
        }))

      it.effect("S2.8-12: a key without an end works a century later, one with an end until that moment", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* arrange()
          const { key } = yield* World.makeKey(id, admins.owner.id, ["org:read"], { expiresAt: at(day) })
          const status = (key: Redacted.Redacted) =>
            Effect.map(World.get("/v1/organization", key), ({ status }) => status)
          yield* TestClock.setTime(now.getTime() + day - 1)
          assert.strictEqual(yield* status(key), 200)
          yield* TestClock.setTime(now.getTime() + day)
          assert.strictEqual(yield* status(key), 401)
          yield* TestClock.setTime(now.getTime() + 36_525 * day)
          assert.strictEqual(yield* status(admins.owner.key), 200)
        }))

      it.effect("S2.8-13: no read returns a key, its secret part or what is stored of it", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* arrange()
          const { id: account } = yield* World.makeLiveAccount(id)
          yield* World.post(`/v1/accounts/${account}/pause`, admins.owner.key)
          const digests = yield* World.query<{ digest: string }>(id, (sql) => sql`select digest from api_key`)
          const secrets = [
            ...digests.map(({ digest }) => digest),
            ...roles.flatMap((role) => {
              const key = Redacted.value(admins[role].key)
              return [key, key.slice(key.indexOf("_live_") + 6)]
            })
          ]
          assert.strictEqual(secrets.length, 15)
          const paths = [
            "/v1/ai-connections",
            "/v1/organization",
            "/v1/me/mail-preferences",
            "/v1/settings/notifications",
            "/v1/accounts",
            `/v1/accounts/${account}`,
            `/v1/accounts/${account}/messenger-profile`,
            "/v1/journal"
          ]
          for (const path of paths) {
            const { body, headers, status } = yield* World.get(path, admins.owner.key)
            assert.strictEqual(status, 200)
            const text = JSON.stringify([body, [...headers]])
            for (const secret of secrets) assert.notInclude(text, secret)
          }
        }))
    })
  })
})
