import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import * as Throttle from "../../src/layers/sql/ConsolePasswords.ts"
import { ConsolePasswords } from "../../src/operations/ConsolePasswords.ts"
import { forEachDatabase, postgres } from "../support/database.ts"
import * as Pages from "../support/pages.ts"
import * as World from "../support/world.ts"

const anywhere = () => ({ via: "console" as const, ip: `192.0.2.${crypto.randomUUID()}`, requestId: null })

/** What an attempt answers: `right`, `wrong`, or the seconds to wait. */
const attempt = (
  organization: string,
  email: string,
  password: string,
  from: { readonly via: "console"; readonly ip: string | null; readonly requestId: null } = anywhere()
) =>
  Effect.flatMap(
    ConsolePasswords,
    (passwords) => passwords.identify(organization, email, Redacted.make(password), from)
  ).pipe(
    Effect.result,
    Effect.map(Result.match({
      onSuccess: () => "right" as const,
      onFailure: (failure) => failure._tag === "too_many_attempts" ? failure.retry_after : "wrong" as const
    }))
  )

const stage = Effect.fnUntraced(function*() {
  const { admins, id } = yield* World.makeOrganization()
  yield* Pages.givePassword(id, admins.owner.id)
  return { id, admins, email: yield* Pages.emailOf(id, admins.owner.id) }
})

const times = (count: number) => Array.from({ length: count })

/** Attempts that are wrong, so many that all of them are looked at. */
const fail = (count: number, organization: string, email: string) =>
  Effect.map(
    Effect.forEach(times(count), () => attempt(organization, email, "wrong")),
    (answers) => expect(answers).toEqual(times(count).map(() => "wrong"))
  )

