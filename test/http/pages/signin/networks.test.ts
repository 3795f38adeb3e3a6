import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { ServiceUnavailable } from "../../../../src/domain/Failure.ts"
import { freeNetworkFailures, freeProviderFailures, signInsWaiting } from "../../../../src/domain/Limits.ts"
import { maxWaiting, PasswordHasher } from "../../../../src/layers/crypto/signin/PasswordHasher.ts"
import * as PasswordRule from "../../../../src/layers/crypto/signin/PasswordRule.ts"
import * as ConsolePasswords from "../../../../src/signin/ConsolePasswords.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"
import { anywhere, attempt, browserOf, nobody, stage, times } from "./throttling.ts"

const from = (ip: string) => ({ ...anywhere(), ip })

/** Wrong passwords for as many admins, each from a network that `ip` names. */
const guess = (id: string, count: number, ip: (at: number) => string) =>
  Effect.forEach(times(count).map((_, at) => at), (at) => attempt(id, nobody(), "wrong", from(ip(at))), {
    concurrency: 16
  })

describe("an attacker with many IPv6 networks", () => {
  layer(World.world(postgres))((it) => {
    it.effect("has the guesses of a /48 counted together, and no other network waits for it", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const answers = yield* guess(id, freeNetworkFailures + 1, (at) => `2001:db8:1:${at.toString(16)}::1`)
        expect(new Set(answers)).toEqual(new Set(["wrong"]))
        expect(yield* attempt(id, email, "wrong", from("2001:db8:1:ffff::1"))).toBe(2)
        expect(yield* attempt(id, email, Pages.password, from("2001:db8:2::1"))).toBe("right")
      }))

    it.effect("has the guesses of a provider's /32 counted loosely, and no browser or address of the admin's waits for it", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const home = "2a00:1:7:7::1"
        const known = yield* browserOf(id, email)
        yield* World.query(id, (sql) =>
          sql`
          update known_browser set address = '2a00:1:7:7::/64' where organization_id = ${id} returning digest`)
        const answers = yield* guess(id, freeProviderFailures + 1, (at) => `2a00:1:${at.toString(16)}::1`)
        expect(answers.filter((answer) => answer === "wrong").length).toBe(freeProviderFailures + 1)
        expect(yield* attempt(id, email, "wrong", from("2a00:1:ffff::1"))).toBe(2)
        expect(yield* attempt(id, email, Pages.password, from("2a00:2::1"))).toBe("right")
        expect(yield* attempt(id, email, Pages.password, from(home))).toBe("right")
        expect(yield* attempt(id, email, Pages.password, { ...known.from, ip: "2a00:1:ffff::1" })).toBe("right")
      }))

    it.effect("has a share of the password checks that wait, and neither others nor known browsers are refused for it", () =>
      Effect.gen(function*() {
        const { admins, email, id } = yield* stage()
        yield* Pages.givePassword(id, admins.admin.id)
        const other = yield* Pages.emailOf(id, admins.admin.id)
        const known = yield* browserOf(id, email)
        const hasher = yield* PasswordHasher
        const open = Latch.makeUnsafe(false)
        let held = 0
        const slow = Layer.succeed(PasswordHasher, {
          ...hasher,
          // The hasher's own bound, with those that are held back here.
          verify: (hash, password) =>
            Effect.suspend(() => {
              if (held >= 4 + maxWaiting) return Effect.fail(new ServiceUnavailable({}))
              held += 1
              return Effect.ensuring(
                Effect.andThen(open.await, hasher.verify(hash, password)),
                Effect.sync(() => {
                  held -= 1
                })
              )
            })
        })
        yield* Effect.gen(function*() {
          const answered: Array<unknown> = []
          const many = yield* Effect.forEach(times(200).map((_, at) => at), (at) =>
            Effect.forkChild(
              Effect.map(
                attempt(id, nobody(), "wrong", from(`2001:db8:3:${at.toString(16)}::1`)),
                (answer) => answered.push(answer)
              )
            ))
          const settled = Effect.sync(() => held + answered.length)
          yield* TestClock.withLive(Effect.repeat(settled, {
            until: (count) => count >= 200 - signInsWaiting,
            schedule: Schedule.spaced("10 millis")
          }))
          const honest = yield* Effect.forkChild(attempt(id, other, Pages.password, from("198.51.100.7")))
          const own = yield* Effect.forkChild(attempt(id, email, Pages.password, known.from))
          yield* TestClock.withLive(Effect.sleep("500 millis"))
          yield* open.open
          expect([yield* Fiber.join(honest), yield* Fiber.join(own)]).toEqual(["right", "right"])
          yield* Fiber.joinAll(many)
          expect(answered.filter((answer) => answer === "wrong").length).toBeGreaterThanOrEqual(signInsWaiting)
          expect(new Set(answered)).toEqual(new Set(["wrong", 2]))
        }).pipe(Effect.provide(ConsolePasswords.layer.pipe(Layer.provide(PasswordRule.layer), Layer.provide(slow))))
      }))
  })
})
