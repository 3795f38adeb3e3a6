import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { contentNotice } from "../../src/domain/JsonShapes.ts"
import { Role } from "../../src/domain/people/Access.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const path = "/v1/ai-connections"
const at = (second: number) => new Date(1_000_000_000_000 + second * 1000)

const connection = (adminId: string, kind: "token" | "oauth", second: number, facts: Record<string, unknown> = {}) => ({
  id: crypto.randomUUID(),
  admin_id: adminId,
  kind,
  label: `${kind} ${second}`,
  client_name: kind === "oauth" ? "App" : null,
  client_host: kind === "oauth" ? "app.example" : null,
  mode: "cloud",
  scopes: ["org:read"],
  scope_type: "accounts",
  created_at: at(second),
  ...facts
})

/** An organization in which every admin has a connection of either kind. */
const make = Effect.gen(function*() {
  const organization = yield* World.makeOrganization()
  const rows = Object.values(organization.admins).flatMap(({ id }, index) => [
    connection(id, "token", 2 * index),
    connection(id, "oauth", 2 * index + 1)
  ])
  yield* World.addRows("ai_connection", organization.id, rows)
  return { organization, rows }
})

const ids = (items: ReadonlyArray<{ readonly id: string }>) => items.map(({ id }) => id)
const newest = (items: ReadonlyArray<{ readonly created_at: string }>) => items.map(({ created_at }) => created_at)

