import { describe, expect, it, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { readdirSync, readFileSync } from "node:fs"
import * as Limits from "../../src/domain/Limits.ts"
import * as OAuth from "../../src/domain/oauth/OAuth.ts"
import { forSpecification } from "../support/postgres/database.ts"
import { codeOf } from "../support/run/code.ts"
import * as World from "../support/world.ts"

const start = 1_700_000_000_000

const ask = (key: World.Person["key"]) => World.get("/v1/settings/notifications", key)

describe("8 limits", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S8-01, S7-09: the 120th request of a credential in 60 seconds passes, and the 121st is 429", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const { admins } = yield* World.makeOrganization()
          const { key } = admins.owner
          for (let request = 1; request <= 120; request++) expect((yield* ask(key)).status).toBe(200)
          yield* TestClock.adjust(15_500)
          const refused = yield* ask(key)
          expect(World.refusal(refused)).toEqual([429, "rate_limited"])
          expect(refused.body.error).toMatchObject({
            type: "rate_limit_error",
            message: expect.stringContaining("45 seconds")
          })
          yield* TestClock.adjust(44_499)
          expect((yield* ask(key)).status).toBe(429)
          yield* TestClock.adjust(1)
          expect((yield* ask(key)).status).toBe(200)
        }))

      it.effect("S8-03: another credential of the same admin is not affected", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const { admins, id } = yield* World.makeOrganization()
          const { key: second } = yield* World.makeKey(id, admins.owner.id)
          for (let request = 1; request <= 121; request++) yield* ask(admins.owner.key)
          expect((yield* ask(admins.owner.key)).status).toBe(429)
          const other = yield* ask(second)
          expect([other.status, other.headers.get("ratelimit-remaining")]).toEqual([200, "119"])
        }))

      it.effect("S8-04: 429 carries Retry-After in the seconds that its message names, and a request after it passes", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const { admins } = yield* World.makeOrganization()
          const { key } = admins.owner
          for (let request = 1; request <= 120; request++) {
            yield* ask(key)
            yield* TestClock.adjust(100)
          }
          const refused = yield* ask(key)
          const wait = refused.headers.get("retry-after")
          expect([refused.status, wait]).toEqual([429, "48"])
          expect(refused.body.error.message).toContain(`${wait} seconds`)
          expect([...refused.headers.keys()].filter((name) => name.startsWith("ratelimit"))).toEqual([])
          yield* TestClock.adjust(Number(wait) * 1000)
          expect((yield* ask(key)).status).toBe(200)
        }))

      it.effect("S8-05: answers carry RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset, in whole seconds", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const { admins } = yield* World.makeOrganization()
          const { key } = admins.owner
          const budget = ({ headers }: World.Answer) =>
            ["limit", "remaining", "reset"].map((name) => headers.get(`ratelimit-${name}`))
          expect(budget(yield* ask(key))).toEqual(["120", "119", "60"])
          yield* TestClock.adjust(20_001)
          expect(budget(yield* World.get("/v1/organization", key))).toEqual(["120", "118", "40"])
          expect(budget(yield* World.post("/v1/accounts/x/pause", key))).toEqual(["120", "117", "40"])
          expect(budget(yield* World.get("/v1/organization", "wrong"))).toEqual([null, null, null])
        }))

      it.effect("S8-07: lengths count Unicode code points: as many of two UTF-16 units each pass as of one", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const { key } = admins.owner
          const account = yield* World.makeLiveAccount(id, { premium: true })
          const path = `/v1/accounts/${account.id}`
          const set = {
            first_name: [64, (text) => World.patch(`${path}/messenger-profile`, key, { first_name: text })],
            last_name: [64, (text) => World.patch(`${path}/messenger-profile`, key, { last_name: text })],
            about: [140, (text) => World.patch(`${path}/messenger-profile`, key, { about: text })],
            role_label: [60, (text) => World.put(`${path}/role-label`, key, { role_label: text })]
          } satisfies Record<string, readonly [number, (text: string) => ReturnType<typeof World.put>]>
          for (const [field, [limit, send]] of Object.entries(set)) {
            for (const character of ["a", "é", "漢", "😀", "𝒜"]) {
              const longest = yield* send(character.repeat(limit))
              expect([field, longest.status, longest.body[field]]).toEqual([field, 200, character.repeat(limit)])
              const refused = yield* send(character.repeat(limit + 1))
              expect(World.refusal(refused)).toEqual([400, "parameter_invalid", field])
            }
          }
          const username = (text: string) => World.put(`${path}/messenger-profile/username`, key, { username: text })
          expect(World.refusal(yield* username("😀".repeat(32)))).toEqual([400, "username_invalid", "username"])
          expect(World.refusal(yield* username("😀".repeat(33)))).toEqual([400, "parameter_invalid", "username"])
        }))
    })
  })

  it("S8-08: what the specification states twice is one constant each, and no other module writes the number", () => {
    expect([Limits.bioLimit(true), Limits.bioLimit(false), Limits.maxAboutLength]).toEqual([140, 70, 140])
    expect(Limits.terminationsShown).toBe(20)
    expect(Duration.toDays(Limits.defaultApiKeyExpiry)).toBe(90)
    expect(Duration.toHours(Limits.signOutLock)).toBe(24)
    expect(Duration.toHours(Limits.takeoverWindow)).toBe(48)
    expect(Duration.toHours(OAuth.accessTokenLifetime)).toBe(1)
    expect(Duration.toDays(OAuth.refreshTokenLifetime)).toBe(90)
    const owners = ["domain/Limits.ts", "domain/oauth/OAuth.ts"]
    const files = readdirSync("src", { recursive: true, encoding: "utf8" })
      .filter((file) => /^(?:domain|kernel|operations|transport|http|layers)\/.*(?<!\.samples)\.ts$/.test(file))
      .filter((file) => !owners.includes(file) && !file.startsWith("layers/messenger/wire/"))
    expect(files.length).toBeGreaterThan(50)
    const written = files.map((file) => {
      const source = readFileSync(`src/${file}`, "utf8")
      const numbers = codeOf(source).match(/(?<![\w.])(?:140|70|20|90|24|48)\b/g) ?? []
      return [file, ...numbers, ...source.match(/"(?:90 days|24 hours|1 day|48 hours|2 days)"/g) ?? []]
    })
    expect(written.filter(({ length }) => length > 1)).toEqual([])
  })
})
