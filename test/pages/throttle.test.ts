import { describe, expect, layer } from "@effect/vitest"
import { Clock, Duration, Effect, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import * as Admins from "../../src/administration/Admins.ts"
import { OrganizationId } from "../../src/domain/Access.ts"
import type { PasswordIncorrect, ServiceUnavailable, TooManyAttempts } from "../../src/domain/Failure.ts"
import * as PasswordFailures from "../../src/layers/sql/PasswordFailures.ts"
import * as PasswordThrottle from "../../src/layers/sql/PasswordThrottle.ts"
import { type Attempt, ConsolePasswords } from "../../src/ports/ConsolePasswords.ts"
import { forEachDatabase, postgres } from "../support/database.ts"
import * as Pages from "../support/pages.ts"
import * as World from "../support/world.ts"

type From = Attempt & { readonly browser?: Redacted.Redacted }

/** An attempt from an address of its own. */
const anywhere = (): From => ({ via: "console", ip: `192.0.2.${crypto.randomUUID()}`, requestId: null })

const told = <A, R>(attempted: Effect.Effect<A, PasswordIncorrect | TooManyAttempts | ServiceUnavailable, R>) =>
  Effect.map(
    Effect.result(attempted),
    Result.match({
      onSuccess: () => "right" as const,
      onFailure: (failure) => {
        if (failure._tag === "too_many_attempts") return failure.retry_after
        return failure._tag === "password_incorrect" ? "wrong" as const : failure._tag
      }
    })
  )

/** What an attempt answers: `right`, `wrong`, the seconds to wait, or why it was not looked at. */
const attempt = (organization: string, email: string, password: string, from: From = anywhere()) =>
  Effect.flatMap(
    ConsolePasswords,
    (passwords) => passwords.identify(organization, email, Redacted.make(password), from)
  ).pipe(told)

/** The same of a console session that is asked for the password again. */
const again = (organization: string, adminId: string, session: string, password: string) =>
  Effect.flatMap(
    ConsolePasswords,
    (passwords) =>
      passwords.verify({ organizationId: OrganizationId.make(organization), adminId }, Redacted.make(password), {
        ...anywhere(),
        credential: { kind: "console", id: session }
      })
  ).pipe(told)

const stage = Effect.fnUntraced(function*() {
  const { admins, id } = yield* World.makeOrganization()
  yield* Pages.givePassword(id, admins.owner.id)
  return { id, admins, email: yield* Pages.emailOf(id, admins.owner.id) }
})

/** What the background does every ten minutes. */
const sweep = Effect.andThen(PasswordThrottle.sweep, PasswordFailures.sweep)

const times = (count: number) => Array.from({ length: count })

/** Attempts that are wrong, so many that all of them are looked at. */
const fail = (count: number, organization: string, email: string, from: From) =>
  Effect.map(
    Effect.forEach(times(count), () => attempt(organization, email, "wrong", from)),
    (answers) => expect(answers).toEqual(times(count).map(() => "wrong"))
  )

const nobody = () => `${crypto.randomUUID()}@example.com`

/** Signs in at the console, and answers what the browser is known by from then on. */
const browserOf = Effect.fnUntraced(function*(organization: string, email: string, cookie?: string) {
  const page = yield* Pages.signInWith(
    { organization, email, password: Pages.password },
    cookie === undefined ? {} : { cookie }
  )
  expect(page.status).toBe(303)
  const cookies = Pages.cookiesOf(page)
  const [, secret = ""] = /console-browser=([^;]+)/.exec(cookies) ?? []
  return { cookies, from: { ...anywhere(), browser: Redacted.make(secret) } }
})

const failures = (id: string) =>
  Effect.map(World.journal(id), (events) => events.filter(({ action }) => action === "console_password.failed"))

describe("the console password's throttle", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("lets five failures pass, then doubles the wait from 2 seconds to 15 minutes, and never for good", () =>
        Effect.gen(function*() {
          const { email, id } = yield* stage()
          const here = anywhere()
          yield* fail(6, id, email, here)
          const waits = [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
          for (const wait of waits) {
            expect(yield* attempt(id, email, Pages.password, here)).toBe(wait)
            yield* TestClock.adjust(Duration.millis(wait * 1000 - 1))
            expect(yield* attempt(id, email, Pages.password, here)).toBe(1)
            yield* TestClock.adjust("1 millis")
            expect(yield* attempt(id, email, "wrong", here)).toBe("wrong")
          }
          yield* TestClock.adjust("15 minutes")
          expect(yield* attempt(id, email, Pages.password, here)).toBe("right")
        }))

      it.effect("starts anew after the right password, and after a day without a failure", () =>
        Effect.gen(function*() {
          const { email, id } = yield* stage()
          for (const round of [1, 2, 3]) {
            const here = anywhere()
            yield* fail(5, id, email, here)
            expect([round, yield* attempt(id, email, Pages.password, here)]).toEqual([round, "right"])
            yield* fail(5, id, email, here)
          }
          const here = anywhere()
          yield* fail(5, id, email, here)
          yield* TestClock.adjust("1 day")
          yield* fail(6, id, email, here)
          expect(yield* attempt(id, email, "wrong", here)).toBe(2)
        }))

      it.effect("keeps nobody out by wrong guesses from elsewhere, neither at sign-in nor where the password is asked again", () =>
        Effect.gen(function*() {
          const { admins, email, id } = yield* stage()
          const elsewhere = anywhere()
          yield* fail(6, id, email, elsewhere)
          expect(yield* attempt(id, email, "wrong", elsewhere)).toBe(2)
          expect(yield* attempt(id, email, Pages.password)).toBe("right")
          const made = yield* World.send("POST", "/v1/api-keys", {
            key: admins.owner.key,
            body: { label: "A key", scopes: ["accounts:write"], current_password: Pages.password }
          })
          expect(made.status).toBe(200)
        }))

      it.effect("counts for the address, whoever is tried, and one's own success takes nothing of it back", () =>
        Effect.gen(function*() {
          const { email, id } = yield* stage()
          const here = anywhere()
          const answers: Array<unknown> = []
          for (let guess = 0; guess < 40; guess++) {
            if (guess % 5 === 4) answers.push(yield* attempt(id, email, Pages.password, here))
            answers.push(yield* attempt(id, nobody(), "wrong", here))
          }
          expect(answers.filter((answer) => answer === "wrong").length).toBe(21)
          expect(answers.filter((answer) => answer === 2).length).toBeGreaterThan(15)
          expect(yield* attempt(id, email, Pages.password)).toBe("right")
        }))

      it.effect("counts an IPv6 address with the others of its /64", () =>
        Effect.gen(function*() {
          const { email, id } = yield* stage()
          const at = (end: number) => ({ ...anywhere(), ip: `2001:db8:1:2::${end}` })
          for (let end = 1; end <= 6; end++) yield* fail(1, id, email, at(end))
          expect(yield* attempt(id, email, Pages.password, at(7))).toBe(2)
          expect(yield* attempt(id, email, Pages.password, { ...anywhere(), ip: "2001:db8:1:3::1" })).toBe("right")
        }))

      it.effect("lets a hundred people sign in from one address at once, and one after another", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          yield* Effect.forEach(Object.values(admins), (admin) => Pages.givePassword(id, admin.id))
          const emails = yield* Effect.forEach(Object.values(admins), (admin) => Pages.emailOf(id, admin.id))
          const here = anywhere()
          const everybody = times(10).flatMap(() => emails)
          const together = yield* Effect.forEach(everybody, (email) => attempt(id, email, Pages.password, here), {
            concurrency: "unbounded"
          })
          const inTurn = yield* Effect.forEach(everybody, (email) => attempt(id, email, Pages.password, here))
          expect(new Set([...together, ...inTurn])).toEqual(new Set(["right"]))
        }))

      it.effect("lets strangers guess 100 times from wherever, then doubles the wait for all of them, and knows the admin's own browser and address", () =>
        Effect.gen(function*() {
          const { email, id } = yield* stage()
          const known = yield* browserOf(id, email)
          const home = { ...anywhere(), ip: "198.51.100.7" }
          yield* World.query(
            id,
            (sql) =>
              sql`update known_browser set address = '198.51.100.7' where organization_id = ${id} returning digest`
          )
          for (let address = 0; address < 20; address++) yield* fail(5, id, email, anywhere())
          yield* fail(1, id, email, anywhere())
          expect(yield* attempt(id, email, "wrong")).toBe(2)
          expect(yield* attempt(id, email, Pages.password)).toBe(2)
          expect(yield* attempt(id, email, Pages.password, known.from)).toBe("right")
          expect(yield* attempt(id, email, Pages.password, home)).toBe("right")
        }))

      it.effect("gives strangers with as many addresses as they like 205 guesses at one admin in a day at most", () =>
        Effect.gen(function*() {
          const { email, id } = yield* stage()
          const started = yield* Clock.currentTimeMillis
          let guesses = 0
          while ((yield* Clock.currentTimeMillis) < started + 86_400_000) {
            const answer = yield* attempt(id, email, "wrong")
            if (answer === "wrong") guesses += 1
            else if (typeof answer === "number") yield* TestClock.adjust(Duration.seconds(answer))
          }
          expect(guesses).toBeGreaterThan(150)
          expect(guesses).toBeLessThanOrEqual(205)
        }))

      it.effect("a known browser has a counter of its own, is known for its admin alone, and no more after a new password", () =>
        Effect.gen(function*() {
          const { admins, email, id } = yield* stage()
          yield* Pages.givePassword(id, admins.admin.id)
          const other = yield* Pages.emailOf(id, admins.admin.id)
          const { cookies, from } = yield* browserOf(id, email)
          const elsewhere = { ...from, ip: anywhere().ip }
          yield* fail(5, id, email, from)
          yield* fail(1, id, email, elsewhere)
          expect(yield* attempt(id, email, Pages.password, { ...from, ip: anywhere().ip })).toBe(2)
          expect(yield* attempt(id, email, Pages.password)).toBe("right")
          yield* fail(6, id, other, elsewhere)
          expect(yield* attempt(id, other, Pages.password, { ...from, ip: anywhere().ip })).toBe("right")
          yield* TestClock.adjust("2 seconds")
          // The secret changes with each sign-in, for whoever has signed in with the browser.
          const next = yield* browserOf(id, other, cookies)
          const stored = () =>
            World.query<{ admin_id: string; digest: string }>(
              id,
              (sql) => sql`select admin_id, digest from known_browser where organization_id = ${id}`
            )
          expect(new Set((yield* stored()).map(({ digest }) => digest)).size).toBe(1)
          expect((yield* stored()).length).toBe(2)
          expect(JSON.stringify(yield* stored())).not.toContain(Redacted.value(next.from.browser))
          yield* Admins.setPassword.run({
            organization: id,
            email: other,
            password: Redacted.make("seven green lanterns hum")
          })
          expect((yield* stored()).map((row) => row.admin_id)).toEqual([admins.owner.id])
        }))

      it.effect("counts a password that is asked again for the credential that is asked, a key with those made by it", () =>
        Effect.gen(function*() {
          const { admins, email, id } = yield* stage()
          const ask = (key: World.Person["key"] | string, current_password: string) =>
            World.send("POST", "/v1/api-keys", {
              key,
              body: { label: "A key", scopes: ["org:read", "admins:write"], current_password }
            })
          const child: World.Answer = yield* ask(admins.owner.key, Pages.password)
          for (const round of [1, 2, 3]) {
            expect([round, ...World.refusal(yield* ask(admins.owner.key, "wrong"))])
              .toEqual([round, 403, "password_incorrect"])
            expect([round, ...World.refusal(yield* ask(child.body.secret, "wrong"))])
              .toEqual([round, 403, "password_incorrect"])
          }
          const refused = yield* ask(child.body.secret, Pages.password)
          expect([...World.refusal(refused), refused.headers.get("retry-after")]).toEqual([
            429,
            "too_many_attempts",
            "2"
          ])
          expect((yield* Pages.signInWith({ organization: id, email, password: Pages.password })).status).toBe(303)
          const beside = yield* World.makeKey(id, admins.owner.id)
          expect((yield* ask(beside.key, Pages.password)).status).toBe(200)
          yield* TestClock.adjust("2 seconds")
          expect((yield* ask(admins.owner.key, Pages.password)).status).toBe(200)
        }))

      it.effect("counts a password that sessions ask for again for all of the admin's, and for browsers known for a day apart", () =>
        Effect.gen(function*() {
          const { admins, email, id } = yield* stage()
          const before = yield* browserOf(id, email)
          yield* browserOf(id, email)
          yield* TestClock.adjust("1 day")
          yield* browserOf(id, email, before.cookies)
          yield* browserOf(id, email)
          const sessions = yield* World.query<{ id: string; long_known: boolean }>(
            id,
            (sql) => sql`select id, long_known from console_session where organization_id = ${id}`
          )
          const [known = "", ...others] = sessions.filter(({ long_known }) => long_known).map((session) => session.id)
          const [one = "", two = ""] = sessions.filter(({ long_known }) => !long_known).map((session) => session.id)
          expect([known, one, two, others]).toEqual([expect.any(String), expect.any(String), expect.any(String), []])
          for (const session of [one, two, one, two, one, two]) {
            expect(yield* again(id, admins.owner.id, session, "wrong")).toBe("wrong")
          }
          for (const session of [one, two, "none"]) {
            expect(yield* again(id, admins.owner.id, session, Pages.password)).toBe(2)
          }
          expect(yield* again(id, admins.owner.id, known, Pages.password)).toBe("right")
        }))

      it.effect("treats an address that is no admin's as it treats one that is", () =>
        Effect.gen(function*() {
          const { id } = yield* stage()
          const unknown = nobody()
          const here = anywhere()
          yield* fail(6, id, unknown, here)
          expect(yield* attempt(id, unknown, "wrong", here)).toBe(2)
          expect(yield* attempt("nowhere", unknown, "wrong", here)).toBe("wrong")
        }))

      it.effect("journals the first failure and a burst at once, then what follows once an hour, with counts and no password", () =>
        Effect.gen(function*() {
          const { admins, email, id } = yield* stage()
          const from = anywhere()
          const since = new Date(yield* Clock.currentTimeMillis).toISOString()
          yield* attempt(id, email, "wrong-secret", from)
          expect((yield* failures(id)).map(({ details }) => details["failures"])).toEqual([1])
          yield* fail(4, id, email, from)
          for (let guess = 0; guess < 40; guess++) yield* attempt(id, email, "wrong-secret")
          expect((yield* failures(id)).map(({ details }) => details["failures"])).toEqual([1, 5])
          yield* TestClock.adjust(3_599_999)
          yield* sweep
          expect((yield* failures(id)).length).toBe(2)
          yield* TestClock.adjust(1)
          yield* sweep
          const events = yield* failures(id)
          expect(events).toMatchObject([
            {
              outcome: "refused",
              actor_type: "external",
              via: "console",
              ip: from.ip,
              target_type: "admin",
              target_id: admins.owner.id,
              details: { failures: 1, addresses: 1, since }
            },
            { details: { failures: 5, addresses: 2 } },
            { details: { failures: 39, addresses: 39 } }
          ])
          expect(JSON.stringify(events)).not.toContain("wrong-secret")
          yield* TestClock.adjust("2 hours")
          yield* sweep
          expect((yield* failures(id)).length).toBe(3)
          yield* attempt(id, email, "wrong")
          yield* attempt(id, email, "wrong")
          yield* Pages.signInWith({ organization: id, email, password: Pages.password })
          expect((yield* World.journal(id)).slice(3).map(({ action, details }) => [action, details["failures"]]))
            .toEqual([["console_password.failed", 1], ["console_password.failed", 1], ["console.signed_in", undefined]])
        }))

      it.effect("keeps neither addresses of emails nor passwords, and forgets what counts no more", () =>
        Effect.gen(function*() {
          const { email, id } = yield* stage()
          yield* attempt(id, email, "wrong-secret")
          const rows = Effect.map(World.throttle, (all) => JSON.stringify(all))
          expect(yield* rows).not.toContain(email)
          expect(yield* rows).not.toContain("wrong-secret")
          yield* TestClock.adjust("1 day")
          yield* sweep
          expect(yield* rows).toBe("[]")
        }))

      it.effect("takes a password in whatever form the keyboard composes it, and an old hash of it as it was typed", () =>
        Effect.gen(function*() {
          const { admins, email, id } = yield* stage()
          const [composed, decomposed] = ["Gr\u00fcne Laterne sieben", "Gru\u0308ne Laterne sieben"]
          yield* Pages.givePassword(id, admins.owner.id, composed)
          expect([yield* attempt(id, email, composed), yield* attempt(id, email, decomposed)]).toEqual([
            "right",
            "right"
          ])
          yield* Pages.givePassword(id, admins.owner.id, decomposed)
          expect([yield* attempt(id, email, composed), yield* attempt(id, email, decomposed)]).toEqual([
            "wrong",
            "right"
          ])
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
        const here = anywhere()
        const answers = yield* Effect.forEach(times(40), () => attempt(id, email, "wrong", here), {
          concurrency: "unbounded"
        })
        expect(answers.filter((answer) => answer === "wrong").length).toBe(6)
        expect(answers.filter((answer) => answer === 2).length).toBe(34)
      }))

    it.effect("looks at 101 of what a hundred and fifty addresses guess, sixty at once", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        // With more at once the service may be busy, and what it did not look at does not count.
        const answers = yield* Effect.forEach(times(150), () => attempt(id, email, "wrong"), { concurrency: 60 })
        expect(answers.filter((answer) => answer === "wrong").length).toBe(101)
        expect(answers.filter((answer) => answer === 2).length).toBe(49)
        expect(yield* failures(id)).toMatchObject([{ details: { failures: 1 } }, { details: { failures: 5 } }])
      }))
  })
})
