import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import * as ApiKeys from "../../src/operator/credentials/ApiKeys.ts"
import * as Admins from "../../src/operator/people/Admins.ts"
import * as OAuth from "../oauth/support.ts"
import * as Pages from "../support/http/pages.ts"
import { forSpecification } from "../support/postgres/database.ts"
import { replicas } from "../support/replicas.ts"
import * as World from "../support/world.ts"

const day = 86_400_000

interface Made {
  readonly id: string
  readonly secret: string
  readonly expires_at: string | null
}

/** Makes a key with a key, which must be allowed to. */
const makeWith = (key: World.Person["key"] | string, expires_in_days?: number | null) =>
  Effect.map(
    World.send("POST", "/v1/api-keys", {
      key,
      body: {
        label: "Child",
        scopes: ["org:read", "admins:write"],
        current_password: Pages.password,
        ...(expires_in_days === undefined ? {} : { expires_in_days })
      }
    }),
    ({ body, status }): Made => {
      expect([status, body]).toEqual([200, expect.anything()])
      return body
    }
  )

const works = (key: World.Person["key"] | string) =>
  Effect.map(World.get("/v1/organization", key), ({ status }) => status === 200)

const listed = (key: World.Person["key"] | string, id: string) =>
  Effect.map(
    World.get("/v1/ai-connections", key),
    ({ body }) => [...body.api_keys, ...body.connections].find((one: Made) => one.id === id)
  )

const stage = Effect.gen(function*() {
  const organization = yield* World.makeOrganization()
  const { owner } = organization.admins
  yield* Pages.givePassword(organization.id, owner.id)
  return { ...organization, owner, email: yield* Pages.emailOf(organization.id, owner.id) }
})

const newPassword = "seven green lanterns hum"

describe("5.1 a key that a key makes", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("expires no later than the key that made it, and the answer says when", () =>
        Effect.gen(function*() {
          const { id, owner } = yield* stage
          const parent = yield* World.makeKey(id, owner.id, undefined, { expiresAt: new Date(10 * day) })
          const ends = new Date(10 * day).toISOString()
          expect((yield* makeWith(parent.key, null)).expires_at).toBe(ends)
          expect((yield* makeWith(parent.key)).expires_at).toBe(ends)
          expect((yield* makeWith(parent.key, 3)).expires_at).toBe(new Date(3 * day).toISOString())
          const child = yield* makeWith(parent.key, 3650)
          const grandchild = yield* makeWith(child.secret, null)
          expect([child.expires_at, grandchild.expires_at]).toEqual([ends, ends])
          yield* TestClock.adjust(10 * day - 1)
          expect([yield* works(child.secret), yield* works(grandchild.secret)]).toEqual([true, true])
          yield* TestClock.adjust(1)
          expect([yield* works(child.secret), yield* works(grandchild.secret)]).toEqual([false, false])
          const never = yield* World.makeKey(id, owner.id)
          expect((yield* makeWith(never.key, null)).expires_at).toBe(null)
        }))

      it.effect("is revoked with it at any depth, by the API and by the operator, and no other key is", () =>
        Effect.gen(function*() {
          const { id, owner } = yield* stage
          for (const way of ["api", "operator"]) {
            const root = yield* World.makeKey(id, owner.id)
            const beside = yield* makeWith(root.key)
            const child = yield* makeWith(root.key)
            const grandchild = yield* makeWith(child.secret)
            const deepest = yield* makeWith(grandchild.secret)
            if (way === "api") yield* World.send("DELETE", `/v1/api-keys/${child.id}`, { key: owner.key })
            else yield* ApiKeys.revokeKey.run({ organization: id, key_id: child.id.toUpperCase() })
            const all = [root.key, beside.secret, child.secret, grandchild.secret, deepest.secret]
            expect([way, yield* Effect.forEach(all, works)]).toEqual([way, [true, true, false, false, false]])
            expect((yield* listed(owner.key, deepest.id)).revoked_at).toBe(
              (yield* listed(owner.key, child.id)).revoked_at
            )
            expect((yield* World.journal(id)).at(-1)).toMatchObject({
              action: "api_key.revoked",
              target_id: child.id,
              details: { keys_made_with_it: 2 }
            })
          }
        }))

      it.effect("ends with it by a later password, and is not made by a key that has just ended", () =>
        Effect.gen(function*() {
          const { email, id, owner } = yield* stage
          const child = yield* makeWith(owner.key)
          yield* TestClock.adjust("1 second")
          yield* Admins.setPassword.run({ organization: id, email, password: Redacted.make(newPassword) })
          expect([yield* works(owner.key), yield* works(child.secret)]).toEqual([false, false])
        }))
    })
  })
})

