import { describe, expect, it, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import * as zlib from "node:zlib"
import { ApiKeys } from "../../src/layers/crypto/credentials/ApiKeys.ts"
import { Peppers } from "../../src/layers/crypto/Peppers.ts"
import * as CredentialsSql from "../../src/layers/sql/credentials/Credentials.ts"
import { LastUses } from "../../src/layers/sql/credentials/LastUses.ts"
import * as Provisioning from "../../src/layers/sql/Provisioning.ts"
import { Credentials } from "../../src/ports/credentials/Credentials.ts"
import { drawnOn } from "../support/drawn.ts"
import * as Fixtures from "../support/fixtures.ts"
import { forSpecification, postgres } from "../support/postgres/database.ts"
import { recording } from "../support/postgres/statements.ts"
import * as World from "../support/world.ts"

const start = new Date("2026-11-20T12:00:00.000Z").getTime()
const path = "/v1/me/mail-preferences"
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const pepper = (fill: number) => Buffer.alloc(32, fill).toString("base64")

/** The layer of keys under the peppers, newest first. */
const keysUnder = (...fills: ReadonlyArray<number>) =>
  ApiKeys.layer("osc").pipe(
    Layer.provide(Peppers.layerText(Redacted.make(fills.map(pepper).join(",")))),
    Layer.provide(SecureRandom.layerWebCrypto)
  )

const statusOf = (key: World.Asking["key"] & {}) => Effect.map(World.get(path, key), ({ status }) => status)

const kept = (organizationId: string, id: string) =>
  Effect.map(
    World.query<{ digest: string; pepper_id: string; expires_at: Date | null; last_used_at: Date | null }>(
      organizationId,
      (sql) => sql`select * from api_key where organization_id = ${organizationId} and id = ${id}`
    ),
    ([row]) => row!
  )

describe("5.1 the form of a key", () => {
  layer(keysUnder(7))((it) => {
    it.effect("S5.1-01: a key is the prefix, _live_, 43 characters of secret, and 6 of CRC-32 over all before; no two are alike", () =>
      Effect.gen(function*() {
        const keys = yield* ApiKeys
        const made = yield* Effect.forEach(Array.from({ length: 200 }), () => Effect.map(keys.make, Redacted.value))
        expect(new Set(made.map((key) => key.slice(9, 52))).size).toBe(200)
        for (const key of made) {
          expect(key).toMatch(/^osc_live_[0-9A-Za-z]{49}$/)
          const sum = Array.from(key.slice(-6)).reduce((value, digit) => value * 62 + alphabet.indexOf(digit), 0)
          expect(sum).toBe(zlib.crc32(key.slice(0, -6)))
          expect(keys.isWellFormed(Redacted.make(key))).toBe(true)
        }
      }))

    it.effect("S5.1-01: no key with one character changed, dropped, doubled or swapped with the next is well-formed", () =>
      Effect.gen(function*() {
        const keys = yield* ApiKeys
        const key = Redacted.value(yield* keys.make)
        for (let place = 0; place < key.length; place++) {
          const [before, here, after] = [key.slice(0, place), key.charAt(place), key.slice(place + 1)]
          const typos = [
            before + after,
            before + here + here + after,
            `${before} ${after}`,
            before + after.charAt(0) + here + after.slice(1)
          ]
          for (const digit of alphabet) typos.push(before + digit + after)
          for (const typo of typos) if (typo !== key) expect(keys.isWellFormed(Redacted.make(typo))).toBe(false)
        }
        for (
          const text of [
            "",
            key.toUpperCase(),
            `${key}\n`,
            ` ${key}`,
            key.replace("osc", "abc"),
            key.replace("live", "test")
          ]
        ) {
          expect(keys.isWellFormed(Redacted.make(text))).toBe(false)
        }
      }))
  })

  it.effect("S5.1-01: the prefix is the one that the service is set up with", () =>
    Effect.gen(function*() {
      const keys = yield* ApiKeys
      expect(Redacted.value(yield* keys.make)).toMatch(/^acme_live_[0-9A-Za-z]{49}$/)
    }).pipe(
      Effect.provide(
        ApiKeys.layer("acme").pipe(
          Layer.provide(Peppers.layerText(Redacted.make(pepper(7)))),
          Layer.provide(SecureRandom.layerWebCrypto)
        )
      )
    ))
})

describe("5.1 the life of a key", () => {
  forSpecification((name, database) => {
    layer(World.world(database))((it) => {
      it.effect("S5.1-03: a key expires 90 days after it was made by default, and with null never", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const organization = yield* World.makeOrganization()
          const { id } = organization.admins.owner
          const usual = yield* Fixtures.within(
            organization.id,
            Provisioning.apiKey(organization.id, id, { label: "Usual" })
          )
          const never = yield* World.makeKey(organization.id, id)
          const days = (count: number) => TestClock.setTime(start + Duration.toMillis(Duration.days(count)))
          expect((yield* kept(organization.id, usual.id)).expires_at).toEqual(new Date(start + 90 * 86_400_000))
          yield* days(89)
          expect([yield* statusOf(usual.key), yield* statusOf(never.key)]).toEqual([200, 200])
          yield* days(90)
          expect([yield* statusOf(usual.key), yield* statusOf(never.key)]).toEqual([401, 200])
          yield* days(365 * 20)
          expect([yield* statusOf(usual.key), yield* statusOf(never.key)]).toEqual([401, 200])
          const listed = (yield* World.get("/v1/ai-connections", never.key)).body.api_keys
          expect(listed.find((key: any) => key.id === never.id).expires_at).toBeNull()
        }))

      it.effect.prop(
        "S5.1-04: a key works until the millisecond before expires_at, and answers 401 from then on",
        [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000_000_000 }))],
        ([life]) =>
          Effect.gen(function*() {
            yield* TestClock.setTime(start)
            const organization = yield* World.makeOrganization()
            const expiresAt = new Date(start + life)
            const { key } = yield* World.makeKey(organization.id, organization.admins.owner.id, undefined, {
              expiresAt
            })
            for (const [shift, status] of [[-1, 200], [0, 401], [1, 401], [1_000_000, 401]] as const) {
              yield* TestClock.setTime(start + life + shift)
              expect([shift, yield* statusOf(key)]).toEqual([shift, status])
            }
          }),
        drawnOn(name, 10)
      )

      it.effect("S5.1-07: a key reads its own organization, and no more than its admin's role and access at the request", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const organization = yield* World.makeOrganization()
          const other = yield* World.makeOrganization()
          const theirs = yield* World.makeAccount(other.id)
          const mine = yield* World.makeAccount(organization.id)
          const { id, key } = organization.admins.superadmin
          const read = (account: string) =>
            Effect.map(World.get(`/v1/accounts/${account}`, key), ({ status }) => status)
          const pause = Effect.map(World.post(`/v1/accounts/${mine}/pause`, key), World.refusal)
          expect((yield* World.get("/v1/organization", key)).body.id).toBe(organization.id)
          expect([yield* read(mine), yield* read(theirs)]).toEqual([200, 404])
          yield* World.set(organization.id, "admin", id, { role: "archive" })
          expect([yield* read(mine), yield* read(theirs)]).toEqual([404, 404])
          expect(yield* pause).toEqual([403, "role_forbidden"])
          yield* World.grant(organization.id, id, { accounts: [mine] })
          expect(yield* read(mine)).toBe(200)
          yield* World.set(organization.id, "admin", id, { role: "superadmin" })
          expect(yield* pause).toEqual([200, undefined])
        }))

      it.effect("S5.1-08: a key stops while its admin is disabled, and for good when the password was changed after it was made", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const organization = yield* World.makeOrganization()
          const { id, key } = organization.admins.admin
          const second = yield* World.makeKey(organization.id, id)
          const set = (columns: Record<string, unknown>) => World.set(organization.id, "admin", id, columns)
          const both = Effect.all([statusOf(key), statusOf(second.key)])
          yield* set({ disabled_at: new Date(start) })
          expect(yield* both).toEqual([401, 401])
          yield* set({ disabled_at: null })
          expect(yield* both).toEqual([200, 200])
          for (const [shift, status] of [[-1, 200], [0, 200], [1, 401], [1000, 401]] as const) {
            yield* set({ password_changed_at: new Date(start + shift) })
            expect([shift, ...(yield* both)]).toEqual([shift, status, status])
          }
          yield* TestClock.setTime(start + 1000)
          const later = yield* World.makeKey(organization.id, id)
          expect(yield* statusOf(later.key)).toBe(200)
          expect(yield* statusOf(organization.admins.owner.key)).toBe(200)
        }))

      it.effect("S5.1-09: a revoked key answers 401 from the next request, and the admin's other keys go on", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const organization = yield* World.makeOrganization()
          const { id, key, keyId } = organization.admins.owner
          const second = yield* World.makeKey(organization.id, id)
          expect(yield* statusOf(key)).toBe(200)
          yield* World.set(organization.id, "api_key", keyId, { revoked_at: new Date(start) })
          expect([yield* statusOf(key), yield* statusOf(second.key)]).toEqual([401, 200])
        }))

      it.effect("every reason to refuse a key gives one and the same answer", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const organization = yield* World.makeOrganization()
          const made = (
            options: Parameters<typeof World.makeKey>[3],
            admin: World.Person = organization.admins.owner
          ) =>
            Effect.map(World.makeKey(organization.id, admin.id, undefined, options), ({ key }) => Redacted.value(key))
          const keys = yield* ApiKeys
          yield* World.set(organization.id, "admin", organization.admins.billing.id, { disabled_at: new Date(start) })
          yield* World.set(organization.id, "admin", organization.admins.archive.id, {
            password_changed_at: new Date(start + 1)
          })
          const good = yield* made({})
          const tokens = [
            undefined,
            "garbage",
            `${good.slice(0, -1)}${good.endsWith("0") ? "1" : "0"}`,
            Redacted.value(yield* keys.make),
            yield* made({ expiresAt: new Date(start) }),
            yield* made({ facts: { revoked_at: new Date(start) } }),
            yield* made({}, organization.admins.billing),
            yield* made({}, organization.admins.archive)
          ]
          const answers = yield* Effect.forEach(
            tokens,
            (key) => World.send("GET", path, key === undefined ? {} : { key })
          )
          for (const { body, headers, status } of answers) {
            expect([status, body]).toEqual([401, {
              error: { type: "authentication_error", code: "invalid_api_key", message: answers[0]!.body.error.message }
            }])
            expect([...headers.keys()].sort()).toEqual([...answers[0]!.headers.keys()].sort())
            expect(headers.get("www-authenticate")).toMatch(/^Bearer/)
          }
        }))

      it.effect("last_used_at is when the key was last used, to the minute: within one it is written once", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const organization = yield* World.makeOrganization()
          const { id, key } = yield* World.makeKey(organization.id, organization.admins.owner.id, ["org:read"])
          const used = Effect.map(kept(organization.id, id), ({ last_used_at }) => last_used_at?.getTime() ?? null)
          const uses = yield* LastUses
          expect(yield* used).toBeNull()
          for (
            const [millis, written] of [[0, 0], [1, 0], [59_999, 0], [60_000, 60_000], [119_999, 60_000], [
              500_000,
              500_000
            ]] as const
          ) {
            yield* TestClock.setTime(start + millis)
            const { answer, said } = yield* recording(Effect.tap(statusOf(key), uses.written))
            const writes = said.filter((statement) => statement.sql.startsWith("update api_key"))
            expect([millis, answer, writes.length]).toEqual([millis, 200, millis === written ? 1 : 0])
            expect([millis, yield* used]).toEqual([millis, start + written])
          }
          yield* TestClock.setTime(start + 1_000_000)
          yield* World.set(organization.id, "api_key", id, { revoked_at: new Date(start) })
          expect(yield* statusOf(key)).toBe(401)
          expect(yield* used).toBe(start + 500_000)
        }))

      it.effect("at rest a key is its HMAC-SHA-256 under the pepper, and no table holds the key or its secret", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const organization = yield* World.makeOrganization()
          for (const { id, key, keyId } of Object.values(organization.admins)) {
            const text = Redacted.value(key)
            yield* World.put(path, key, { security: false, storage: false, news: true, offers: true })
            const row = yield* kept(organization.id, keyId)
            expect(row.digest).toBe(crypto.createHmac("sha256", Buffer.alloc(32, 7)).update(text).digest("hex"))
            expect(row.pepper_id).toBe(
              crypto.createHash("sha256").update(Buffer.alloc(32, 7)).digest("hex").slice(0, 8)
            )
            const dump = JSON.stringify(yield* World.snapshot(organization.id))
            expect(dump).toContain(id)
            expect(dump).not.toContain("_live_")
            expect(dump).not.toContain(text.slice(9, 52))
          }
        }))

      it.effect("keys made under an older pepper work while it is configured, new ones are made under the newest", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const organization = yield* World.makeOrganization()
          const { id, key: old } = organization.admins.owner
          const under = <A, E>(fills: ReadonlyArray<number>, effect: Effect.Effect<A, E, Credentials | ApiKeys>) =>
            Effect.provide(effect, Layer.fresh(CredentialsSql.layer).pipe(Layer.provideMerge(keysUnder(...fills))))
          const accepts = (fills: ReadonlyArray<number>, key: Redacted.Redacted) =>
            under(
              fills,
              Effect.flatMap(Credentials, (credentials) =>
                Effect.match(credentials.authenticate(key, `${World.baseUrl}/v1`), {
                  onSuccess: ({ adminId }) =>
                    adminId,
                  onFailure: ({ _tag }) => _tag
                }))
            )
          const fresh = yield* Effect.provide(World.makeKey(organization.id, id), keysUnder(9, 7))
          expect((yield* kept(organization.id, fresh.id)).pepper_id).toBe(
            crypto.createHash("sha256").update(Buffer.alloc(32, 9)).digest("hex").slice(0, 8)
          )
          const table = [
            [[7], old, id],
            [[9, 7], old, id],
            [[7, 9], old, id],
            [[9], old, "invalid_api_key"],
            [[9, 7], fresh.key, id],
            [[9], fresh.key, id],
            [[7], fresh.key, "invalid_api_key"]
          ] as const
          for (const [fills, key, said] of table) expect([fills, yield* accepts(fills, key)]).toEqual([fills, said])
        }))
    })
  })

  layer(World.world(postgres))((it) => {
    it.effect("a typing error is refused without a question to the database, and a well-formed key asks it", () =>
      Effect.gen(function*() {
        const organization = yield* World.makeOrganization()
        const key = Redacted.value(organization.admins.owner.key)
        const credentials = yield* Credentials
        const asked = (token: string) =>
          recording(Effect.match(credentials.authenticate(Redacted.make(token), `${World.baseUrl}/v1`), {
            onSuccess: ({ adminId }) => adminId,
            onFailure: ({ _tag }) => _tag
          }))
        for (
          const typo of [
            "",
            "x",
            key.slice(1),
            `${key}0`,
            `${key.slice(0, 20)}${key.charAt(20) === "a" ? "b" : "a"}${key.slice(21)}`
          ]
        ) {
          expect([typo, yield* asked(typo)]).toEqual([typo, { answer: "invalid_api_key", said: [] }])
        }
        const { answer, said } = yield* asked(key)
        expect([answer, said.length > 0]).toEqual([organization.admins.owner.id, true])
      }))
  })
})