describe("the console password's throttle", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("lets five failures pass, then doubles the wait from 2 seconds to 15 minutes, and never for good", () =>
        Effect.gen(function*() {
          const { email, id } = yield* stage()
          yield* fail(6, id, email)
          const waits = [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
          for (const wait of waits) {
            expect(yield* attempt(id, email, Pages.password)).toBe(wait)
            yield* TestClock.adjust(Duration.millis(wait * 1000 - 1))
            expect(yield* attempt(id, email, Pages.password)).toBe(1)
            yield* TestClock.adjust("1 millis")
            expect(yield* attempt(id, email, "wrong")).toBe("wrong")
          }
          yield* TestClock.adjust("15 minutes")
          expect(yield* attempt(id, email, Pages.password)).toBe("right")
        }))

      it.effect("starts anew after the right password, and after a day without a failure", () =>
        Effect.gen(function*() {
          const { email, id } = yield* stage()
          for (const round of [1, 2, 3]) {
            yield* fail(5, id, email)
            expect([round, yield* attempt(id, email, Pages.password)]).toEqual([round, "right"])
          }
          yield* fail(5, id, email)
          yield* TestClock.adjust("1 day")
          yield* fail(6, id, email)
          expect(yield* attempt(id, email, "wrong")).toBe(2)
        }))

      it.effect("counts for the address too, whoever is tried, and for nobody else's", () =>
        Effect.gen(function*() {
          const { email, id } = yield* stage()
          const here = anywhere()
          for (const each of times(6)) {
            expect([each, yield* attempt(id, `${crypto.randomUUID()}@example.com`, "wrong", here)]).toEqual([
              each,
              "wrong"
            ])
          }
          expect(yield* attempt(id, email, Pages.password, here)).toBe(2)
          expect(yield* attempt(id, email, Pages.password)).toBe("right")
        }))

      it.effect("treats an address that is no admin's as it treats one that is", () =>
        Effect.gen(function*() {
          const { id } = yield* stage()
          const nobody = `${crypto.randomUUID()}@example.com`
          yield* fail(6, id, nobody)
          expect(yield* attempt(id, nobody, "wrong")).toBe(2)
          expect(yield* attempt("nowhere", nobody, "wrong")).toBe("wrong")
        }))

      it.effect("is one for sign-in, key creation and whatever else asks for the password", () =>
        Effect.gen(function*() {
          const { admins, email, id } = yield* stage()
          const body = { label: "A key", scopes: ["accounts:write"], current_password: "wrong" }
          for (const round of [1, 2, 3]) {
            const page = yield* Pages.signInWith({ organization: id, email, password: "wrong" })
            expect([round, page.status]).toEqual([round, 403])
            const refused = yield* World.send("POST", "/v1/api-keys", { key: admins.owner.key, body })
            expect([round, ...World.refusal(refused)]).toEqual([round, 403, "password_incorrect"])
          }
          const signIn = yield* Pages.signInWith({ organization: id, email, password: Pages.password })
          expect([signIn.status, signIn.headers.get("retry-after")]).toEqual([429, "2"])
          expect(signIn.text).toContain("wait 2 s")
          const key = yield* World.send("POST", "/v1/api-keys", {
            key: admins.owner.key,
            body: { ...body, current_password: Pages.password }
          })
          expect([...World.refusal(key), key.headers.get("retry-after")]).toEqual([429, "too_many_attempts", "2"])
          yield* TestClock.adjust("2 seconds")
          expect((yield* Pages.signInWith({ organization: id, email, password: Pages.password })).status).toBe(303)
        }))

      it.effect("journals a burst once, with where it came from, and no password", () =>
        Effect.gen(function*() {
          const { admins, email, id } = yield* stage()
          yield* fail(5, id, email)
          expect(yield* World.journal(id)).toEqual([])
          const from = anywhere()
          yield* attempt(id, email, "wrong-secret", from)
          yield* TestClock.adjust("10 seconds")
          yield* attempt(id, email, "wrong")
          const events = yield* World.journal(id)
          expect(events).toMatchObject([{
            action: "console_password.failed",
            outcome: "refused",
            actor_type: "external",
            via: "console",
            ip: from.ip,
            target_type: "admin",
            target_id: admins.owner.id,
            details: { failures: 6 }
          }])
          expect(JSON.stringify(events)).not.toContain("wrong-secret")
        }))

      it.effect("keeps neither addresses of emails nor passwords, and forgets what counts no more", () =>
        Effect.gen(function*() {
          const { email, id } = yield* stage()
          yield* attempt(id, email, "wrong-secret")
          const rows = Effect.map(World.throttle, (all) => JSON.stringify(all))
          expect(yield* rows).not.toContain(email)
          expect(yield* rows).not.toContain("wrong-secret")
          yield* TestClock.adjust("1 day")
          yield* Throttle.sweep
          expect(yield* rows).toBe("[]")
        }))

      it.effect("a password that was hashed with other parameters is hashed anew when it is used", () =>
        Effect.gen(function*() {
          const { admins, email, id } = yield* stage()
          const { hash } = yield* Effect.promise(() => import("@node-rs/argon2"))
          const old = yield* Effect.promise(() => hash(Pages.password, { memoryCost: 16, timeCost: 1, parallelism: 1 }))
          yield* World.set(id, "admin", admins.owner.id, { password_hash: old })
          const kept = Effect.map(
            World.query<{ password_hash: string }>(
              id,
              (sql) => sql`select password_hash from admin where organization_id = ${id} and id = ${admins.owner.id}`
            ),
            ([row]) => row!.password_hash
          )
          expect(yield* attempt(id, email, "wrong")).toBe("wrong")
          expect(yield* kept).toBe(old)
          expect(yield* attempt(id, email, Pages.password)).toBe("right")
          expect(yield* kept).toMatch(/^\$argon2id\$v=19\$m=8,t=1,p=1\$/)
          expect(yield* attempt(id, email, Pages.password)).toBe("right")
        }))
    })
  })

  layer(World.world(postgres))((it) => {
    it.effect("looks at six of forty attempts that come at once", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const answers = yield* Effect.forEach(times(40), () => attempt(id, email, "wrong"), {
          concurrency: "unbounded"
        })
        expect(answers.filter((answer) => answer === "wrong").length).toBe(6)
        expect(answers.filter((answer) => answer === 2).length).toBe(34)
      }))
  })
})