describe("5.1 the operator sets a password", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("which disconnects the admin's applications, ends their keys and console sessions, and says how many", () =>
        Effect.gen(function*() {
          const { connect, organization: { admins, id }, owner } = yield* OAuth.stage()
          const tokens = OAuth.tokens(yield* OAuth.redeemWith(yield* connect()))
          const waiting = yield* connect()
          const cookie = yield* Pages.signIn(id, owner.id)
          const others = yield* Pages.signIn(id, admins.admin.id)
          const email = yield* Pages.emailOf(id, owner.id)
          yield* TestClock.adjust("1 second")
          expect(yield* Admins.setPassword.run({ organization: id, email, password: Redacted.make(newPassword) }))
            .toMatchObject({ ended: { api_keys: 1, connections: 2, sessions: 2 } })
          expect((yield* World.get("/v1/organization", tokens.access_token)).status).toBe(401)
          const refused = yield* OAuth.refreshWith(waiting.application, tokens.refresh_token)
          expect([refused.status, refused.body.error]).toEqual([400, "invalid_grant"])
          expect((yield* OAuth.redeemWith(waiting)).status).toBe(400)
          expect((yield* OAuth.connections(id)).map(({ revoked_at }) => revoked_at)).toEqual([
            expect.any(Date),
            expect.any(Date)
          ])
          const left = yield* World.query(
            id,
            (sql) => sql`select digest from oauth_token where organization_id = ${id}`
          )
          expect(left).toEqual([])
          expect((yield* Pages.visit("GET", "/console/developer", { cookie })).status).toBe(303)
          expect((yield* Pages.visit("GET", "/console/developer", { cookie: others })).status).toBe(200)
          expect(yield* works(admins.superadmin.key)).toBe(true)
          expect((yield* World.journal(id)).at(-1)).toMatchObject({
            action: "admin.password_set",
            actor_type: "operator",
            target_id: owner.id,
            details: { api_keys: 1, connections: 2, sessions: 2 }
          })
        }))
    })
  })
})