describe("4.2 list_ai_connections", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S4.2-01: takes no parameters, and answers the notice, connections and keys in a shape of its own", () =>
        Effect.gen(function*() {
          const { admins } = yield* World.makeOrganization()
          const { body } = yield* World.get(path, admins.owner.key)
          expect(Object.keys(body).sort()).toEqual(["api_keys", "connections", "content_notice", "object"])
          expect(body).toMatchObject({ object: "ai_connections", content_notice: contentNotice, connections: [] })
          for (const query of ["limit", "starting_after"]) {
            expect(World.refusal(yield* World.get(`${path}?${query}=1`, admins.owner.key))).toEqual(
              [400, "parameter_invalid", query]
            )
          }
        }))

      it.effect("S4.2-02: the answer holds every credential, however many, and no has_more", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { id, key } = organization.admins.owner
          const rows = Array.from({ length: 130 }, (_, index) => connection(id, "oauth", index))
          yield* World.addRows("ai_connection", organization.id, rows)
          for (let made = 0; made < 110; made++) yield* World.makeKey(organization.id, id)
          const { body } = yield* World.get(path, key)
          expect(body.connections).toHaveLength(130)
          expect(new Set(ids(body.connections)).size).toBe(130)
          expect(body.api_keys).toHaveLength(115)
          expect(body).not.toHaveProperty("has_more")
        }))

      it.effect("S4.2-03: connections and keys are each newest first, whatever the order in which they are kept", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { id, key } = organization.admins.owner
          const seconds = [5, 1, 9, 3, 7, 2, 8]
          yield* World.addRows(
            "ai_connection",
            organization.id,
            seconds.map((second) => connection(id, "oauth", second))
          )
          for (const second of seconds) {
            yield* World.makeKey(organization.id, id, undefined, { facts: { created_at: at(second) } })
          }
          const { body } = yield* World.get(path, key)
          const times = [9, 8, 7, 5, 3, 2, 1].map((second) => at(second).toISOString())
          expect(newest(body.connections)).toEqual(times)
          expect(newest(body.api_keys).slice(0, 7)).toEqual(times)
          expect([...newest(body.api_keys)].sort().toReversed()).toEqual(newest(body.api_keys))
        }))

      it.effect("S4.2-04: owner and superadmins see every credential, with the address of the admin it acts as", () =>
        Effect.gen(function*() {
          const { organization, rows } = yield* make
          const emails = yield* World.query<{ id: string; email: string }>(
            organization.id,
            (sql) => sql`select id, email from admin where organization_id = ${organization.id}`
          )
          for (const role of ["owner", "superadmin"] as const) {
            const me = organization.admins[role]
            const { body } = yield* World.get(path, me.key)
            expect(ids(body.connections).sort()).toEqual(ids(rows).sort())
            expect(ids(body.api_keys).sort()).toEqual(
              Object.values(organization.admins).map(({ keyId }) => keyId).sort()
            )
            for (const item of body.connections) {
              const adminId = rows.find(({ id }) => id === item.id)!.admin_id
              expect(item.owner_email).toBe(emails.find(({ id }) => id === adminId)!.email)
              expect(item.mine).toBe(adminId === me.id)
            }
            for (const item of body.api_keys) {
              const owner = Object.values(organization.admins).find(({ keyId }) => keyId === item.id)!
              expect(item.owner_email).toBe(emails.find(({ id }) => id === owner.id)!.email)
              expect(item.mine).toBe(owner.id === me.id)
            }
          }
        }))

      it.effect("S4.2-05: any other role sees its own credentials alone, and no address", () =>
        Effect.gen(function*() {
          const { organization, rows } = yield* make
          yield* World.set(organization.id, "admin", organization.admins.admin.id, { archive_access: true })
          for (const role of ["admin", "archive"] as const) {
            const me = organization.admins[role]
            const { body } = yield* World.get(path, me.key)
            expect(ids(body.connections).sort()).toEqual(
              ids(rows.filter(({ admin_id }) => admin_id === me.id)).sort()
            )
            expect(ids(body.api_keys)).toEqual([me.keyId])
            for (const item of [...body.connections, ...body.api_keys]) {
              expect(item).toMatchObject({ mine: true, owner_email: null })
            }
          }
        }))

      it.effect("S4.2-06: a role that may not read the archive sees the apps that it connected itself, no tokens, and its own keys", () =>
        Effect.gen(function*() {
          const { organization, rows } = yield* make
          for (const role of Role.literals.filter((role) => role === "admin" || role === "billing")) {
            const me = organization.admins[role]
            const own = rows.filter(({ admin_id }) => admin_id === me.id)
            const { body } = yield* World.get(path, me.key)
            expect(ids(body.connections)).toEqual(ids(own.filter(({ kind }) => kind === "oauth")))
            expect(ids(body.api_keys)).toEqual([me.keyId])
          }
        }))

      it.effect("S4.2-07: revoked and expired credentials stay listed, with when", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(at(100).getTime())
          const organization = yield* World.makeOrganization()
          const { id, key } = organization.admins.owner
          const past = { revoked_at: at(10), expires_at: at(20), last_used_at: at(5) }
          yield* World.addRows("ai_connection", organization.id, [connection(id, "oauth", 1, past)])
          const dead = yield* World.makeKey(organization.id, id, ["org:read"], {
            label: "Dead",
            expiresAt: at(20),
            facts: { revoked_at: at(10), last_used_at: at(5) }
          })
          expect(World.refusal(yield* World.get(path, dead.key))).toEqual([401, "invalid_api_key"])
          const { body } = yield* World.get(path, key)
          const shared = {
            revoked_at: at(10).toISOString(),
            expires_at: at(20).toISOString(),
            last_used_at: at(5).toISOString()
          }
          expect(body.connections).toMatchObject([shared])
          expect(body.api_keys.find((item: any) => item.id === dead.id)).toEqual({
            object: "api_key",
            id: dead.id,
            label: "Dead",
            scopes: ["org:read"],
            owner_email: expect.any(String),
            mine: true,
            created_at: at(100).toISOString(),
            ...shared
          })
        }))

      it.effect("S4.2-08: no answer holds a key, a part of one, or what is kept of it", () =>
        Effect.gen(function*() {
          const { organization } = yield* make
          const kept = yield* World.query<{ digest: string; pepper_id: string }>(
            organization.id,
            (sql) => sql`select digest, pepper_id from api_key where organization_id = ${organization.id}`
          )
          expect(kept).toHaveLength(5)
          for (const { key } of Object.values(organization.admins)) {
            const text = JSON.stringify((yield* World.get(path, key)).body)
            for (const { digest, pepper_id } of kept) {
              expect(text).not.toContain(digest)
              expect(text).not.toContain(pepper_id)
            }
            for (const other of Object.values(organization.admins)) {
              expect(text).not.toContain(Redacted.value(other.key).slice(-20))
            }
            expect(text).not.toContain("_live_")
          }
        }))
    })
  })
})