describe("4.2 credentials that ended with their admin", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("show the moment of the password that ended them, a later one too", () =>
        Effect.gen(function*() {
          const { email, id, owner, admins } = yield* stage
          const short = yield* World.makeKey(id, owner.id, undefined, { expiresAt: new Date(500) })
          yield* TestClock.setTime(1000)
          yield* Admins.setPassword.run({ organization: id, email, password: Redacted.make(newPassword) })
          yield* TestClock.setTime(2000)
          yield* Admins.setPassword.run({ organization: id, email, password: Redacted.make(`${newPassword} again`) })
          const at = new Date(1000).toISOString()
          expect((yield* listed(admins.superadmin.key, owner.keyId)).revoked_at).toBe(at)
          expect((yield* listed(admins.superadmin.key, short.id)).revoked_at).toBe(null)
          // As an earlier version left it.
          yield* World.set(id, "admin", admins.admin.id, { password_changed_at: new Date(1500) })
          expect((yield* listed(admins.superadmin.key, admins.admin.keyId)).revoked_at).toBe(
            new Date(1500).toISOString()
          )
        }))

      it.effect("show the moment at which the admin was disabled, and live again when the admin is enabled", () =>
        Effect.gen(function*() {
          const { organization: { admins, id }, owner, tokens, connectionId } = yield* OAuth.connected({}, "superadmin")
          const { superadmin } = admins
          const email = yield* Pages.emailOf(id, superadmin.id)
          const seen = owner.key
          yield* TestClock.setTime(1000)
          yield* Admins.disableAdmin.run({ organization: id, email })
          const at = new Date(1000).toISOString()
          expect((yield* listed(seen, superadmin.keyId)).revoked_at).toBe(at)
          expect((yield* listed(seen, connectionId)).revoked_at).toBe(at)
          const page = yield* Pages.visit("GET", "/console/developer", { cookie: yield* Pages.signIn(id, owner.id) })
          expect(page.text).toMatch(/superadmin key<\/bdi><\/h3>\s*<span class="tone is-[a-z]+">Revoked/)
          yield* Admins.enableAdmin.run({ organization: id, email })
          expect((yield* listed(seen, superadmin.keyId)).revoked_at).toBe(null)
          expect((yield* listed(seen, connectionId)).revoked_at).toBe(null)
          expect([yield* works(superadmin.key), yield* works(tokens.access_token)]).toEqual([true, true])
        }))

      it.effect("are revoked for good by who revokes them meanwhile", () =>
        Effect.gen(function*() {
          const { organization: { admins: { superadmin }, id }, owner, tokens, connectionId } = yield* OAuth.connected(
            {},
            "superadmin"
          )
          const email = yield* Pages.emailOf(id, superadmin.id)
          yield* Admins.disableAdmin.run({ organization: id, email })
          for (const path of [`/v1/api-keys/${superadmin.keyId}`, `/v1/ai-connections/${connectionId}`]) {
            expect((yield* World.send("DELETE", path, { key: owner.key })).status).toBe(200)
          }
          yield* Admins.enableAdmin.run({ organization: id, email })
          expect([yield* works(superadmin.key), yield* works(tokens.access_token)]).toEqual([false, false])
        }))

      it.effect("are not made for a disabled admin", () =>
        Effect.gen(function*() {
          const { admins, email: owners, id } = yield* stage
          const email = yield* Pages.emailOf(id, admins.superadmin.id)
          const kept = yield* Effect.flip(Admins.disableAdmin.run({ organization: id, email: owners }))
          expect(kept.message).toBe("The owner stays: the ownership is transferred.")
          yield* Admins.disableAdmin.run({ organization: id, email })
          const refused = yield* Effect.flip(
            ApiKeys.createKey.run({ organization: id, email, label: "K", scopes: ["org:read"], expires_in_days: 1 })
          )
          expect(refused.message).toContain("is disabled")
        }))
    })
  })
})

describe("5.1 ends and beginnings at once", () => {
  it.live(
    "no key of a family outlives its revocation, whatever is made meanwhile on another replica",
    () =>
      Effect.gen(function*() {
        const [one, two] = yield* replicas
        const { id, owner, email } = yield* one(stage)
        const make = (key: World.Person["key"] | string) =>
          World.send("POST", "/v1/api-keys", { key, body: { label: crypto.randomUUID(), scopes: ["org:read"] } })
        const live = World.query<{ id: string }>(
          id,
          (sql) =>
            sql`select id from api_key where organization_id = ${id} and root_id is not null and revoked_at is null`
        )
        for (let round = 0; round < 8; round++) {
          const root = yield* one(World.makeKey(id, owner.id))
          const child = yield* one(makeWith(root.key))
          const revoke = World.send("DELETE", `/v1/api-keys/${root.id}`, { key: owner.key })
          yield* Effect.all(
            [one(make(child.secret)), two(make(child.secret)), two(revoke), one(make(root.key)), two(make(root.key))],
            { concurrency: "unbounded" }
          )
          expect(yield* one(live)).toEqual([])
        }
        const key = yield* one(World.makeKey(id, owner.id))
        yield* Effect.all([
          ...Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? one : two)(make(key.key))),
          two(Admins.setPassword.run({ organization: id, email, password: Redacted.make(newPassword) }))
        ], { concurrency: "unbounded" })
        expect(yield* one(live)).toEqual([])
        expect(Redacted.value(key.key)).toMatch(/^osc_live_/)
      }),
    60_000
  )
})
